//! Links, addresses and routes of the network namespace the calling thread is in. Every call waits for the kernel's
//! answer and opens a socket of its own; none is for the packet path.

mod address;
mod error;
mod link;
mod prefix;
mod request;
mod route;

pub use address::{add_address, addresses, remove_address};
pub use error::NetlinkError;
pub use link::{AddressGeneration, Link, LinkChange, delete_link, link, links, set_link};
pub use prefix::{Prefix, PrefixError};
pub use route::{Route, add_route, remove_route, routes};

#[cfg(test)]
mod tests;
