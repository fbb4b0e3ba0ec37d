//! The slow path's handle to all shards.

use std::sync::{Arc, PoisonError};

use filter::RecordsTaken;
use ports::{Datagrams, Instant, TunQueue};

use crate::command::CommandError;
use crate::counters::{peer_counter_names, total_counter_names};
use crate::driver::ShardClock;
use crate::event::{Event, Events, FailureText};
use crate::flow_rows::{write_flows, write_records, write_rules};
use crate::peer::Peer;
use crate::session::Session;
use crate::shard::{Shard, ShardLimits, ShardParts};
use crate::shared::{MailState, ShardBoard, ShardState, Shared, Stop};
use crate::stage::{shard_counter_names, stage_names};
use crate::state::State;

/// Commands in, events and counters out.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

/// Fixed properties of an engine.
#[derive(Clone, Debug)]
pub struct EngineLimits {
    /// Our own static public key, for MAC1.
    pub public_key: [u8; 32],
    /// How many shards will be made.
    pub shards: u16,
    /// Peer numbers are below this.
    pub peers_max: u32,
    /// Flows that are remembered at once.
    pub flows_max: usize,
}

/// How many rows a counter snapshot filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All rows are there.
    Written(usize),
    /// The array is too small: nothing was written, this many rows are needed.
    Needed(usize),
}

impl Engine {
    /// Makes an engine without shards. `wake` is called from shard threads when events become available.
    #[must_use]
    pub fn new(limits: &EngineLimits, wake: Box<dyn Fn() + Send + Sync>) -> Self {
        let shared = Shared::new(limits, Events::new(wake));
        Engine {
            shared: Arc::new(shared),
        }
    }

    /// Makes the shard of a number below [`EngineLimits::shards`]. Each number is to be used once.
    #[must_use]
    pub fn shard<T, D, C>(
        &self,
        index: u16,
        parts: ShardParts<T, D, C>,
        limits: ShardLimits,
    ) -> Shard<T, D, C>
    where
        T: TunQueue,
        D: Datagrams,
        C: ShardClock,
    {
        Shard::new(Arc::clone(&self.shared), index, parts, limits)
    }

    /// Applies a batch of commands to all shards at once. Returns whether the first shard must be woken.
    ///
    /// # Errors
    /// Says which record does not fit and why; nothing of the batch was applied.
    pub fn apply(&self, commands: &[u8], now: Instant) -> Result<Wake, CommandError> {
        Ok(match self.shared.apply(commands, now)? {
            MailState::Empty => Wake::NotNeeded,
            MailState::Waiting => Wake::FirstShard,
        })
    }

    /// Writes whole event records and returns the bytes written; 0 when there are none or the next one does not fit.
    pub fn take_events(&self, into: &mut [u8]) -> usize {
        self.shared.take_events(into)
    }

    /// Fills one row per peer.
    pub fn read_peer_counters(&self, into: &mut [u64], now: Instant) -> Rows {
        let state = self.shared.read();
        let columns = peer_counter_names().len();
        let rows = state.peers().count();
        if into.len() < rows * columns {
            return Rows::Needed(rows);
        }
        for (row, peer) in into.chunks_exact_mut(columns).zip(state.peers()) {
            write_peer(row, &state, peer, now);
        }
        Rows::Written(rows)
    }

    /// Fills one row per shard and stage. `nanoseconds` converts a count of cycles.
    pub fn read_shard_counters(&self, into: &mut [u64], nanoseconds: impl Fn(u64) -> u64) -> Rows {
        let columns = shard_counter_names().len();
        let rows = self.shared.boards.len() * stage_names().len();
        if into.len() < rows * columns {
            return Rows::Needed(rows);
        }
        let table = self
            .shared
            .boards
            .iter()
            .zip(0_u64..)
            .flat_map(|(board, shard)| {
                board
                    .stages
                    .rows()
                    .zip(0_u64..)
                    .map(move |(counts, stage)| (shard, stage, counts))
            });
        for (row, (shard, stage, counts)) in into.chunks_exact_mut(columns).zip(table) {
            let fixed = [
                shard,
                stage,
                counts.batches,
                counts.packets,
                counts.bytes,
                nanoseconds(counts.cycles),
            ];
            let values = fixed.into_iter().chain(counts.sizes);
            row.iter_mut().zip(values).for_each(|(to, from)| *to = from);
        }
        Rows::Written(rows)
    }

