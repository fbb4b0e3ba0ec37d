//! The options of an engine, checked once.

use engine::StageTiming;
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;
use offload::MergeLimits;
use sys::udp::{Direction, EqualTail, Family, Switch};
use sys::{TunOffload, TunOptions, UdpOptions};

use crate::driver::Wish;
use crate::error::Failure;

/// How to start an engine.
#[napi(object)]
pub struct EngineOptions {
    /// Name of the TUN interface, 1 to 15 bytes; `%d` in it is replaced by a free number.
    pub tun_name: String,
    /// Largest IP packet inside the tunnel, 576 to 65535.
    pub tun_mtu: u32,
    /// Which offloads to ask for on the TUN device. Default `auto`.
    #[napi(ts_type = "\"auto\" | \"tcp\" | \"off\"")]
    pub tun_offload: Option<String>,
    /// UDP port of all sockets; 0 = any that is free.
    pub listen_port: u32,
    /// Our own static public key, 32 bytes; handshake messages are checked against it.
    pub public_key: Uint8Array,
    /// Worker threads, 1 to 64. Default: processors, at most 8.
    pub shards: Option<u32>,
    /// Peer numbers are below this. Default 16384.
    pub peers_max: Option<u32>,
    /// Flows that the filter remembers at once, 1024 to 16777216. Default 131072.
    pub flows_max: Option<u32>,
    /// Most UDP source ports towards one peer, 1 to 8: more than one only under sessions that say so. Every port costs a
    /// socket per worker and address family. Default 1.
    pub lanes: Option<u32>,
    /// Size to ask for, of each socket buffer. Default 7340032.
    pub socket_buffer_bytes: Option<u32>,
    /// Segmentation by the kernel on send. Default `auto`.
    #[napi(ts_type = "\"auto\" | \"off\"")]
    pub udp_gso: Option<String>,
    /// Merging by the kernel on receive. Default `auto`.
    #[napi(ts_type = "\"auto\" | \"off\"")]
    pub udp_gro: Option<String>,
    /// Several datagrams per system call where segmentation and merging are off. Default `auto`.
    #[napi(ts_type = "\"auto\" | \"off\"")]
    pub udp_batch: Option<String>,
    /// What workers wait with and read the TUN device through. `io_uring` falls back to epoll where the kernel refuses it;
    /// `status()` tells. Default `auto`: the one that measures faster, which is epoll.
    #[napi(ts_type = "\"auto\" | \"epoll\" | \"io_uring\"")]
    pub io: Option<String>,
    /// Most datagrams in one send and most datagrams merged into one UDP frame, 2 to 128. Default 64.
    pub gso_max_segments: Option<u32>,
    /// What to do about sends whose last segment has full size. Default `auto`.
    #[napi(ts_type = "\"auto\" | \"allow\" | \"avoid\"")]
    pub gso_equal_tail: Option<String>,
    /// Flows that are merged at once on the way to the TUN device, 1 to 1024. Default 128.
    pub gro_flows: Option<u32>,
    /// UDP destination ports inside the tunnel whose datagrams are never merged, because kernels before 6.8.5 drop merged
    /// ones of other tunnels. Default 4789, 6081 and 8472.
    pub udp_ports_never_merged: Option<Vec<u32>>,
    /// Packets the transmit queue of the TUN device holds, 1 to 1000000. Default 1000.
    pub tun_queue_len: Option<u32>,
    /// Niceness of the worker threads, −20 to 19; workers without the right to raise priority keep that of the process.
    /// Default −10, so that a busy machine does not keep packets waiting.
    pub niceness: Option<i32>,
    /// Firewall mark of everything the sockets send.
    pub firewall_mark: Option<u32>,
    /// Whether the stages of the workers are counted and timed. Default `on`.
    #[napi(ts_type = "\"on\" | \"off\"")]
    pub stage_timing: Option<String>,
}

/// Options whose values make sense.
pub(crate) struct Checked {
    pub(crate) tun: TunOptions,
    pub(crate) udp: UdpOptions,
    pub(crate) public_key: [u8; 32],
    pub(crate) mtu: usize,
    pub(crate) shards: u16,
    pub(crate) lanes: usize,
    pub(crate) peers_max: u32,
    pub(crate) remembered_flows_max: usize,
    pub(crate) segments_max: usize,
    pub(crate) flows_max: usize,
    pub(crate) niceness: i32,
    pub(crate) ports_never_merged: Vec<u16>,
    pub(crate) stage_timing: StageTiming,
    pub(crate) io: Wish,
}

