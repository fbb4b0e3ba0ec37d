//! Making a frame fit the path to its peer (SPL-19).

use offload::{SplitCursor, SplitError, SplitLimits, VirtioHeader};
use packet::{IpVersion, Ipv4};
use wire::DATA_OVERHEAD;

/// What becomes of a frame.
#[derive(Debug)]
pub(super) enum Fit {
    /// Its pieces go out; one that is longer than the path carries travels in fragments.
    Send(SplitCursor),
    /// Its source is told this MTU.
    Refuse { mtu: usize },
}

/// Decides for a frame whose pieces should be at most `inner_max` long.
///
/// TCP is always cut to fit, so that nobody has to clamp its segment size. Other packets are refused where the protocol
/// has the source react to that: IPv4 that must not be fragmented, and IPv6 above the least MTU of its links. What may
/// neither be cut nor refused is sent whole, and the outer datagram is fragmented.
pub(super) fn fit(
    header: &VirtioHeader,
    packet: &[u8],
    inner_max: usize,
) -> Result<Fit, SplitError> {
    let limits = SplitLimits {
        inner_mtu: inner_max,
    };
    let carried = inner_max.max(unrefusable(packet));
    match SplitCursor::start(header, packet, &limits) {
        Ok(cursor) if cursor.piece_len_max() <= inner_max => Ok(Fit::Send(cursor)),
        Ok(cursor) => {
            if let Some(cut) = SplitCursor::resegment(header, packet, &limits) {
                return Ok(Fit::Send(cut));
            }
            if cursor.piece_len_max() <= carried {
                return Ok(Fit::Send(cursor));
            }
            Ok(Fit::Refuse {
                mtu: advertised(packet, inner_max),
            })
        }
        Err(SplitError::UdpTooBig { piece_len, .. }) if piece_len <= carried => {
            let limits = SplitLimits { inner_mtu: carried };
            SplitCursor::start(header, packet, &limits).map(Fit::Send)
        }
        Err(SplitError::UdpTooBig { .. }) => Ok(Fit::Refuse {
            mtu: advertised(packet, inner_max),
        }),
        Err(error) => Err(error),
    }
}

/// Packets up to this length must be carried, whatever the path.
fn unrefusable(packet: &[u8]) -> usize {
    match IpVersion::of(packet) {
        Some(IpVersion::V6) => IPV6_MTU_MIN,
        Some(IpVersion::V4) => match Ipv4::try_from(packet) {
            Ok(ip) if ip.fragment_word() & DONT_FRAGMENT == 0 => DATAGRAM_INNER_MAX,
            Ok(_) | Err(_) => 0,
        },
        None => 0,
    }
}

fn advertised(packet: &[u8], inner_max: usize) -> usize {
    match IpVersion::of(packet) {
        Some(IpVersion::V6) => inner_max.max(IPV6_MTU_MIN),
        Some(IpVersion::V4) | None => inner_max,
    }
}

/// The longest packet that one datagram carries.
const DATAGRAM_INNER_MAX: usize = 65_507 - DATA_OVERHEAD;
const DONT_FRAGMENT: u16 = 0x4000;
/// Every IPv6 link carries this.
const IPV6_MTU_MIN: usize = 1280;
