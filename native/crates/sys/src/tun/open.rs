use std::io;
use std::os::fd::OwnedFd;

use ports::Framing;

use super::control::{Control, Device};
use super::negotiate::{Agreement, Granted, negotiate, probe_families};
use super::{OpenError, TunFd};
use crate::netlink::{AddressGeneration, LinkChange, set_link};

/// How to open a TUN device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunOptions {
    /// Interface name, 1 to 15 bytes; `%d` in it is replaced by a free number.
    pub name: String,
    /// Queues, one per shard; a flow stays on one of them.
    pub queues: usize,
    /// Which offloads to ask for.
    pub offload: TunOffload,
    /// Largest IP packet; `None` leaves the kernel's 1,500.
    pub mtu: Option<u32>,
    /// Length of the transmit queue in packets.
    pub transmit_queue_len: u32,
}

impl Default for TunOptions {
    fn default() -> Self {
        Self {
            name: "tun%d".to_owned(),
            queues: 1,
            offload: TunOffload::Auto,
            mtu: None,
            transmit_queue_len: 1_000,
        }
    }
}

/// Which offloads to ask the kernel for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TunOffload {
    /// All that weft can do: TCP and UDP.
    #[default]
    Auto,
    /// TCP only.
    Tcp,
    /// None; frames are plain packets.
    Off,
}

/// An open TUN device.
#[derive(Debug)]
pub struct Tun {
    name: String,
    agreement: Agreement,
    queues: Vec<Device>,
}

impl Tun {
    /// Creates a device, agrees on offloads, sets it up and brings it up.
    ///
    /// The kernel assigns no IPv6 link-local address to it. It ends when all of its queues are closed.
    ///
    /// # Errors
    /// See [`OpenError`]; nothing remains of the device then.
    pub fn open(options: &TunOptions) -> Result<Self, OpenError> {
        check(options)?;
        let first = Device::open().map_err(|source| {
            OpenError::from_kernel("opening /dev/net/tun", &options.name, source)
        })?;
        let features = first.features().map_err(|source| {
            OpenError::from_kernel("asking for TUN features", &options.name, source)
        })?;
        let flags = wanted_flags(options, features);
        attach(&first, &options.name, flags | EXCLUSIVE)?;
        let (name, agreement) = agree(&first, options.offload)?;
        let mut tun = Self {
            name,
            agreement,
            queues: vec![first],
        };
        for _ in 1..options.queues {
            let queue = Device::open().map_err(|source| {
                OpenError::from_kernel("opening /dev/net/tun", &tun.name, source)
            })?;
            attach(&queue, &tun.name, flags)?;
            tun.queues.push(queue);
        }
        tun.configure(options)?;
        tun.probe()?;
        Ok(tun)
    }

    /// Takes over a descriptor somebody else opened: a service manager, a container runtime. Its mode follows what the
    /// device says it is, not `offload`; the device must be up already for offloads to be probed.
    ///
    /// # Errors
    /// [`OpenError::NotTun`] for a TAP device or another kind of descriptor; otherwise see [`OpenError`].
    pub fn adopt(fd: OwnedFd, offload: TunOffload) -> Result<Self, OpenError> {
        let device = Device { fd };
        let (name, agreement) = agree(&device, offload)?;
        device
            .set_non_blocking()
            .map_err(|source| OpenError::Refused {
                operation: "making the descriptor non-blocking",
                source,
            })?;
        let mut tun = Self {
            name,
            agreement,
            queues: vec![device],
        };
        tun.probe()?;
        Ok(tun)
    }

    /// The name of the interface, as the kernel knows it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which offload families the device carries, and why not.
    #[must_use]
    pub const fn granted(&self) -> Granted {
        self.agreement.granted
    }

    /// What frames look like, on every queue.
    #[must_use]
    pub const fn framing(&self) -> Framing {
        self.agreement.framing
    }

    /// Hands out the queues; a second call returns none.
    pub fn take_queues(&mut self) -> Vec<TunFd> {
        let framing = self.agreement.framing;
        self.queues
            .drain(..)
            .map(|queue| TunFd::new(queue.fd, framing))
            .collect()
    }

    /// Keeps the device, with its addresses and routes, after all queues are closed. Call it before
    /// [`Tun::take_queues`]; delete the link to end the device.
    ///
    /// # Errors
    /// What the kernel says; `NotConnected` when the queues were taken.
    pub fn keep_after_close(&self) -> io::Result<()> {
        self.queues
            .first()
            .map_or(Err(io::ErrorKind::NotConnected.into()), |queue| {
                queue.set_persistent(1)
            })
    }

    fn configure(&self, options: &TunOptions) -> Result<(), OpenError> {
        // Kernels without IPv6 have no such property, and then need none.
        let manual = LinkChange {
            address_generation: Some(AddressGeneration::Manual),
            ..LinkChange::default()
        };
        let _ = set_link(&self.name, &manual);
        let change = LinkChange {
            up: Some(true),
            mtu: options.mtu,
            transmit_queue_len: Some(options.transmit_queue_len),
            ..LinkChange::default()
        };
        set_link(&self.name, &change).map_err(|source| OpenError::Configure { source })
    }