    /// Fills the one row of engine-wide counts.
    pub fn read_totals(&self, into: &mut [u64]) -> Rows {
        let columns = total_counter_names().len();
        let Some(row) = into.get_mut(..columns) else {
            return Rows::Needed(1);
        };
        row.fill(0);
        for board in &self.shared.boards {
            row.iter_mut()
                .zip(board.totals.values())
                .for_each(|(sum, value)| *sum = sum.wrapping_add(value));
        }
        Rows::Written(1)
    }

    /// Fills one row per filter rule, in the order of the rules.
    pub fn read_rule_counters(&self, into: &mut [u64], now: Instant) -> Rows {
        write_rules(self.shared.read().filter(), now, into)
    }

    /// Fills rows of flows behind a position of the flow table, at most as many as fit; fewer mean the end. Begin at 0,
    /// go on behind the position of the last row.
    pub fn read_flows(&self, from: u64, into: &mut [u64], now: Instant) -> usize {
        let state = self.shared.read();
        write_flows(&self.shared.flows, &state, (from, now), into)
    }

    /// Fills rows of flows that are to be recorded, one flow of `sampling`, 0 = none: those that ended since the last call
    /// or go on for long. Counts are those since their beginning.
    pub fn take_flow_records(&self, sampling: u32, into: &mut [u64], now: Instant) -> RecordsTaken {
        let state = self.shared.read();
        write_records(&self.shared.flows, &state, (sampling, now), into)
    }

    /// What each shard uses at the moment.
    #[must_use]
    pub fn shard_states(&self) -> Vec<ShardState> {
        let state =
            |board: &ShardBoard| *board.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.boards.iter().map(state).collect()
    }

    /// Tells the slow path that a shard panicked, and all shards to end. Only the first failure is told. `message` is cut
    /// to 256 bytes.
    pub(crate) fn report_failed_shard(&self, index: u16, message: &str) {
        if self.shared.stop() == Stop::First {
            self.shared
                .events
                .push(index, Event::ShardFailed(FailureText::new(message)));
        }
    }

    /// Makes a shard panic when it is woken next: to see how the program around it takes that.
    pub fn inject_panic(&self, index: u16) {
        self.shared.inject_panic(index);
    }

    /// Tells all shards to end; they do so when they are woken next.
    pub fn stop(&self) {
        self.shared.stop();
    }
}

/// Whether the driver must wake the first shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Nothing waits for it.
    NotNeeded,
    /// It has something to send or a new deadline.
    FirstShard,
}

/// Lanes that packets to a peer go by at present.
fn lanes_in_use(session: Option<&Session>, peer: &Peer) -> u64 {
    match (&peer.lanes, session) {
        (Some(lanes), Some(session)) => lanes.in_use(session.lanes).into(),
        _ => 1,
    }
}

fn write_peer(row: &mut [u64], state: &State, peer: &Peer, now: Instant) {
    let age = |since: Option<Instant>| {
        since.map_or(u64::MAX, |since| {
            u64::try_from(now.saturating_since(since).as_millis()).unwrap_or(u64::MAX)
        })
    };
    let session = peer.sessions.current().and_then(|slot| state.session(slot));
    let counters = &peer.counters;
    let fixed = [
        u64::from(peer.index),
        counters.rx_bytes.get(),
        counters.rx_packets.get(),
        counters.tx_bytes.get(),
        counters.tx_packets.get(),
        age(peer.last_received()),
        age(session.map(|session| session.created)),
        peer.waiting.len() as u64,
        lanes_in_use(session, peer),
    ];
    let values = fixed.into_iter().chain(counters.drops());
    row.iter_mut().zip(values).for_each(|(to, from)| *to = from);
}
