use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::link::require;
use super::request::{About, change, dump};
use super::{NetlinkError, Prefix};

/// A unicast route of the main table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where it leads.
    pub destination: Prefix,
    /// The next hop, if it is not directly reachable.
    pub gateway: Option<IpAddr>,
    /// Its metric; the lowest wins.
    pub metric: u32,
    /// Whether the kernel made it by itself, for an address.
    pub automatic: bool,
}

/// Adds a route to the main table: `destination`, its host bits cleared, leads directly into `link`. A route that is
/// there already and leads into this link is fine.
///
/// # Errors
/// [`NetlinkError::AlreadyExists`] when the destination is routed elsewhere with the same metric, which is never
/// overwritten; otherwise see [`NetlinkError`].
pub fn add_route(link: &str, destination: Prefix) -> Result<(), NetlinkError> {
    let destination = destination.network();
    let subject = format!("route to {destination} through {link}");
    let message = message(require(link)?.index, destination);
    let about = About {
        operation: "adding a route",
        subject: &subject,
    };
    match change(
        RouteNetlinkMessage::NewRoute(message),
        NLM_F_CREATE | NLM_F_EXCL,
        about,
    ) {
        Err(NetlinkError::AlreadyExists { .. }) if leads_into(link, destination)? => Ok(()),
        other => other,
    }
}

/// Removes a route that [`add_route`] made.
///
/// # Errors
/// See [`NetlinkError`].
pub fn remove_route(link: &str, destination: Prefix) -> Result<(), NetlinkError> {
    let destination = destination.network();
    let subject = format!("route to {destination} through {link}");
    let message = message(require(link)?.index, destination);
    change(
        RouteNetlinkMessage::DelRoute(message),
        0,
        About {
            operation: "removing a route",
            subject: &subject,
        },
    )
}

/// The unicast routes of the main table that lead into `link`.
///
/// # Errors
/// See [`NetlinkError`].
pub fn routes(link: &str) -> Result<Vec<Route>, NetlinkError> {
    let index = require(link)?.index;
    let about = About {
        operation: "listing routes",
        subject: link,
    };
    let mut found = Vec::new();
    for family in [AddressFamily::Inet, AddressFamily::Inet6] {
        let mut message = RouteMessage::default();
        message.header.address_family = family;
        let answers = dump(RouteNetlinkMessage::GetRoute(message), about)?;
        found.extend(answers.iter().filter_map(|answer| read(answer, index)));
    }
    Ok(found)
}

fn leads_into(link: &str, destination: Prefix) -> Result<bool, NetlinkError> {
    Ok(routes(link)?
        .iter()
        .any(|route| route.destination == destination))
}

fn message(index: u32, destination: Prefix) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.destination_prefix_length = destination.prefix_len();
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Static;
    message.header.kind = RouteType::Unicast;
    match destination.address() {
        IpAddr::V4(_) => {
            message.header.address_family = AddressFamily::Inet;
            message.header.scope = RouteScope::Link;
        }
        IpAddr::V6(_) => {
            message.header.address_family = AddressFamily::Inet6;
            message.header.scope = RouteScope::Universe;
        }
    }
    message.attributes = vec![
        RouteAttribute::Destination(destination.address().into()),
        RouteAttribute::Oif(index),
    ];
    message
}

fn read(answer: &RouteNetlinkMessage, index: u32) -> Option<Route> {
    let RouteNetlinkMessage::NewRoute(message) = answer else {
        return None;
    };
    let header = &message.header;
    // A default route carries no destination.
    let mut destination = if header.address_family == AddressFamily::Inet {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED)
    } else {
        IpAddr::V6(Ipv6Addr::UNSPECIFIED)
    };
    let (mut gateway, mut metric, mut link, mut table) = (None, 0, None, u32::from(header.table));
    for attribute in &message.attributes {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the library lists every attribute the kernel has"
        )]
        match attribute {
            RouteAttribute::Destination(address) => destination = ip(address)?,
            RouteAttribute::Gateway(address) => gateway = ip(address),
            RouteAttribute::Priority(priority) => metric = *priority,
            RouteAttribute::Oif(oif) => link = Some(*oif),
            RouteAttribute::Table(number) => table = *number,
            _ => {}
        }
    }
    if link != Some(index)
        || table != u32::from(RouteHeader::RT_TABLE_MAIN)
        || header.kind != RouteType::Unicast
    {
        return None;
    }
    let destination = Prefix::new(destination, header.destination_prefix_length).ok()?;
    Some(Route {
        destination,
        gateway,
        metric,
        automatic: header.protocol == RouteProtocol::Kernel,
    })
}

fn ip(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(address) => Some(IpAddr::V4(*address)),
        RouteAddress::Inet6(address) => Some(IpAddr::V6(*address)),
        // Label-switched and unknown forms are not ours.
        RouteAddress::Mpls(_) | RouteAddress::Other(_) | _ => None,
    }
}
