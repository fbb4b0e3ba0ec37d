//! How long datagrams to a peer may become by chance.

use core::sync::atomic::{AtomicUsize, Ordering};

/// Where a window starts, and what cookie replies always have.
pub const WINDOW_START: usize = 500;

/// Trailers never make a datagram longer than those the path to a peer has already carried (TRL-05).
#[derive(Debug)]
pub struct TrailerWindow(AtomicUsize);

impl Default for TrailerWindow {
    fn default() -> Self {
        TrailerWindow(AtomicUsize::new(WINDOW_START))
    }
}

impl TrailerWindow {
    /// Its width in bytes of a whole datagram.
    #[must_use]
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Notes a datagram that was sent or received.
    pub fn raise(&self, datagram: usize) {
        if datagram > self.get() {
            self.0.fetch_max(datagram, Ordering::Relaxed);
        }
    }

    /// The peer's address has changed: nothing is known about the new path.
    pub fn reset(&self) {
        self.0.store(WINDOW_START, Ordering::Relaxed);
    }
}
