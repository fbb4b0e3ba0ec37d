/// Whether an offload or a batching call is in use, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureState {
    /// In use.
    On,
    /// Not in use, for the reason given.
    Off(OffReason),
}

impl FeatureState {
    /// Whether the feature is in use.
    #[must_use]
    pub const fn is_on(self) -> bool {
        matches!(self, Self::On)
    }

    /// The reason when the feature is off.
    #[must_use]
    pub const fn off_reason(self) -> Option<OffReason> {
        match self {
            Self::On => None,
            Self::Off(reason) => Some(reason),
        }
    }
}

/// Why a feature is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffReason {
    /// The operator's configuration says so.
    Switch,
    /// The kernel refused it when it was asked for.
    Unsupported {
        /// The error number of the refusal; 0 when the kernel does not even announce the feature.
        errno: i32,
    },
    /// It was on, and the kernel then refused to carry it.
    Fallback {
        /// The error number of the refusal.
        errno: i32,
    },
    /// Another feature it depends on is off.
    Dependency,
    /// It works, but what is used instead was measured to be at least as fast.
    NotFaster,
}

impl core::fmt::Display for OffReason {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Switch => formatter.write_str("switched off"),
            Self::Unsupported { errno: 0 } => formatter.write_str("not offered by this kernel"),
            Self::Unsupported { errno } => {
                write!(formatter, "refused by this kernel (errno {errno})")
            }
            Self::Fallback { errno } => {
                write!(formatter, "turned off after a failed call (errno {errno})")
            }
            Self::Dependency => formatter.write_str("needs another feature that is off"),
            Self::NotFaster => formatter.write_str("brings nothing: left out unless asked for"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_reads_as_a_phrase_with_its_number() {
        let cases = [
            (OffReason::Switch, "switched off"),
            (
                OffReason::Unsupported { errno: 0 },
                "not offered by this kernel",
            ),
            (
                OffReason::Unsupported { errno: 22 },
                "refused by this kernel (errno 22)",
            ),
            (
                OffReason::Fallback { errno: 5 },
                "turned off after a failed call (errno 5)",
            ),
            (OffReason::Dependency, "needs another feature that is off"),
            (
                OffReason::NotFaster,
                "brings nothing: left out unless asked for",
            ),
        ];

        for (reason, text) in cases {
            assert_eq!(reason.to_string(), text);
            assert_eq!(FeatureState::Off(reason).off_reason(), Some(reason));
        }
        assert_eq!(FeatureState::On.off_reason(), None);
    }
}
