//! How long silence lasts before something is done about it.

use core::time::Duration;

use conceal::Random;

use crate::command::Problem;
use crate::reader::Reader;

/// Two spans of time, each drawn anew when its timer is armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Silence {
    /// From data that was received to the empty packet that answers it (TMR-07).
    pub(crate) keepalive: Span,
    /// From data that was sent to the doubt whether anybody is there (TMR-08).
    pub(crate) no_answer: Span,
}

/// Milliseconds from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    low: u32,
    high: u32,
}

impl Default for Silence {
    /// WireGuard's own.
    fn default() -> Self {
        Silence {
            keepalive: Span::fixed(10_000),
            no_answer: Span::fixed(15_000),
        }
    }
}

impl Silence {
    /// Reads the body of `SetSilence`.
    pub(crate) fn read(body: &mut Reader<'_>) -> Result<Self, Problem> {
        Ok(Silence {
            keepalive: Span::read(body, "keepalive")?,
            no_answer: Span::read(body, "no answer")?,
        })
    }
}

impl Span {
    const fn fixed(milliseconds: u32) -> Self {
        Span {
            low: milliseconds,
            high: milliseconds,
        }
    }

    fn read(body: &mut Reader<'_>, field: &'static str) -> Result<Self, Problem> {
        let (low, high) = (body.u32()?, body.u32()?);
        if low == 0 || low > high {
            return Err(Problem::BadField { field });
        }
        Ok(Span { low, high })
    }

    /// One of them; without chance the least.
    pub(crate) fn draw(self, random: Option<&mut Random>) -> Duration {
        let drawn = random.map_or(self.low, |random| random.draw(self.low, self.high));
        Duration::from_millis(drawn.into())
    }
}
