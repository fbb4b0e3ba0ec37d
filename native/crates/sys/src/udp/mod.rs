//! UDP sockets that move batches: segmentation and merging by the kernel where it carries them, several datagrams per
//! system call otherwise, one by one as the last resort.

mod address;
mod bind;
mod calls;
mod control_message;
mod discovery;
mod error;
mod option;
mod path_mtu;
mod receive;
mod send;
mod socket;

pub(crate) use address::Name;
pub use bind::{ShardSockets, Shards, bind_shards};
pub use error::BindError;
pub use path_mtu::path_mtu;
pub use socket::{Direction, EqualTail, Family, Switch, UdpOptions, UdpSocket};

#[cfg(test)]
mod tests;
