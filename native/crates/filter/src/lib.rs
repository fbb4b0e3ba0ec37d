//! Packet rules with state: first match wins, no match means deny, answers of an allowed flow pass.
//!
//! [`Filter`] is the compiled policy: a verdict costs two address lookups, a few hash lookups and a binary search, however
//! many rules there are. [`FlowTable`] remembers flows, so that answers pass and only the first packet asks the rules.
//! [`Judge`] is the view of one shard on both.

mod chain;
mod classes;
mod exercise;
mod filter;
mod flows;
mod judge;
mod layers;
mod rule;
mod subject;

pub use exercise::exercise;
pub use filter::{Filter, RuleRow, Verdict};
pub use flows::{
    FlowLife, FlowNews, FlowPage, FlowPorts, FlowRow, FlowTable, PeerId, RecordsTaken,
    RecordsWanted, Sampling,
};
pub use judge::{Bench, Judge, Passage};
pub use rule::{Action, Detail, Direction, Directions, PortRange, Replies, Rule};
pub use subject::{Layer4, Subject};

#[cfg(test)]
mod tests;