impl EngineOptions {
    pub(crate) fn check(self) -> Result<Checked, Failure> {
        let public_key = <[u8; 32]>::try_from(&*self.public_key).map_err(|_| {
            invalid(format!(
                "publicKey has {} bytes; a key has 32",
                self.public_key.len()
            ))
        })?;
        let port = u16::try_from(self.listen_port).map_err(|_| {
            invalid(format!(
                "listenPort is {}; a port is at most 65535",
                self.listen_port
            ))
        })?;
        let mtu = within("tunMtu", self.tun_mtu, 576..=65_535)?;
        let shards = within("shards", self.shards.unwrap_or_else(default_shards), 1..=64)?;
        let segments_max = within(
            "gsoMaxSegments",
            self.gso_max_segments.unwrap_or(64),
            2..=128,
        )?;
        let flows_max = within("groFlows", self.gro_flows.unwrap_or(128), 1..=1024)?;
        let niceness = self.niceness.unwrap_or(NICENESS);
        if !(-20..=19).contains(&niceness) {
            return Err(invalid("niceness must be from -20 to 19".to_owned()));
        }
        Ok(Checked {
            tun: TunOptions {
                name: self.tun_name,
                queues: shards as usize,
                offload: tun_offload(self.tun_offload.as_deref())?,
                mtu: Some(mtu),
                transmit_queue_len: within(
                    "tunQueueLen",
                    self.tun_queue_len
                        .unwrap_or(TunOptions::default().transmit_queue_len),
                    1..=1_000_000,
                )?,
            },
            udp: UdpOptions {
                family: Family::V4,
                port,
                reuse_port: shards > 1,
                buffer_bytes: self.socket_buffer_bytes.unwrap_or(7 << 20) as usize,
                gso: switch("udpGso", self.udp_gso.as_deref())?,
                gro: switch("udpGro", self.udp_gro.as_deref())?,
                batch: switch("udpBatch", self.udp_batch.as_deref())?,
                gso_segments_max: segments_max as usize,
                equal_tail: equal_tail(self.gso_equal_tail.as_deref())?,
                mark: self.firewall_mark,
                direction: Direction::Both,
            },
            public_key,
            mtu: mtu as usize,
            shards: u16::try_from(shards).unwrap_or(1),
            lanes: within(
                "lanes",
                self.lanes.unwrap_or(1),
                1..=engine::LANES_MAX.into(),
            )? as usize,
            peers_max: within("peersMax", self.peers_max.unwrap_or(16_384), 1..=1 << 24)?,
            remembered_flows_max: within(
                "flowsMax",
                self.flows_max.unwrap_or(1 << 17),
                1 << 10..=1 << 24,
            )? as usize,
            segments_max: segments_max as usize,
            flows_max: flows_max as usize,
            ports_never_merged: ports_never_merged(self.udp_ports_never_merged)?,
            niceness,
            stage_timing: stage_timing(self.stage_timing.as_deref())?,
            io: io_driver(self.io.as_deref())?,
        })
    }
}

/// Niceness of workers (decision 0161).
const NICENESS: i32 = -10;

fn ports_never_merged(ports: Option<Vec<u32>>) -> Result<Vec<u16>, Failure> {
    let Some(ports) = ports else {
        return Ok(MergeLimits::default().udp_ports_never_merged);
    };
    ports
        .into_iter()
        .map(|port| {
            u16::try_from(port).map_err(|_| {
                invalid(format!(
                    "udpPortsNeverMerged has {port}; a port is at most 65535"
                ))
            })
        })
        .collect()
}

fn default_shards() -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(processors.min(8)).unwrap_or(8)
}

fn within(name: &str, value: u32, range: core::ops::RangeInclusive<u32>) -> Result<u32, Failure> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(invalid(format!(
        "{name} is {value}; it must be from {} to {}",
        range.start(),
        range.end()
    )))
}

pub(crate) fn tun_offload(value: Option<&str>) -> Result<TunOffload, Failure> {
    match value {
        None | Some("auto") => Ok(TunOffload::Auto),
        Some("tcp") => Ok(TunOffload::Tcp),
        Some("off") => Ok(TunOffload::Off),
        Some(other) => Err(invalid(format!(
            "tunOffload is \"{other}\"; it must be auto, tcp or off"
        ))),
    }
}

fn switch(name: &str, value: Option<&str>) -> Result<Switch, Failure> {
    match value {
        None | Some("auto") => Ok(Switch::Auto),
        Some("off") => Ok(Switch::Off),
        Some(other) => Err(invalid(format!(
            "{name} is \"{other}\"; it must be auto or off"
        ))),
    }
}

fn stage_timing(value: Option<&str>) -> Result<StageTiming, Failure> {
    match value {
        None | Some("on") => Ok(StageTiming::On),
        Some("off") => Ok(StageTiming::Off),
        Some(other) => Err(invalid(format!(
            "stageTiming is \"{other}\"; it must be on or off"
        ))),
    }
}

fn io_driver(value: Option<&str>) -> Result<Wish, Failure> {
    match value {
        None | Some("auto") => Ok(Wish::Auto),
        Some("epoll") => Ok(Wish::Epoll),
        Some("io_uring") => Ok(Wish::IoUring),
        Some(other) => Err(invalid(format!(
            "io is \"{other}\"; it must be auto, epoll or io_uring"
        ))),
    }
}

fn equal_tail(value: Option<&str>) -> Result<EqualTail, Failure> {
    match value {
        None | Some("auto") => Ok(EqualTail::Auto),
        Some("allow") => Ok(EqualTail::Allow),
        Some("avoid") => Ok(EqualTail::Avoid),
        Some(other) => Err(invalid(format!(
            "gsoEqualTail is \"{other}\"; it must be auto, allow or avoid"
        ))),
    }
}

pub(crate) fn invalid(sentence: String) -> Failure {
    Failure::new("invalid_option", sentence)
}
