//! The data plane: shards, commands, events and counters, generic over the ports.
//!
//! The slow path holds an [`Engine`]: it applies commands, fetches events and reads counters. Each [`Shard`] runs on a
//! thread of its own that the driver makes.

mod cipher_speed;
mod command;
mod concealment;
mod counters;
mod driver;
mod endpoint;
mod engine;
mod event;
mod filter_body;
mod flow_rows;
mod framing;
mod gate;
mod guard;
mod lanes;
mod packet_queue;
mod path;
mod peer;
mod reader;
mod session;
mod shard;
mod shared;
mod silence;
mod stage;
mod state;
mod timers;

pub use cipher_speed::{CipherSpeed, MEASURED_PACKET_LEN, measure_ciphers};
pub use command::{CommandError, Problem};
pub use counters::{peer_counter_names, total_counter_names};
pub use driver::{LaneFamily, Ready, ShardClock, Wait, WantRoom, lane_bit};
pub use engine::{Engine, EngineLimits, Rows, Wake};
pub use filter::RecordsTaken;
pub use flow_rows::{flow_names, rule_counter_names};
pub use guard::ShardEnd;
pub use lanes::LANES_MAX;
pub use packet_queue::PacketQueue;
pub use shard::{
    LaneSockets, Shard, ShardLimits, ShardParts, TUN_FRAMES_PER_TURN, UDP_SLOTS_PER_TURN,
};
pub use shared::ShardState;
pub use stage::{StageTiming, shard_counter_names, stage_names};
