//! Links, addresses and routes.

use core::net::IpAddr;

use napi::{Env, Result};
use napi_derive::napi;
use sys::netlink::{self, LinkChange, Prefix};

use crate::error::Failure;
use crate::options::invalid;

/// What is known about an interface.
#[napi(object)]
pub struct LinkInfo {
    /// Number the kernel gave it.
    pub index: u32,
    /// Largest IP packet.
    pub mtu: u32,
    /// Whether it is up.
    pub up: bool,
}

/// An interface with its addresses.
#[napi(object)]
pub struct LinkWithAddresses {
    /// Number the kernel gave it.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Whether it is up.
    pub up: bool,
    /// Largest IP packet.
    pub mtu: u32,
    /// Addresses with their prefix length.
    pub addresses: Vec<String>,
}

/// What to change about an interface.
#[napi(object)]
pub struct LinkChangeOptions {
    /// Largest IP packet.
    pub mtu: Option<u32>,
    /// Whether it is up.
    pub up: Option<bool>,
    /// Packets the transmit queue holds.
    pub tx_queue_len: Option<u32>,
}

/// What is known about an interface; null when there is none of that name.
#[napi]
pub fn link_info(env: Env, name: String) -> Result<Option<LinkInfo>> {
    let link = told(&env, netlink::link(&name))?;
    Ok(link.map(|link| LinkInfo {
        index: link.index,
        mtu: link.mtu,
        up: link.up,
    }))
}

/// All interfaces of this network namespace.
#[napi]
pub fn links(env: Env) -> Result<Vec<LinkWithAddresses>> {
    let mut all = Vec::new();
    for link in told(&env, netlink::links())? {
        // An interface may go while we ask for its addresses.
        let addresses = netlink::addresses(&link.name).unwrap_or_default();
        all.push(LinkWithAddresses {
            index: link.index,
            up: link.up,
            mtu: link.mtu,
            addresses: addresses.iter().map(ToString::to_string).collect(),
            name: link.name,
        });
    }
    Ok(all)
}

/// Changes MTU, state or queue length.
#[napi]
pub fn set_link(env: Env, name: String, change: LinkChangeOptions) -> Result<()> {
    let change = LinkChange {
        up: change.up,
        mtu: change.mtu,
        transmit_queue_len: change.tx_queue_len,
        ..LinkChange::default()
    };
    told(&env, netlink::set_link(&name, &change))
}

/// Deletes an interface.
#[napi]
pub fn delete_link(env: Env, name: String) -> Result<()> {
    told(&env, netlink::delete_link(&name))
}

/// Gives an interface an address, written as `address/length`.
#[napi]
pub fn add_address(env: Env, name: String, cidr: String) -> Result<()> {
    told(&env, netlink::add_address(&name, prefix(&env, &cidr)?))
}

/// Takes an address away.
#[napi]
pub fn remove_address(env: Env, name: String, cidr: String) -> Result<()> {
    told(&env, netlink::remove_address(&name, prefix(&env, &cidr)?))
}

/// Sends a range through an interface.
#[napi]
pub fn add_route(env: Env, name: String, cidr: String) -> Result<()> {
    told(&env, netlink::add_route(&name, prefix(&env, &cidr)?))
}

/// Takes a route away.
#[napi]
pub fn remove_route(env: Env, name: String, cidr: String) -> Result<()> {
    told(&env, netlink::remove_route(&name, prefix(&env, &cidr)?))
}

/// Ranges that go through an interface by the main table, those that the kernel made for its addresses left out.
#[napi]
pub fn routes(env: Env, name: String) -> Result<Vec<String>> {
    let routes = told(&env, netlink::routes(&name))?;
    Ok(routes
        .iter()
        .filter(|route| !route.automatic)
        .map(|route| route.destination.to_string())
        .collect())
}

fn told<T>(env: &Env, result: core::result::Result<T, netlink::NetlinkError>) -> Result<T> {
    result.map_err(|error| Failure::from(error).into_error(env))
}

fn prefix(env: &Env, cidr: &str) -> Result<Prefix> {
    let parsed = cidr.split_once('/').and_then(|(address, len)| {
        let address: IpAddr = address.parse().ok()?;
        Prefix::new(address, len.parse().ok()?).ok()
    });
    parsed.ok_or_else(|| {
        invalid(format!("\"{cidr}\" is not an address with a prefix length")).into_error(env)
    })
}
