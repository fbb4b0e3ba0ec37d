//! Datagrams that are opened and judged together.

use ports::{Endpoint, Received};
use wire::DataHeader;

use super::pass::Pass;
use crate::driver::ShardClock;
use crate::lanes::Lane;
use crate::peer::Peer;
use crate::session::Session;

/// Consecutive datagrams of one session and lane from one place.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) slot: u32,
    pub(super) session: &'a Session,
    pub(super) peer: &'a Peer,
    pub(super) from: Endpoint,
    pub(super) lane: Lane,
    /// The congestion mark that all of them carried outside.
    pub(super) mark: u8,
}

impl Run<'_> {
    /// Whether a datagram goes on with it.
    pub(super) fn takes(&self, header: DataHeader) -> bool {
        self.session.local_index == header.receiver
            && (self.session.lanes == 1
                || self
                    .session
                    .lane_of(header.counter)
                    .is_none_or(|lane| lane == self.lane))
    }
}

/// The session and peer that a datagram names, if packets are still accepted under it.
pub(super) fn run_of<'a, C: ShardClock>(
    pass: &Pass<'a, C>,
    header: DataHeader,
    received: &Received,
) -> Option<Run<'a>> {
    let (slot, session) = pass.state.session_by_index(header.receiver)?;
    let peer = pass.state.peer(session.peer)?;
    if pass.now >= session.end() {
        return None;
    }
    let lane = session.lane_of(header.counter).unwrap_or(0);
    Some(Run {
        slot,
        session,
        peer,
        from: received.from,
        lane,
        mark: received.ecn,
    })
}
