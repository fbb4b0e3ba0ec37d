//! One run-to-completion worker: reads, works and writes, both directions, on one thread.

mod batch;
mod due;
mod fit;
mod inbound;
mod lanes;
mod moderation;
mod outbound;
mod pass;
mod probe;
mod recognise;
mod run;
mod too_big;
mod transmit;
mod tun_writer;

use core::time::Duration;
use std::sync::{Arc, PoisonError};

use offload::{Family, MergeLimits};
use ports::{Datagrams, TunQueue};

use batch::TxBatch;
use due::{Sent, handle_due, send_keepalive, sweep};
use inbound::{Inbound, Source, Wrote};
use moderation::{Advice, Moderation, TurnWork};
use outbound::{Device, Drained, Outbound};
use pass::Pass;
use transmit::Transmitter;
use tun_writer::TunWriter;

use crate::counters::Total;
use crate::driver::{Ready, ShardClock, Wait, WantRoom};
use crate::event::{Event, FaultSource, FaultWeight, IoFault};
use crate::shared::{Mail, ShardBoard, ShardState, Shared};
use crate::stage::{Stage, StageTiming, Work};
use crate::state::Ended;

pub use inbound::SLOTS as UDP_SLOTS_PER_TURN;
pub use lanes::LaneSockets;
pub use outbound::FRAMES_PER_TURN as TUN_FRAMES_PER_TURN;

/// What a shard works with.
#[derive(Debug)]
pub struct ShardParts<T, D, C> {
    /// Its queue of the TUN device.
    pub tun: T,
    /// Its IPv4 socket.
    pub v4: Option<D>,
    /// Its IPv6 socket.
    pub v6: Option<D>,
    /// Sockets of the second lane and those behind it, at most seven.
    pub lanes: Vec<LaneSockets<D>>,
    /// Its clock.
    pub clock: C,
}

/// Bounds of a shard.
#[derive(Clone, Debug)]
pub struct ShardLimits {
    /// MTU of the TUN device.
    pub mtu: usize,
    /// Most datagrams in one send.
    pub send_segments_max: usize,
    /// What may be merged.
    pub merge: MergeLimits,
    /// Whether stages are counted and timed.
    pub stage_timing: StageTiming,
}

/// One worker of an engine.
pub struct Shard<T, D, C> {
    shared: Arc<Shared>,
    worker: Worker<T, D, C>,
}

struct Worker<T, D, C> {
    index: u16,
    /// MTU the TUN device was opened with.
    mtu: usize,
    tun: T,
    clock: C,
    outbound: Outbound,
    inbound: Inbound,
    transmitter: Transmitter<D>,
    ended: Vec<Ended>,
    moderation: Moderation,
    advice: Advice,
    shown: ShardState,
    timing: StageTiming,
}

impl<T: TunQueue, D: Datagrams, C: ShardClock> Shard<T, D, C> {
    pub(crate) fn new(
        shared: Arc<Shared>,
        index: u16,
        parts: ShardParts<T, D, C>,
        limits: ShardLimits,
    ) -> Self {
        let ShardParts {
            tun,
            v4,
            v6,
            lanes,
            clock,
        } = parts;
        let framing = tun.framing();
        let writer = TunWriter::new(framing);
        Shard {
            shared,
            worker: Worker {
                index,
                mtu: limits.mtu,
                tun,
                clock,
                outbound: Outbound::new(framing),
                inbound: Inbound::new(limits.merge, writer),
                transmitter: Transmitter::new(
                    LaneSockets { v4, v6 },
                    lanes,
                    TxBatch::new(limits.send_segments_max),
                ),
                ended: Vec::new(),
                moderation: Moderation::default(),
                advice: Advice::Wait,
                shown: ShardState::default(),
                timing: limits.stage_timing,
            },
        }
    }

    /// Its number.
    #[must_use]
    pub fn index(&self) -> u16 {
        self.worker.index
    }

    /// Works until the engine is stopped.
    pub fn run(&mut self, waiter: &mut impl Wait) {
        let mut ready = Ready {
            tun: true,
            v4: true,
            v6: true,
            ..Ready::default()
        };
        while !self.shared.is_stopping(self.worker.index) {
            let more = self.turn(ready);
            if ready.tun && self.worker.outbound.device() == Device::Gone {
                // A descriptor of a deleted device is ready for ever.
                waiter.forget_tun();
            }
            let timeout = if more == Ready::default() {
                self.let_packets_gather(waiter);
                self.idle_time()
            } else {
                Some(Duration::ZERO)
            };
            ready = match self.wait(waiter, timeout) {
                Ok(ready) => ready,
                Err(error) => {
                    let errno = error.raw_os_error().unwrap_or(0);
                    let fault = IoFault {
                        what: FaultSource::Poll,
                        weight: FaultWeight::Fatal,
                        errno,
                    };
                    return self
                        .shared
                        .events
                        .push(self.worker.index, Event::IoFault(fault));
                }
            };
            ready.tun |= more.tun;
            ready.v4 |= more.v4;
            ready.v6 |= more.v6;
        }
    }

    /// Does one batch of each source that is ready, and everything that is due. Returns the sources that may have more.
    pub fn turn(&mut self, ready: Ready) -> Ready {
        let more = self.worker.turn(&self.shared, ready);
        self.worker.wipe(&self.shared);
        more
    }

    /// How long nothing has to be done; `None` when nothing is planned.
    #[must_use]
    pub fn idle_time(&self) -> Option<Duration> {
        let due = self.worker.transmitter.timers.next_due()?;
        Some(due.saturating_since(self.worker.clock.now()))
    }

    /// Sockets whose room the shard waits for.
    #[must_use]
    pub fn wanted_room(&self) -> WantRoom {
        self.worker.transmitter.full()
    }

