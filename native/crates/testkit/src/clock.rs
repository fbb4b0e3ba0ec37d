use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;

use ports::{Clock, Instant};

/// A clock that stands still until it is moved. Clones show the same time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    nanoseconds: Arc<AtomicU64>,
}

impl ManualClock {
    /// Moves the time on.
    pub fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(by, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        Instant::from_nanoseconds(self.nanoseconds.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stands_still_until_it_is_moved_and_clones_share_it() {
        let clock = ManualClock::default();
        let other = clock.clone();
        let start = clock.now();
        assert_eq!(other.now(), start);

        other.advance(Duration::from_millis(5));

        assert_eq!(
            clock.now().saturating_since(start),
            Duration::from_millis(5)
        );
    }
}
