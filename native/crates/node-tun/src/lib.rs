//! The Node addon: TUN devices, the data plane and netlink for JavaScript. It converts and decides nothing.

mod counters;
mod engine;
mod error;
mod netlink;
mod options;
mod ping;
mod running;
mod status;
mod waiter;