    /// Looks away for a moment when the last turns say that packets come fast and one by one.
    fn let_packets_gather(&self, waiter: &mut impl Wait) {
        let Some(board) = self.shared.boards.get(usize::from(self.worker.index)) else {
            return;
        };
        if self.worker.advice == Advice::Rest {
            let start = self.worker.clock.cycles();
            waiter.rest(moderation::REST);
            board.totals.add(Total::Rests, 1);
            if self.worker.timing == StageTiming::On {
                let spent = self.worker.clock.cycles().wrapping_sub(start);
                board.stages.add(Stage::Idle, Work::default(), spent);
            }
        }
    }

    fn wait(
        &mut self,
        waiter: &mut impl Wait,
        timeout: Option<Duration>,
    ) -> std::io::Result<Ready> {
        let Some(board) = self.shared.boards.get(usize::from(self.worker.index)) else {
            return Ok(Ready::default());
        };
        board.totals.add(Total::PollCalls, 1);
        let room = self.worker.transmitter.full();
        if self.worker.timing == StageTiming::Off {
            return waiter.wait(timeout, room);
        }
        let start = self.worker.clock.cycles();
        let ready = waiter.wait(timeout, room);
        let spent = self.worker.clock.cycles().wrapping_sub(start);
        board.stages.add(Stage::Idle, Work::default(), spent);
        ready
    }
}

impl<T: TunQueue, D: Datagrams, C: ShardClock> Worker<T, D, C> {
    fn turn(&mut self, shared: &Shared, ready: Ready) -> Ready {
        let Some(board) = shared.boards.get(usize::from(self.index)) else {
            return Ready::default();
        };
        let mail = if self.index == 0 {
            shared.take_mail()
        } else {
            None
        };
        let state = shared.read();
        let pass = Pass {
            shared,
            state: &state,
            board,
            clock: &self.clock,
            now: self.clock.now(),
            shard: self.index,
            mtu: state.mtu().unwrap_or(self.mtu),
            timing: self.timing,
        };
        self.inbound.set_mtu(pass.mtu);
        self.transmitter
            .batch
            .follow(state.concealment(), self.index);
        self.transmitter.note_room(ready);
        if let Some(mail) = mail {
            deliver(&pass, mail, &mut self.transmitter);
        }
        let mut more = Ready::default();
        for (is_ready, source) in [(ready.v4, Source::V4), (ready.v6, Source::V6)] {
            if is_ready
                && self
                    .inbound
                    .turn(&pass, source, &mut self.tun, &mut self.transmitter)
                    == Drained::MaybeNot
            {
                more.v4 |= source == Source::V4;
                more.v6 |= source == Source::V6;
            }
        }
        // What was just written often brings an answer into the same queue at once: a ping, an acknowledgement.
        let answers_likely = self.inbound.take_wrote() == Wrote::Something;
        if (ready.tun || answers_likely || self.tun.holds_frames())
            && self.outbound.device() == Device::There
            && self.transmitter.full() == WantRoom::default()
        {
            let drained = self
                .outbound
                .turn(&pass, &mut self.tun, &mut self.transmitter);
            // With a full socket the queue rests, so that the senders behind it feel it.
            let rest = drained == Drained::MaybeNot || self.tun.holds_frames();
            more.tun = rest && self.transmitter.full() == WantRoom::default();
        }
        if self
            .transmitter
            .timers
            .next_due()
            .is_some_and(|due| due <= pass.now)
        {
            handle_due(&pass, &mut self.transmitter, &mut self.ended);
        }
        let work = TurnWork {
            read: self.outbound.take_read(),
            received: self.inbound.take_received(),
        };
        self.advice = self.moderation.after_turn(pass.now, work);
        self.transmitter.publish(&pass);
        self.publish_state(board);
        more
    }

    fn publish_state(&mut self, board: &ShardBoard) {
        let state = ShardState {
            v4: self.transmitter.v4.as_ref().map(Datagrams::state),
            v6: self.transmitter.v6.as_ref().map(Datagrams::state),
            tcp_merge_refused: self.inbound.refused().contains(&Family::Tcp),
            udp_merge_refused: self.inbound.refused().contains(&Family::Udp),
        };
        if state != self.shown {
            self.shown = state;
            *board.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        }
    }

    /// Wipes sessions whose time is over or that newer ones pushed out.
    fn wipe(&mut self, shared: &Shared) {
        if self.ended.is_empty() && self.inbound.fallen.is_empty() {
            return;
        }
        let mut state = shared.write();
        for fallen in self.inbound.fallen.drain(..) {
            state.end_session(fallen);
        }
        for ended in self.ended.drain(..) {
            if let Some(peer) = state.end_session(ended) {
                let local_index = ended.local_index;
                shared
                    .events
                    .push(self.index, Event::SessionExpired { peer, local_index });
            }
        }
    }
}

/// Does what the slow path ordered.
fn deliver<C: ShardClock, D: Datagrams>(
    pass: &Pass<'_, C>,
    mail: Mail,
    transmitter: &mut Transmitter<D>,
) {
    if !mail.timers.is_empty() {
        for (due, key) in mail.timers {
            transmitter.timers.watch(due, key);
        }
        sweep(pass, transmitter);
    }
    for order in mail.handshakes {
        transmitter.send_handshake(pass, &order);
    }
    for peer in mail.confirm {
        let Some(peer) = pass.state.peer(peer) else {
            continue;
        };
        let Some(session) = peer.sessions.current() else {
            continue;
        };
        if transmitter.send_waiting(pass, peer, session) == 0 {
            let _: Sent = send_keepalive(pass, transmitter, peer);
        }
        transmitter.flush(pass);
    }
    for order in mail.probes {
        transmitter.send_probe(pass, order);
    }
}
