use core::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::link::require;
use super::request::{About, change, dump};
use super::{NetlinkError, Prefix};

/// Adds an address to a link. An address that is there already, with this length, is fine. IPv6 addresses are usable at
/// once: duplicate detection is off.
///
/// # Errors
/// See [`NetlinkError`].
pub fn add_address(link: &str, prefix: Prefix) -> Result<(), NetlinkError> {
    let subject = format!("address {prefix} on {link}");
    let message = message(require(link)?.index, prefix);
    let about = About {
        operation: "adding an address",
        subject: &subject,
    };
    match change(
        RouteNetlinkMessage::NewAddress(message),
        NLM_F_CREATE | NLM_F_EXCL,
        about,
    ) {
        Err(NetlinkError::AlreadyExists { .. }) if addresses(link)?.contains(&prefix) => Ok(()),
        other => other,
    }
}

/// Removes an address from a link.
///
/// # Errors
/// See [`NetlinkError`].
pub fn remove_address(link: &str, prefix: Prefix) -> Result<(), NetlinkError> {
    let subject = format!("address {prefix} on {link}");
    let message = message(require(link)?.index, prefix);
    change(
        RouteNetlinkMessage::DelAddress(message),
        0,
        About {
            operation: "removing an address",
            subject: &subject,
        },
    )
}

/// The addresses of a link.
///
/// # Errors
/// See [`NetlinkError`].
pub fn addresses(link: &str) -> Result<Vec<Prefix>, NetlinkError> {
    let index = require(link)?.index;
    let about = About {
        operation: "listing addresses",
        subject: link,
    };
    let answers = dump(
        RouteNetlinkMessage::GetAddress(AddressMessage::default()),
        about,
    )?;
    Ok(answers
        .iter()
        .filter_map(|answer| read(answer, index))
        .collect())
}

fn message(index: u32, prefix: Prefix) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.index = index;
    message.header.prefix_len = prefix.prefix_len();
    match prefix.address() {
        IpAddr::V4(_) => message.header.family = AddressFamily::Inet,
        IpAddr::V6(_) => {
            message.header.family = AddressFamily::Inet6;
            message.header.flags = AddressHeaderFlags::Nodad;
        }
    }
    message.attributes = vec![
        AddressAttribute::Local(prefix.address()),
        AddressAttribute::Address(prefix.address()),
    ];
    message
}

fn read(answer: &RouteNetlinkMessage, index: u32) -> Option<Prefix> {
    let RouteNetlinkMessage::NewAddress(message) = answer else {
        return None;
    };
    if message.header.index != index {
        return None;
    }
    // On a point-to-point link `Address` is the far end and `Local` ours; IPv6 often has `Address` only.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library lists every attribute the kernel has"
    )]
    let of = |wanted_local: bool| {
        message
            .attributes
            .iter()
            .find_map(|attribute| match attribute {
                AddressAttribute::Local(address) if wanted_local => Some(*address),
                AddressAttribute::Address(address) if !wanted_local => Some(*address),
                _ => None,
            })
    };
    let address = of(true).or_else(|| of(false))?;
    Prefix::new(address, message.header.prefix_len).ok()
}