    fn probe(&mut self) -> Result<(), OpenError> {
        let Some(queue) = self.queues.first() else {
            return Ok(());
        };
        probe_families(queue, &mut self.agreement).map_err(|source| OpenError::Refused {
            operation: "lowering the offload mask",
            source,
        })
    }
}

/// Reads back what the device is and agrees on the rest.
fn agree(device: &Device, offload: TunOffload) -> Result<(String, Agreement), OpenError> {
    let identity = device
        .identity()
        .map_err(|_| OpenError::NotTun { flags: 0 })?;
    if identity.flags & DEVICE_KIND != TUN {
        return Err(OpenError::NotTun {
            flags: identity.flags,
        });
    }
    let agreement = negotiate(device, identity.flags, offload)
        .map_err(|source| OpenError::from_kernel("setting TUN offloads", &identity.name, source))?;
    Ok((identity.name, agreement))
}

fn attach(device: &Device, name: &str, flags: u32) -> Result<(), OpenError> {
    device
        .attach(name, flags)
        .map_err(|source| OpenError::from_kernel("creating the TUN device", name, source))
}

fn wanted_flags(options: &TunOptions, features: u32) -> u32 {
    let header = match options.offload {
        TunOffload::Auto | TunOffload::Tcp => VNET_HDR & features,
        TunOffload::Off => 0,
    };
    let queues = if options.queues > 1 { MULTI_QUEUE } else { 0 };
    TUN | NO_PACKET_INFORMATION | header | queues
}

fn check(options: &TunOptions) -> Result<(), OpenError> {
    let name = options.name.as_str();
    let fits = (1..=NAME_LEN_MAX).contains(&name.len()) && name != "." && name != "..";
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    // The kernel numbers a name by the pattern %d.
    if !fits || !name.replacen("%d", "", 1).bytes().all(allowed) {
        return Err(OpenError::InvalidName {
            name: name.to_owned(),
        });
    }
    if !(1..=QUEUES_MAX).contains(&options.queues) {
        return Err(OpenError::InvalidQueues {
            queues: options.queues,
            queues_max: QUEUES_MAX,
        });
    }
    Ok(())
}

const NAME_LEN_MAX: usize = 15;
/// The kernel's limit per device.
const QUEUES_MAX: usize = 256;

const TUN: u32 = libc::IFF_TUN.cast_unsigned();
const DEVICE_KIND: u32 = TUN | libc::IFF_TAP.cast_unsigned();
const NO_PACKET_INFORMATION: u32 = libc::IFF_NO_PI.cast_unsigned();
const VNET_HDR: u32 = libc::IFF_VNET_HDR.cast_unsigned();
const MULTI_QUEUE: u32 = libc::IFF_MULTI_QUEUE.cast_unsigned();
/// Without it, a device of the same name that another program holds would silently be shared.
const EXCLUSIVE: u32 = libc::IFF_TUN_EXCL.cast_unsigned();

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> TunOptions {
        TunOptions {
            name: name.to_owned(),
            ..TunOptions::default()
        }
    }

    #[test]
    fn names_the_kernel_would_refuse_are_refused_with_advice() {
        for name in [
            "",
            "sixteen-letters-",
            "a/b",
            "a b",
            "a:1",
            ".",
            "..",
            "%s",
            "weft%d%d",
        ] {
            let error = check(&named(name)).unwrap_err();
            assert_eq!(error.code(), "invalid_option", "{name}");
        }
        for name in ["weft0", "weft%d", "fifteen-letters", "a.b_c"] {
            assert!(check(&named(name)).is_ok(), "{name}");
        }
    }

    #[test]
    fn the_number_of_queues_has_bounds() {
        for (queues, fine) in [(0, false), (1, true), (256, true), (257, false)] {
            let options = TunOptions {
                queues,
                ..TunOptions::default()
            };
            assert_eq!(check(&options).is_ok(), fine, "{queues}");
        }
    }

    /// OPN-07: without the feature no header is asked for.
    #[test]
    fn opn_07_without_the_feature_no_header_is_asked_for() {
        let all = VNET_HDR | MULTI_QUEUE | TUN;

        assert_ne!(wanted_flags(&named("a"), all) & VNET_HDR, 0);
        assert_eq!(wanted_flags(&named("a"), TUN) & VNET_HDR, 0);
    }

    /// P-48: flags that were measured to bring nothing, and those of TAP devices, are not asked for.
    #[test]
    fn p_48_no_flag_is_asked_for_without_a_reason() {
        for queues in [1, 4] {
            let options = TunOptions {
                queues,
                ..TunOptions::default()
            };
            let known = TUN | NO_PACKET_INFORMATION | VNET_HDR | MULTI_QUEUE;

            assert_eq!(wanted_flags(&options, u32::MAX) & !known, 0);
        }
    }

    /// ORD-09, P-49: bursts of super-frames fit the transmit queue.
    #[test]
    fn p_49_the_default_transmit_queue_holds_at_least_a_thousand_packets() {
        assert!(TunOptions::default().transmit_queue_len >= 1_000);
    }

    /// OPN-10: with offload off no header is asked for.
    #[test]
    fn opn_10_with_offload_off_no_header_is_asked_for() {
        let options = TunOptions {
            offload: TunOffload::Off,
            ..TunOptions::default()
        };

        assert_eq!(wanted_flags(&options, u32::MAX) & VNET_HDR, 0);
    }
}
