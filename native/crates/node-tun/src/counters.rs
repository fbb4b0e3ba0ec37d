//! Names of counter columns.

use napi_derive::napi;

/// Columns of `Engine.readPeerCounters`. Ages are in milliseconds; 2^64 − 1 = never.
#[napi]
pub fn peer_counter_names() -> Vec<&'static str> {
    engine::peer_counter_names()
}

/// Columns of `Engine.readShardCounters`.
#[napi]
pub fn shard_counter_names() -> Vec<&'static str> {
    engine::shard_counter_names().to_vec()
}

/// Stages of a worker, in the order of their rows.
#[napi]
pub fn stage_names() -> Vec<&'static str> {
    engine::stage_names().to_vec()
}

/// Columns of `Engine.readTotals`.
#[napi]
pub fn total_counter_names() -> Vec<&'static str> {
    engine::total_counter_names().to_vec()
}

/// Columns of `Engine.readRuleCounters`.
#[napi]
pub fn rule_counter_names() -> Vec<&'static str> {
    engine::rule_counter_names().to_vec()
}

/// Columns of `Engine.readFlows`.
#[napi]
pub fn flow_names() -> Vec<&'static str> {
    engine::flow_names().to_vec()
}
