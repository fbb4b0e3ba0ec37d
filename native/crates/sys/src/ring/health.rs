use core::sync::atomic::{AtomicI32, Ordering};
use std::io;

use ports::{FeatureState, OffReason};

use crate::errno;

/// Whether the rings of one worker still work; shared with whoever tells about it.
#[derive(Debug, Default)]
pub struct RingHealth {
    /// 0 while they work, the error number of the first failed call afterwards.
    failed: AtomicI32,
}

impl RingHealth {
    /// On, or off since a call failed.
    #[must_use]
    pub fn state(&self) -> FeatureState {
        match self.failed.load(Ordering::Relaxed) {
            0 => FeatureState::On,
            errno => FeatureState::Off(OffReason::Fallback { errno }),
        }
    }

    /// Notes why a ring is used no more; the first reason stays.
    pub(super) fn fail(&self, error: &io::Error) {
        let errno = errno::of(error).max(1);
        let _ = self
            .failed
            .compare_exchange(0, errno, Ordering::Relaxed, Ordering::Relaxed);
    }
}
