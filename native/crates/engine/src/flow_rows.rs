//! Rows about rules and flows.

use core::net::IpAddr;

use filter::{
    Direction, Filter, FlowLife, FlowPage, FlowPorts, FlowRow, FlowTable, PeerId, RecordsTaken,
    RecordsWanted, Sampling, Verdict,
};
use ports::Instant;

use crate::engine::Rows;
use crate::state::State;

/// Columns of a rule row. An age of 2^64 - 1 means never.
#[must_use]
pub fn rule_counter_names() -> &'static [&'static str] {
    &RULE_COLUMNS
}

/// Columns of a flow row. Addresses are two words each, IPv4 in the low half of the second; `ports` says what the port
/// columns hold: 0 nothing, 1 ports, 2 an ICMP type in `localPort`. `began` is 0 for the other end and 1 for ours,
/// `verdict` 0 for dropped and 1 for passing, `rulePlusOne` 0 when no rule matched, `peer` 2^32 - 1 when the peer is gone.
/// `flow` is a number that no other flow of the engine had or will have, `ended` 1 in the last record of a flow.
#[must_use]
pub fn flow_names() -> &'static [&'static str] {
    &FLOW_COLUMNS
}

pub(crate) fn write_rules(filter: &Filter, now: Instant, into: &mut [u64]) -> Rows {
    let rows = filter.len();
    if into.len() < rows * RULE_COLUMNS.len() {
        return Rows::Needed(rows);
    }
    for (to, row) in into.chunks_exact_mut(RULE_COLUMNS.len()).zip(filter.rows()) {
        let age_ms = |last_ms| now_ms(now).saturating_sub(last_ms);
        let values = [
            row.id.into(),
            row.packets,
            row.bytes,
            row.drops,
            row.flows,
            row.last_ms.map_or(u64::MAX, age_ms),
        ];
        to.copy_from_slice(&values);
    }
    Rows::Written(rows)
}

pub(crate) fn write_flows(
    flows: &FlowTable,
    state: &State,
    (from, now): (u64, Instant),
    into: &mut [u64],
) -> usize {
    let mut places = into.chunks_exact_mut(FLOW_COLUMNS.len());
    let page = FlowPage {
        filter: state.filter(),
        now_ms: now_ms(now),
        from,
        rows_max: places.len(),
    };
    let mut rows = 0;
    flows.read(&page, is_there(state), |row| {
        if let Some(place) = places.next() {
            place.copy_from_slice(&values(&row));
            rows += 1;
        }
    });
    rows
}

/// Writes what is to be recorded of flows, see [`FlowTable::take_records`].
pub(crate) fn write_records(
    flows: &FlowTable,
    state: &State,
    (sampling, now): (u32, Instant),
    into: &mut [u64],
) -> RecordsTaken {
    let mut places = into.chunks_exact_mut(FLOW_COLUMNS.len());
    let wanted = RecordsWanted {
        sampling: Sampling::one_of(sampling),
        now_ms: now_ms(now),
        rows_max: places.len(),
    };
    flows.take_records(&wanted, is_there(state), |row| {
        if let Some(place) = places.next() {
            place.copy_from_slice(&values(&row));
        }
    })
}

fn is_there(state: &State) -> impl Fn(PeerId) -> bool + '_ {
    |id| state.peer(id.slot).is_some_and(|peer| peer.id() == id)
}

/// Time as flows count it.
pub(crate) fn now_ms(now: Instant) -> u64 {
    now.as_nanoseconds() / 1_000_000
}

fn values(row: &FlowRow) -> [u64; FLOW_COLUMNS.len()] {
    let [local_high, local_low] = words(row.local);
    let [remote_high, remote_low] = words(row.remote);
    let (ports, local_port, remote_port) = match row.ports {
        FlowPorts::None => (0, 0, 0),
        FlowPorts::Ports { local, remote } => (1, local.into(), remote.into()),
        FlowPorts::Icmp { kind } => (2, kind.into(), 0),
    };
    [
        row.position,
        row.peer.unwrap_or(u32::MAX).into(),
        if row.local.is_ipv4() { 4 } else { 6 },
        row.protocol.into(),
        local_high,
        local_low,
        remote_high,
        remote_low,
        ports,
        local_port,
        remote_port,
        match row.began {
            Direction::In => 0,
            Direction::Out => 1,
        },
        match row.verdict {
            Verdict::Deny { .. } => 0,
            Verdict::Allow => 1,
        },
        row.rule.map_or(0, |rule| u64::from(rule) + 1),
        row.incoming.0,
        row.incoming.1,
        row.outgoing.0,
        row.outgoing.1,
        row.drops,
        row.age_ms,
        row.idle_ms,
        row.id,
        match row.life {
            FlowLife::Open => 0,
            FlowLife::Ended => 1,
        },
    ]
}

fn words(address: IpAddr) -> [u64; 2] {
    match address {
        IpAddr::V4(v4) => [0, v4.to_bits().into()],
        IpAddr::V6(v6) => {
            let [a, b, c, d, e, f, g, h, rest @ ..] = v6.octets();
            [
                u64::from_be_bytes([a, b, c, d, e, f, g, h]),
                u64::from_be_bytes(rest),
            ]
        }
    }
}

const RULE_COLUMNS: [&str; 6] = ["rule", "packets", "bytes", "drops", "flows", "lastHitAgeMs"];

const FLOW_COLUMNS: [&str; 23] = [
    "position",
    "peer",
    "family",
    "protocol",
    "localHigh",
    "localLow",
    "remoteHigh",
    "remoteLow",
    "ports",
    "localPort",
    "remotePort",
    "began",
    "verdict",
    "rulePlusOne",
    "rxPackets",
    "rxBytes",
    "txPackets",
    "txBytes",
    "drops",
    "ageMs",
    "idleMs",
    "flow",
    "ended",
];
