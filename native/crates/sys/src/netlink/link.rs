use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, In6AddrGenMode, LinkAttribute, LinkFlags, LinkMessage,
};

use super::NetlinkError;
use super::request::{About, change, dump, get};

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its index.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Whether an administrator brought it up.
    pub up: bool,
    /// Whether it is a loopback interface.
    pub loopback: bool,
    /// Largest IP packet it takes.
    pub mtu: u32,
    /// Length of its transmit queue, in packets.
    pub transmit_queue_len: u32,
    /// Most segments of one super-packet the kernel gives it.
    pub gso_segments_max: u32,
}

/// What to change about a link; `None` leaves a property as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkChange {
    /// Bring it up or down.
    pub up: Option<bool>,
    /// Largest IP packet.
    pub mtu: Option<u32>,
    /// Length of the transmit queue, in packets.
    pub transmit_queue_len: Option<u32>,
    /// Most segments of one super-packet the kernel gives it.
    pub gso_segments_max: Option<u32>,
    /// Whether the kernel gives it an IPv6 link-local address by itself when it comes up.
    pub address_generation: Option<AddressGeneration>,
}

/// Whether the kernel gives a link an IPv6 link-local address by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressGeneration {
    /// No address but what is set by hand; also no router solicitations.
    Manual,
    /// One derived from the hardware address or a secret.
    Automatic,
}

/// All links.
///
/// # Errors
/// See [`NetlinkError`].
pub fn links() -> Result<Vec<Link>, NetlinkError> {
    let about = About {
        operation: "listing links",
        subject: "",
    };
    let answers = dump(RouteNetlinkMessage::GetLink(LinkMessage::default()), about)?;
    Ok(answers.iter().filter_map(read).collect())
}

/// The link with this name, if there is one.
///
/// # Errors
/// See [`NetlinkError`].
pub fn link(name: &str) -> Result<Option<Link>, NetlinkError> {
    let about = About {
        operation: "reading a link",
        subject: name,
    };
    let mut message = LinkMessage::default();
    message
        .attributes
        .push(LinkAttribute::IfName(name.to_owned()));
    match get(RouteNetlinkMessage::GetLink(message), about) {
        Ok(answers) => Ok(answers.iter().find_map(read)),
        Err(error) if error.errno() == libc::ENODEV => Ok(None),
        Err(error) => Err(error),
    }
}

/// Changes properties of a link.
///
/// # Errors
/// See [`NetlinkError`]. Properties are applied in one request; the kernel applies those before a refused one.
pub fn set_link(name: &str, wanted: &LinkChange) -> Result<(), NetlinkError> {
    let mut message = LinkMessage::default();
    message.header.index = require(name)?.index;
    if let Some(up) = wanted.up {
        message.header.change_mask = LinkFlags::Up;
        message.header.flags = if up {
            LinkFlags::Up
        } else {
            LinkFlags::empty()
        };
    }
    let attributes = [
        wanted.mtu.map(LinkAttribute::Mtu),
        wanted.transmit_queue_len.map(LinkAttribute::TxQueueLen),
        wanted.gso_segments_max.map(LinkAttribute::GsoMaxSegs),
        wanted.address_generation.map(address_generation),
    ];
    message.attributes.extend(attributes.into_iter().flatten());
    change(
        RouteNetlinkMessage::SetLink(message),
        0,
        About {
            operation: "changing a link",
            subject: name,
        },
    )
}

/// Deletes a link; for a persistent TUN this is what ends it.
///
/// # Errors
/// See [`NetlinkError`].
pub fn delete_link(name: &str) -> Result<(), NetlinkError> {
    let mut message = LinkMessage::default();
    message.header.index = require(name)?.index;
    change(
        RouteNetlinkMessage::DelLink(message),
        0,
        About {
            operation: "deleting a link",
            subject: name,
        },
    )
}

/// The link with this name, or the error that there is none.
pub(super) fn require(name: &str) -> Result<Link, NetlinkError> {
    link(name)?.ok_or_else(|| NetlinkError::NoSuchLink {
        name: name.to_owned(),
    })
}

fn address_generation(mode: AddressGeneration) -> LinkAttribute {
    let mode = match mode {
        AddressGeneration::Manual => In6AddrGenMode::None,
        AddressGeneration::Automatic => In6AddrGenMode::Eui64,
    };
    LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(vec![AfSpecInet6::AddrGenMode(
        mode,
    )])])
}

fn read(answer: &RouteNetlinkMessage) -> Option<Link> {
    let RouteNetlinkMessage::NewLink(message) = answer else {
        return None;
    };
    let mut link = Link {
        index: message.header.index,
        name: String::new(),
        up: message.header.flags.contains(LinkFlags::Up),
        loopback: message.header.flags.contains(LinkFlags::Loopback),
        mtu: 0,
        transmit_queue_len: 0,
        gso_segments_max: 0,
    };
    for attribute in &message.attributes {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the library lists every attribute the kernel has"
        )]
        match attribute {
            LinkAttribute::IfName(name) => link.name.clone_from(name),
            LinkAttribute::Mtu(mtu) => link.mtu = *mtu,
            LinkAttribute::TxQueueLen(len) => link.transmit_queue_len = *len,
            LinkAttribute::GsoMaxSegs(segments) => link.gso_segments_max = *segments,
            _ => {}
        }
    }
    Some(link)
}
