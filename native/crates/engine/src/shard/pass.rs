//! What every step of one turn may look at.

use core::sync::atomic::Ordering;
use core::time::Duration;

use conceal::Shape;
use filter::{Bench, FlowNews, Judge};
use ports::{Clock, Ecn, Instant};

use super::batch::Target;
use crate::counters::{DropReason, Total};
use crate::driver::ShardClock;
use crate::event::{Event, FaultSource, FaultWeight, IoFault, WantReason};
use crate::flow_rows::now_ms;
use crate::peer::Peer;
use crate::shared::{ShardBoard, Shared};
use crate::stage::{Stage, StageTiming, Work};
use crate::state::State;

/// One turn of one shard: the tables as they are now, one reading of the clock.
pub(crate) struct Pass<'a, C> {
    pub(crate) shared: &'a Shared,
    pub(crate) state: &'a State,
    pub(crate) board: &'a ShardBoard,
    pub(crate) clock: &'a C,
    pub(crate) now: Instant,
    pub(crate) shard: u16,
    /// MTU of the TUN device.
    pub(crate) mtu: usize,
    pub(crate) timing: StageTiming,
}

impl<C: ShardClock> Pass<'_, C> {
    pub(crate) fn cycles(&self) -> u64 {
        match self.timing {
            StageTiming::On => self.clock.cycles(),
            StageTiming::Off => 0,
        }
    }

    /// Counts what a stage did since `start` and returns the count now, where the next stage starts.
    pub(crate) fn spent(&self, stage: Stage, work: Work, start: u64) -> u64 {
        if self.timing == StageTiming::Off {
            return 0;
        }
        let now = self.clock.cycles();
        self.board.stages.add(stage, work, now.wrapping_sub(start));
        now
    }

    /// Longest packet that fits the device and the path to a peer.
    pub(crate) fn inner_max(&self, peer: &Peer) -> usize {
        peer.path.inner_max(self.mtu, self.shape(peer).overhead())
    }

    /// What the profile does to the length of transport messages to a peer.
    pub(crate) fn shape(&self, peer: &Peer) -> Shape {
        self.state
            .concealment()
            .map(|concealment| concealment.profile.shape(peer.window.get()))
            .unwrap_or_default()
    }

    pub(crate) fn target(&self, peer: &Peer, session: u32) -> Target {
        Target {
            peer: peer.index,
            session,
            inner_max: self.inner_max(peer),
            shape: self.shape(peer),
            mark: Ecn::NotCapable,
            lane: 0,
        }
    }

    /// What verdicts are made of.
    pub(crate) fn bench(&self) -> Bench<'_> {
        Bench {
            filter: self.state.filter(),
            flows: &self.shared.flows,
            now_ms: now_ms(self.now),
        }
    }

    /// Counts what a judge put off, and what happened to flows.
    pub(crate) fn settle(&self, judge: &mut Judge) {
        judge.settle(&self.bench());
        let news = judge.take_news();
        if news == FlowNews::default() {
            return;
        }
        for (total, amount) in [
            (Total::FlowsStarted, news.started),
            (Total::FlowsExpired, news.expired),
            (Total::FlowsEvicted, news.evicted),
            (Total::FlowsCut, news.cut),
        ] {
            self.board.totals.add(total, amount.into());
        }
    }

    pub(crate) fn event(&self, event: Event) {
        self.shared.events.push(self.shard, event);
    }

    pub(crate) fn count(&self, total: Total, amount: usize) {
        self.board.totals.add(total, amount as u64);
    }

    /// Counts dropped packets for the engine and, where there is one, for the peer.
    pub(crate) fn dropped(&self, peer: Option<&Peer>, reason: DropReason, packets: u64) {
        self.board.totals.drop_packets(reason, packets);
        if let Some(peer) = peer {
            peer.counters.drop_packets(reason, packets);
        }
    }

    /// Asks for a handshake, once until the slow path answers.
    pub(crate) fn want_handshake(&self, peer: &Peer, reason: WantReason) {
        if !peer.handshake_wanted.load(Ordering::Acquire)
            && !peer.handshake_wanted.swap(true, Ordering::AcqRel)
        {
            self.event(Event::WantHandshake {
                peer: peer.index,
                reason,
            });
        }
    }
}

/// Tells about failed calls, each kind at most once a second.
#[derive(Debug, Default)]
pub(crate) struct FaultReporter([Option<Instant>; 5]);

impl FaultReporter {
    pub(crate) fn report<C: Clock + ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        what: FaultSource,
        error: &std::io::Error,
    ) {
        let Some(last) = self.0.get_mut(what as usize) else {
            return;
        };
        if last.is_some_and(|last| pass.now.saturating_since(last) < FAULT_INTERVAL) {
            return;
        }
        *last = Some(pass.now);
        let errno = error.raw_os_error().unwrap_or(0);
        pass.event(Event::IoFault(IoFault {
            what,
            weight: FaultWeight::Passing,
            errno,
        }));
    }
}

const FAULT_INTERVAL: Duration = Duration::from_secs(1);
