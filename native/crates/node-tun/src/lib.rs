//! The Node addon: TUN devices, the data plane and netlink for JavaScript. It converts and decides nothing.
#![allow(
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    reason = "the signatures are those of the JavaScript boundary"
)]

mod cipher;
mod counters;
mod driver;
mod engine;
mod error;
mod lanes;
mod netlink;
mod options;
mod ping;
mod profiler;
mod running;
mod status;
mod tun;
mod waiter;
