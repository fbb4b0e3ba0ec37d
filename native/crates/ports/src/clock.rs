use core::time::Duration;

/// A source of monotonic time.
pub trait Clock {
    /// The current moment; never earlier than one returned before.
    fn now(&self) -> Instant;
}

/// A moment of monotonic time, in nanoseconds since an epoch the clock chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The moment `nanoseconds` after the epoch of the clock.
    #[must_use]
    pub const fn from_nanoseconds(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the epoch of the clock.
    #[must_use]
    pub const fn as_nanoseconds(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`; zero when `earlier` is in fact later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The moment `duration` after this one; the last representable moment when that overflows (584 years).
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanoseconds))
    }
}

impl core::ops::Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        self.saturating_add(duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_of_two_moments_never_goes_below_zero() {
        let early = Instant::from_nanoseconds(1_000);
        let late = early + Duration::from_millis(3);

        assert_eq!(late.saturating_since(early), Duration::from_millis(3));
        assert_eq!(early.saturating_since(late), Duration::ZERO);
    }

    #[test]
    fn adding_more_than_fits_stops_at_the_last_moment() {
        let moment = Instant::from_nanoseconds(u64::MAX - 1) + Duration::from_secs(1);

        assert_eq!(moment.as_nanoseconds(), u64::MAX);
    }
}
