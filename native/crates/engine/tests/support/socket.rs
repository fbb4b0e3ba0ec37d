//! A socket in memory that can be full, marks what it receives, and remembers what it sent.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use core::net::SocketAddr;

use ports::{
    Carriage, DatagramCounters, DatagramState, Datagrams, Ecn, Endpoint, FeatureState, OffReason,
    PathBound, Received, SendOutcome,
};
use testkit::MemoryDatagrams;

pub struct TestSocket {
    pub inner: MemoryDatagrams,
    pub full: Arc<AtomicBool>,
    pub wire: Arc<Wire>,
    /// Which lane it is the socket of.
    pub lane: usize,
}

/// What a test wants of the network and the device below a node, and what it saw there.
#[derive(Default)]
pub struct Wire {
    /// The mark of everything that arrives; 0 leaves what the sender set.
    pub mark_received: AtomicU8,
    /// The kernel mangles batches whose last segment has full size.
    pub mangles_equal_tails: AtomicBool,
    /// The node's TUN device carries no header.
    pub plain_device: bool,
    /// Lanes that the node has.
    pub lanes: usize,
    /// Lanes whose datagrams get lost, one bit each.
    pub lost_lanes: AtomicU8,
    /// Datagrams that went out, by lane.
    pub by_lane: [AtomicUsize; 8],
    /// Every send, in order.
    pub sends: Mutex<Vec<Sent>>,
}

/// One call that sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub mark: u8,
    pub segment_size: usize,
    pub len: usize,
}

impl Datagrams for TestSocket {
    fn receive(
        &mut self,
        arena: &mut [u8],
        slot_size: usize,
        out: &mut [Received],
    ) -> io::Result<usize> {
        let count = self.inner.receive(arena, slot_size, out)?;
        let mark = self.wire.mark_received.load(Ordering::Relaxed);
        if mark != 0 {
            out[..count].iter_mut().for_each(|slot| slot.ecn = mark);
        }
        Ok(count)
    }

    fn send_marked(
        &mut self,
        to: &Endpoint,
        payload: &[u8],
        segment_size: usize,
        ecn: Ecn,
    ) -> SendOutcome {
        if self.full.load(Ordering::Relaxed) {
            return SendOutcome {
                error: Some(io::ErrorKind::WouldBlock.into()),
                ..SendOutcome::default()
            };
        }
        let count = payload.len().div_ceil(segment_size.max(1));
        self.wire.by_lane[self.lane].fetch_add(count, Ordering::Relaxed);
        if self.wire.lost_lanes.load(Ordering::Relaxed) & (1 << self.lane) != 0 {
            return SendOutcome {
                accepted: count,
                handled: count,
                ..SendOutcome::default()
            };
        }
        self.wire.sends.lock().unwrap().push(Sent {
            mark: ecn as u8,
            segment_size,
            len: payload.len(),
        });
        self.inner.send_marked(to, payload, segment_size, ecn)
    }

    fn rely_on(&mut self, bound: PathBound) {
        self.inner.rely_on(bound);
    }

    fn send_alone(&mut self, to: &Endpoint, payload: &[u8], carriage: Carriage) -> SendOutcome {
        self.inner.send_alone(to, payload, carriage)
    }

    fn path_payload(&self, remote: SocketAddr) -> Option<usize> {
        self.inner.path_payload(remote)
    }

    fn counters(&self) -> &DatagramCounters {
        self.inner.counters()
    }

    fn state(&self) -> DatagramState {
        let mangles = self.wire.mangles_equal_tails.load(Ordering::Relaxed);
        DatagramState {
            equal_tails: if mangles {
                FeatureState::Off(OffReason::Unsupported { errno: 0 })
            } else {
                FeatureState::On
            },
            ..self.inner.state()
        }
    }
}
