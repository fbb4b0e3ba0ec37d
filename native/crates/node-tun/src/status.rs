//! What an engine uses, for people and programs.

use engine::ShardState;
use napi_derive::napi;
use ports::{FeatureState, OffReason};

use crate::driver::RingUse;
use crate::running::Running;

/// What an engine uses at the moment.
#[napi(object)]
pub struct EngineStatus {
    /// Name of the TUN interface.
    pub tun_name: String,
    /// UDP port of all sockets.
    pub listen_port: u32,
    /// Number of workers.
    pub shards: u32,
    /// Every offload, with its state and, when it is not on, the reason.
    pub offloads: Vec<OffloadStatus>,
    /// What all workers wait with: `io_uring`, or `epoll` when at least one of them has to; the offload `ioUring` has the
    /// reason.
    #[napi(ts_type = "\"epoll\" | \"io_uring\"")]
    pub io_driver: String,
    /// Smallest receive buffer the kernel granted, in bytes.
    pub receive_buffer_bytes: f64,
    /// Smallest send buffer the kernel granted, in bytes.
    pub send_buffer_bytes: f64,
    /// Most datagrams in one send.
    pub gso_max_segments: u32,
    /// Flows that are merged at once on the way to the TUN device.
    pub gro_flows: u32,
    /// UDP destination ports inside the tunnel whose datagrams are never merged.
    pub udp_ports_never_merged: Vec<u32>,
    /// Packets the transmit queue of the TUN device holds.
    pub tun_queue_len: u32,
    /// Frames one turn reads from the TUN queue.
    pub tun_frames_per_turn: u32,
    /// Receives one turn makes from a socket.
    pub udp_slots_per_turn: u32,
    /// Niceness of the workers: the one asked for, or that of the process where it was refused.
    pub niceness: i32,
    /// UDP ports of the lanes behind the first, from which data leaves; empty = there is one lane only.
    pub lane_ports: Vec<u32>,
    /// Why there are fewer lanes than asked for.
    pub lane_problem: Option<String>,
}

/// State of one offload over all workers.
#[napi(object)]
pub struct OffloadStatus {
    /// `tunTcp`, `tunUdp`, `udpGso`, `udpGro`, `udpBatch`, `udpEqualTails` or `ioUring`.
    pub name: String,
    /// `fallback`: it was on until the kernel refused to carry it.
    #[napi(ts_type = "\"on\" | \"off\" | \"fallback\"")]
    pub state: String,
    /// Why it is not on.
    pub reason: Option<String>,
}

pub(crate) fn status_of(running: &Running) -> EngineStatus {
    let shards = running.engine.shard_states();
    let sockets = || {
        shards
            .iter()
            .flat_map(|shard| [shard.v4, shard.v6])
            .flatten()
    };
    let tcp_refused = shards
        .iter()
        .any(|shard: &ShardState| shard.tcp_merge_refused);
    let udp_refused = shards
        .iter()
        .any(|shard: &ShardState| shard.udp_merge_refused);
    let tcp = if tcp_refused {
        REFUSED
    } else {
        running.granted.tcp
    };
    let udp = if udp_refused {
        REFUSED
    } else {
        running.granted.udp
    };
    let buffer =
        |bytes: Option<usize>| u32::try_from(bytes.unwrap_or(0)).map_or(f64::MAX, f64::from);
    let mut offloads = tun_offloads(tcp, udp);
    offloads.push(offload("udpGso", sockets().map(|socket| socket.gso)));
    offloads.push(offload("udpGro", sockets().map(|socket| socket.gro)));
    offloads.push(offload("udpBatch", sockets().map(|socket| socket.batch)));
    offloads.push(offload(
        "udpEqualTails",
        sockets().map(|socket| socket.equal_tails),
    ));
    let rings: Vec<_> = running.rings.iter().map(RingUse::state).collect();
    let all_on = rings.iter().all(|state| state.is_on());
    offloads.push(offload("ioUring", rings));
    EngineStatus {
        tun_name: running.tun_name.clone(),
        listen_port: running.port.into(),
        shards: u32::try_from(running.shard_count()).unwrap_or(u32::MAX),
        offloads,
        io_driver: if all_on { "io_uring" } else { "epoll" }.to_owned(),
        receive_buffer_bytes: buffer(sockets().map(|socket| socket.receive_buffer_bytes).min()),
        send_buffer_bytes: buffer(sockets().map(|socket| socket.send_buffer_bytes).min()),
        gso_max_segments: sockets()
            .map(|socket| socket.gso_segments_max)
            .min()
            .and_then(|segments| u32::try_from(segments).ok())
            .unwrap_or(0),
        gro_flows: u32::try_from(running.merging.flows_max).unwrap_or(u32::MAX),
        udp_ports_never_merged: running
            .merging
            .ports_never_merged
            .iter()
            .map(|port| u32::from(*port))
            .collect(),
        tun_queue_len: running.merging.tun_queue_len,
        tun_frames_per_turn: u32::try_from(engine::TUN_FRAMES_PER_TURN).unwrap_or(u32::MAX),
        udp_slots_per_turn: u32::try_from(engine::UDP_SLOTS_PER_TURN).unwrap_or(u32::MAX),
        niceness: running.niceness(),
        lane_ports: running
            .lanes
            .ports
            .iter()
            .map(|port| u32::from(*port))
            .collect(),
        lane_problem: running.lanes.problem.clone(),
    }
}

/// The entries of a TUN device.
pub(crate) fn tun_offloads(tcp: FeatureState, udp: FeatureState) -> Vec<OffloadStatus> {
    vec![offload("tunTcp", [tcp]), offload("tunUdp", [udp])]
}

/// `EINVAL` for a merged frame.
const REFUSED: FeatureState = FeatureState::Off(OffReason::Fallback { errno: 22 });

/// One entry for all: on only if it is on everywhere.
fn offload(name: &str, states: impl IntoIterator<Item = FeatureState>) -> OffloadStatus {
    let reason = states.into_iter().find_map(FeatureState::off_reason);
    let state = match reason {
        None => "on",
        Some(OffReason::Fallback { .. }) => "fallback",
        Some(
            OffReason::Switch
            | OffReason::Unsupported { .. }
            | OffReason::Dependency
            | OffReason::NotFaster,
        ) => "off",
    };
    OffloadStatus {
        name: name.to_owned(),
        state: state.to_owned(),
        reason: reason.map(|reason| reason.to_string()),
    }
}
