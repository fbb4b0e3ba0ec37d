//! A socket in memory that can be full.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use core::net::SocketAddr;

use ports::{
    Carriage, DatagramCounters, DatagramState, Datagrams, Ecn, Endpoint, Received, SendOutcome,
};
use testkit::MemoryDatagrams;

pub struct TestSocket {
    pub inner: MemoryDatagrams,
    pub full: Arc<AtomicBool>,
}

impl Datagrams for TestSocket {
    fn receive(
        &mut self,
        arena: &mut [u8],
        slot_size: usize,
        out: &mut [Received],
    ) -> io::Result<usize> {
        self.inner.receive(arena, slot_size, out)
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
        self.inner.send_marked(to, payload, segment_size, ecn)
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
        self.inner.state()
    }
}
