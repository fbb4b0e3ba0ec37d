//! Frames of a TUN queue: header and packet.

use std::io::{self, IoSlice};

use arrayvec::ArrayVec;
use offload::{ByteOrder, Frame, VIRTIO_LEN, VirtioHeader};
use ports::{ByteOrderTag, Framing, TunQueue};

/// Header and packet of a frame that was read.
pub(crate) fn parts(framing: Framing, frame: &[u8]) -> Option<(VirtioHeader, &[u8])> {
    match framing {
        Framing::Plain => Some((VirtioHeader::default(), frame)),
        Framing::Header { len, order } => Some((
            VirtioHeader::read(frame, byte_order(order))?,
            frame.get(len..)?,
        )),
    }
}

/// Writes a frame whose parts lie in an arena.
pub(crate) fn write_parts<T: TunQueue>(
    tun: &mut T,
    framing: Framing,
    arena: &[u8],
    frame: &Frame<'_>,
) -> io::Result<usize> {
    let mut slices = ArrayVec::<IoSlice<'_>, IOVEC_MAX>::new();
    if let Framing::Header { len, .. } = framing {
        slices.push(IoSlice::new(&frame.header));
        if len > VIRTIO_LEN {
            slices.push(IoSlice::new(
                ZEROS.get(..len - VIRTIO_LEN).unwrap_or(&ZEROS),
            ));
        }
    }
    for part in frame.parts {
        let bytes = part.of(arena).ok_or(io::ErrorKind::InvalidData)?;
        slices
            .try_push(IoSlice::new(bytes))
            .map_err(|_| io::ErrorKind::InvalidData)?;
    }
    tun.write(&slices)
}

/// Writes one packet that needs nothing done to it.
pub(crate) fn write_packet<T: TunQueue>(
    tun: &mut T,
    framing: Framing,
    packet: &[u8],
) -> io::Result<usize> {
    match framing {
        Framing::Plain => tun.write(&[IoSlice::new(packet)]),
        Framing::Header { len, .. } => {
            let header = ZEROS.get(..len).unwrap_or(&ZEROS);
            tun.write(&[IoSlice::new(header), IoSlice::new(packet)])
        }
    }
}

pub(crate) fn byte_order(tag: ByteOrderTag) -> ByteOrder {
    match tag {
        ByteOrderTag::Little => ByteOrder::Little,
        ByteOrderTag::Native => ByteOrder::Native,
        ByteOrderTag::Big => ByteOrder::Big,
    }
}

/// Largest IP packet.
pub(crate) const FRAME_LEN_MAX: usize = 65_535;

/// The kernel's bound on the parts of one write.
const IOVEC_MAX: usize = 1024;
/// A header of zeros: one packet without offload; also what stands behind the tenth byte of a longer header.
const ZEROS: [u8; 64] = [0; 64];
