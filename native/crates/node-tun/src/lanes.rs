//! The sockets of lanes: a port of its own for each, and a socket on it for every worker.

use engine::LaneSockets;
use sys::UdpSocket;
use sys::udp::{BindError, Direction, ShardSockets, UdpOptions, bind_shards};

/// What the lanes of one worker send by.
pub(crate) type WorkerLanes = Vec<LaneSockets<UdpSocket>>;

/// Which ports lanes leave from.
#[derive(Clone, Debug, Default)]
pub(crate) struct LanePorts {
    /// Those of the second lane and of the lanes behind it.
    pub(crate) ports: Vec<u16>,
    /// Why there are fewer than wanted.
    pub(crate) problem: Option<String>,
}

/// Opens the sockets of all lanes but the first, on free ports. Where one cannot be opened, there are fewer lanes: data
/// goes by the others.
pub(crate) fn open_lanes(
    udp: &UdpOptions,
    lanes: usize,
    shards: usize,
) -> (LanePorts, Vec<WorkerLanes>) {
    let options = UdpOptions {
        port: 0,
        direction: Direction::SendOnly,
        ..*udp
    };
    let mut opened = LanePorts::default();
    let mut workers: Vec<WorkerLanes> = (0..shards).map(|_| Vec::new()).collect();
    for _ in 1..lanes {
        let lane = match bind_shards(&options, shards) {
            Ok(lane) => lane,
            Err(error) => {
                opened.problem = Some(reason(&error, opened.ports.len() + 1));
                break;
            }
        };
        opened.ports.push(lane.port);
        for (worker, ShardSockets { v4, v6 }) in workers.iter_mut().zip(lane.sockets) {
            worker.push(LaneSockets { v4, v6 });
        }
    }
    (opened, workers)
}

fn reason(error: &BindError, lanes: usize) -> String {
    format!("only {lanes} of the ports could be opened: {error}")
}
