//! Which packet numbers were already accepted.

/// How far behind the newest packet number a late packet is still accepted.
pub const REPLAY_WINDOW: u64 = (BLOCKS as u64 - 1) * BLOCK_BITS;

/// Remembers accepted packet numbers in a ring of 64-bit blocks.
///
/// One block more than the window is kept, so that moving forward only ever clears whole blocks.
#[derive(Clone, Debug)]
pub struct ReplayWindow {
    blocks: [u64; BLOCKS],
    next: u64,
}

/// What the window says about a packet number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayVerdict {
    /// Not seen before; it is noted now.
    Fresh,
    /// Accepted before.
    Duplicate,
    /// Too old to tell.
    BehindWindow,
}

impl ReplayWindow {
    /// A window that has seen nothing.
    #[must_use]
    pub const fn new() -> Self {
        ReplayWindow {
            blocks: [0; BLOCKS],
            next: 0,
        }
    }

    /// Notes the number of a packet whose tag was already checked.
    ///
    /// Call this only after decryption: an unauthenticated number must never move the window.
    pub fn accept(&mut self, counter: u64) -> ReplayVerdict {
        let block = counter / BLOCK_BITS;
        if counter >= self.next {
            self.clear_up_to(block);
            self.next = counter.saturating_add(1);
        } else if self.next - 1 - counter >= REPLAY_WINDOW {
            return ReplayVerdict::BehindWindow;
        }
        let Some(bits) = self.blocks.get_mut(position(block)) else {
            return ReplayVerdict::BehindWindow;
        };
        let bit = 1 << (counter % BLOCK_BITS);
        if *bits & bit != 0 {
            return ReplayVerdict::Duplicate;
        }
        *bits |= bit;
        ReplayVerdict::Fresh
    }

    fn clear_up_to(&mut self, block: u64) {
        let newest = self.next.saturating_sub(1) / BLOCK_BITS;
        let steps = (block - newest).min(BLOCKS as u64);
        for step in 0..steps {
            if let Some(bits) = self.blocks.get_mut(position(block - step)) {
                *bits = 0;
            }
        }
    }
}

impl Default for ReplayWindow {
    fn default() -> Self {
        ReplayWindow::new()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a remainder of 129 fits every usize"
)]
fn position(block: u64) -> usize {
    (block % BLOCKS as u64) as usize
}

const BLOCK_BITS: u64 = 64;
const BLOCKS: usize = 129;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// P-11, P-88: late packets are accepted up to a window of at least 8,192.
    #[test]
    fn the_window_holds_at_least_8192_numbers() {
        const { assert!(REPLAY_WINDOW >= 8192) };
        let mut window = ReplayWindow::new();

        assert_eq!(window.accept(REPLAY_WINDOW), ReplayVerdict::Fresh);

        assert_eq!(window.accept(1), ReplayVerdict::Fresh);
        assert_eq!(window.accept(0), ReplayVerdict::BehindWindow);
        assert_eq!(window.accept(1), ReplayVerdict::Duplicate);
    }

    #[test]
    fn the_largest_number_is_accepted_once() {
        let mut window = ReplayWindow::new();

        assert_eq!(window.accept(u64::MAX), ReplayVerdict::Fresh);
        assert_ne!(window.accept(u64::MAX), ReplayVerdict::Fresh);
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_set_of_everything_seen(steps in proptest::collection::vec((0_u64..20_000, 0_u64..9_000), 1..600)) {
            let mut window = ReplayWindow::new();
            let mut seen = HashSet::new();
            let mut newest = 0_u64;
            for (forward, back) in steps {
                let counter = (newest + forward / 16).saturating_sub(back);
                let expected = if newest.saturating_sub(counter) >= REPLAY_WINDOW {
                    ReplayVerdict::BehindWindow
                } else if seen.insert(counter) {
                    ReplayVerdict::Fresh
                } else {
                    ReplayVerdict::Duplicate
                };
                newest = newest.max(counter);
                prop_assert_eq!(window.accept(counter), expected);
            }
        }
    }
}
