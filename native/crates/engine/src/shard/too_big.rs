//! Telling senders that their UDP does not fit through the tunnel (SPL-19).

use core::time::Duration;

use packet::icmp::{TOO_BIG_LEN_MAX, write_too_big};
use ports::{Instant, TunQueue};

use super::pass::Pass;
use crate::counters::Total;
use crate::driver::ShardClock;
use crate::framing::write_packet;

/// Answers super-frames that do not fit, a bounded number per second.
#[derive(Debug, Default)]
pub(crate) struct TooBigAnswers {
    window: Option<Instant>,
    sent: u32,
}

impl TooBigAnswers {
    /// Sends the source of `packet` an ICMP error with `mtu` through the TUN queue, in the name of the destination: that
    /// address is routed into the tunnel, so no check of the return path refuses it.
    pub(crate) fn answer<C, T>(
        &mut self,
        pass: &Pass<'_, C>,
        tun: &mut T,
        packet: &[u8],
        mtu: usize,
    ) where
        C: ShardClock,
        T: TunQueue,
    {
        if !self.may_answer(pass.now) {
            return;
        }
        let mut answer = [0; TOO_BIG_LEN_MAX];
        let written = packet::addresses(packet)
            .and_then(|(_, router)| write_too_big(packet, mtu, router, &mut answer))
            .and_then(|len| answer.get(..len))
            .is_some_and(|answer| write_packet(tun, tun.framing(), answer).is_ok());
        if written {
            pass.count(Total::TooBigAnswers, 1);
        }
    }

    fn may_answer(&mut self, now: Instant) -> bool {
        let fresh = self
            .window
            .is_some_and(|start| now.saturating_since(start) < WINDOW);
        if !fresh {
            self.window = Some(now);
            self.sent = 0;
        }
        self.sent += 1;
        self.sent <= ANSWERS_PER_WINDOW
    }
}

const WINDOW: Duration = Duration::from_secs(1);
/// A source needs one answer per destination; the rest is patience with lost ones.
const ANSWERS_PER_WINDOW: u32 = 100;
