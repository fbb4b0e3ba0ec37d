//! Tests of the whole crate.

mod change;
mod flows;
mod model;
mod packets;
mod records;
mod rules;
