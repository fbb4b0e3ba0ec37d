use std::io;

use ports::{ByteOrderTag, FeatureState, Framing, OffReason};

use super::control::Control;
use super::open::TunOffload;
use super::probe;
use crate::errno;

/// Which offload families a device carries, in both directions, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// TCP super-frames, IPv4 and IPv6.
    pub tcp: FeatureState,
    /// UDP super-frames, IPv4 and IPv6.
    pub udp: FeatureState,
}

impl Granted {
    /// Nothing, for one reason.
    #[must_use]
    pub const fn nothing(reason: OffReason) -> Self {
        Self {
            tcp: FeatureState::Off(reason),
            udp: FeatureState::Off(reason),
        }
    }

    /// The mask for `TUNSETOFFLOAD`. Every set it builds is closed: a segmentation bit brings the checksum bit, the two
    /// versions of the Internet protocol go together, and the ECN bit goes with TCP. UFO is never among them.
    pub(super) const fn mask(self, checksum: Checksum) -> u32 {
        let mut mask = 0;
        if self.tcp.is_on() {
            mask |= libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
        }
        if self.udp.is_on() {
            mask |= libc::TUN_F_CSUM | libc::TUN_F_USO4 | libc::TUN_F_USO6;
        }
        match checksum {
            Checksum::Partial => mask | libc::TUN_F_CSUM,
            Checksum::Finished => mask,
        }
    }
}

/// Whether the kernel may leave checksums to us when no segmentation is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checksum {
    /// It may.
    Partial,
    /// It finishes them.
    Finished,
}

/// What was agreed with the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreement {
    pub(super) framing: Framing,
    pub(super) granted: Granted,
    pub(super) checksum: Checksum,
}

/// Agrees on framing and offloads. The mode follows what the device says it is (OPN-08); header length and byte order
/// are set each time, since a persistent device keeps those of its previous owner (OPN-14).
pub(super) fn negotiate(
    control: &impl Control,
    device_flags: u32,
    wanted: TunOffload,
) -> io::Result<Agreement> {
    if device_flags & VNET_HDR == 0 {
        // Also a device without header hands out super-frames if a previous owner asked for them.
        match control.set_offload(0) {
            Err(error) if !matches!(errno::of(&error), libc::EINVAL | libc::ENOTTY) => {
                return Err(error);
            }
            _ => {}
        }
        let reason = match wanted {
            TunOffload::Off => OffReason::Switch,
            TunOffload::Auto | TunOffload::Tcp => OffReason::Unsupported { errno: 0 },
        };
        let granted = Granted::nothing(reason);
        return Ok(Agreement {
            framing: Framing::Plain,
            granted,
            checksum: Checksum::Finished,
        });
    }
    let order = match control.set_little_endian() {
        Ok(()) => ByteOrderTag::Little,
        Err(_) => ByteOrderTag::Native,
    };
    // A refusal is fine: what counts is what is read back.
    let _ = control.set_header_len(HEADER_LEN);
    let framing = Framing::Header {
        len: control.header_len()?,
        order,
    };
    let (granted, checksum) = climb(control, wanted)?;
    Ok(Agreement {
        framing,
        granted,
        checksum,
    })
}

/// Writes one super-frame per family that the kernel must discard; a family it calls invalid is given up (FBK-10).
pub(super) fn probe_families(control: &impl Control, agreement: &mut Agreement) -> io::Result<()> {
    let Framing::Header { len, order } = agreement.framing else {
        return Ok(());
    };
    let before = agreement.granted;
    let probed = |state: FeatureState, family: probe::Family| {
        if !state.is_on() {
            return state;
        }
        let refused = probe::frames(family, len, order)
            .iter()
            .filter_map(|frame| control.write(frame).err())
            .map(|error| errno::of(&error))
            .find(|errno| *errno == libc::EINVAL);
        refused.map_or(state, |errno| {
            FeatureState::Off(OffReason::Fallback { errno })
        })
    };
    agreement.granted.tcp = probed(before.tcp, probe::Family::Tcp);
    agreement.granted.udp = probed(before.udp, probe::Family::Udp);
    if agreement.granted == before {
        return Ok(());
    }
    control.set_offload(agreement.granted.mask(agreement.checksum))
}

/// The ladder: TCP and UDP, TCP, checksums only, nothing.
fn climb(control: &impl Control, wanted: TunOffload) -> io::Result<(Granted, Checksum)> {
    let mut granted = match wanted {
        TunOffload::Auto => Granted {
            tcp: FeatureState::On,
            udp: FeatureState::On,
        },
        TunOffload::Tcp => Granted {
            tcp: FeatureState::On,
            udp: FeatureState::Off(OffReason::Switch),
        },
        TunOffload::Off => {
            control.set_offload(0)?;
            return Ok((Granted::nothing(OffReason::Switch), Checksum::Finished));
        }
    };
    while granted.tcp.is_on() {
        let Err(error) = control.set_offload(granted.mask(Checksum::Partial)) else {
            return Ok((granted, Checksum::Partial));
        };
        let refused = FeatureState::Off(OffReason::Unsupported {
            errno: errno::of(&error),
        });
        if granted.udp.is_on() {
            granted.udp = refused;
        } else {
            granted.tcp = refused;
        }
    }
    if control.set_offload(granted.mask(Checksum::Partial)).is_ok() {
        return Ok((granted, Checksum::Partial));
    }
    control.set_offload(0)?;
    Ok((granted, Checksum::Finished))
}

/// The length asked for: the header without the field for merged buffers.
const HEADER_LEN: usize = 10;

const VNET_HDR: u32 = libc::IFF_VNET_HDR.cast_unsigned();

#[cfg(test)]
#[path = "negotiate_tests.rs"]
mod tests;
