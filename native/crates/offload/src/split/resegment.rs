//! Cutting one TCP packet that is too long for where it goes.

use packet::{IpVersion, Ipv4, Ipv6, Tcp, checksum, flags, protocol};

use super::{SplitCursor, SplitLimits, cut_to_declared};
use crate::{VirtioHeader, gso};

impl SplitCursor {
    /// Treats a lone TCP packet as a super-frame whose segments fit `limits`. `header` and `packet` are those of
    /// [`SplitCursor::start`], which has taken them as one piece.
    ///
    /// `None` when the packet is no TCP, is a fragment, opens or resets a connection, carries urgent data, has a wrong
    /// checksum (cutting it would make it right), or has headers that leave no room.
    #[must_use]
    pub fn resegment(header: &VirtioHeader, packet: &[u8], limits: &SplitLimits) -> Option<Self> {
        let packet = cut_to_declared(packet).ok()?;
        let (gso_type, l4, pseudo) = match IpVersion::of(packet)? {
            IpVersion::V4 => {
                let ip = Ipv4::try_from(packet).ok()?;
                let whole = ip.protocol() == protocol::TCP && !ip.is_fragment();
                let pseudo = ip.pseudo_header(ip.payload().len());
                (gso::TCP4, whole.then_some(ip.payload())?, pseudo)
            }
            IpVersion::V6 => {
                let ip = Ipv6::try_from(packet).ok()?;
                let upper = ip.upper_layer()?;
                let whole = upper.protocol == protocol::TCP && !upper.is_fragment;
                let l4 = whole.then_some(packet.get(upper.offset..)?)?;
                (gso::TCP6, l4, ip.pseudo_header(protocol::TCP, l4.len()))
            }
        };
        let tcp = Tcp::try_from(l4).ok()?;
        if tcp.flags() & (flags::SYN | flags::RST | flags::URG) != 0 {
            return None;
        }
        if !header.needs_checksum() && checksum::finish(checksum::add(l4, pseudo)) != 0 {
            return None;
        }
        let header_len = packet.len() - tcp.payload().len();
        let room = limits.inner_mtu.checked_sub(header_len)?;
        let header = VirtioHeader {
            gso_type,
            segment_size: u16::try_from(room).ok().filter(|room| *room > 0)?,
            ..*header
        };
        Self::start(&header, packet, limits).ok()
    }
}
