//! A TUN queue for programs that want packets, not frames.

use std::io;

use offload::{
    ByteOrder, Checksum, ExpandScratch, Frame, MergeLimits, Merger, PushOutcome, SplitCursor,
    SplitLimits,
};
use ports::{Framing, TunQueue};

use crate::framing::{FRAME_LEN_MAX, byte_order, parts, write_packet, write_parts};

/// Reads single packets out of super-frames and writes packets merged where the device takes them so.
#[derive(Debug)]
pub struct PacketQueue<T> {
    tun: T,
    frame: Vec<u8>,
    rest: Option<Rest>,
    arena: Vec<u8>,
    merger: Merger,
    limits: SplitLimits,
    scratch: [Vec<u8>; 2],
}

/// A frame that did not fit into the caller's memory.
#[derive(Debug)]
struct Rest {
    cursor: SplitCursor,
    len: usize,
}

impl<T: TunQueue> PacketQueue<T> {
    /// Takes over a queue.
    #[must_use]
    pub fn new(tun: T, merge: MergeLimits) -> Self {
        let frame = vec![0; tun.framing().header_len() + FRAME_LEN_MAX];
        PacketQueue {
            tun,
            frame,
            rest: None,
            arena: Vec::new(),
            limits: SplitLimits {
                inner_mtu: merge.inner_mtu,
            },
            merger: Merger::new(merge),
            scratch: [vec![0; FRAME_LEN_MAX], vec![0; FRAME_LEN_MAX]],
        }
    }

    /// The queue underneath.
    pub fn get_ref(&self) -> &T {
        &self.tun
    }

    /// Reads waiting packets, back to back, their lengths beside them. Returns how many; 0 when none is waiting or the next
    /// one does not fit. Frames that break the rules are skipped.
    ///
    /// # Errors
    /// What the kernel says; packets read before are lost only if there are none.
    pub fn read(&mut self, into: &mut [u8], lengths: &mut [u32]) -> io::Result<usize> {
        let (mut used, mut count) = (0, 0);
        while count < lengths.len() {
            let mut rest = match self.rest.take() {
                Some(rest) => rest,
                None => match self.next_frame() {
                    Ok(Some(rest)) => rest,
                    Ok(None) => continue,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if count == 0 => return Err(error),
                    Err(_) => break,
                },
            };
            let Some((_, packet)) = parts(
                self.tun.framing(),
                self.frame.get(..rest.len).unwrap_or_default(),
            ) else {
                continue;
            };
            let room = into.get_mut(used..).unwrap_or_default();
            let written = rest.cursor.write_next(packet, room);
            let left = rest.cursor.pieces_left();
            if left > 0 {
                self.rest = Some(rest);
            }
            let (Some(len), Some(place)) = (written, lengths.get_mut(count)) else {
                break;
            };
            *place = u32::try_from(len).unwrap_or(u32::MAX);
            used += len;
            count += 1;
        }
        Ok(count)
    }

    /// Writes packets that lie back to back, merged where the device takes them so. Returns how many the device took.
    ///
    /// # Errors
    /// The first refusal of the kernel; all packets were tried. `InvalidInput` when the lengths exceed the bytes.
    pub fn write(&mut self, packets: &[u8], lengths: &[u32]) -> io::Result<usize> {
        let total: usize = lengths.iter().map(|len| *len as usize).sum();
        if total > packets.len() || u32::try_from(total).is_err() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.arena.clear();
        self.arena.extend_from_slice(packets);
        let mut outcome = Written::default();
        let mut start = 0;
        for len in lengths {
            let mut pushed = self
                .merger
                .push(&self.arena, start, *len, 0, Checksum::Unverified);
            if pushed == PushOutcome::Full {
                self.flush(&mut outcome);
                pushed = self
                    .merger
                    .push(&self.arena, start, *len, 0, Checksum::Unverified);
            }
            if pushed == PushOutcome::Malformed {
                outcome
                    .error
                    .get_or_insert(io::ErrorKind::InvalidData.into());
            }
            start += len;
        }
        self.flush(&mut outcome);
        outcome.error.map_or(Ok(outcome.packets), Err)
    }

    fn next_frame(&mut self) -> io::Result<Option<Rest>> {
        let len = self.tun.read(&mut self.frame)?;
        let Some((header, packet)) = parts(
            self.tun.framing(),
            self.frame.get(..len).unwrap_or_default(),
        ) else {
            return Ok(None);
        };
        let cursor = SplitCursor::start(&header, packet, &self.limits).ok();
        Ok(cursor.map(|cursor| Rest { cursor, len }))
    }

    fn flush(&mut self, outcome: &mut Written) {
        let framing = self.tun.framing();
        let order = order_of(framing);
        let (tun, [frame_scratch, piece_scratch]) = (&mut self.tun, &mut self.scratch);
        let mut refused = None;
        self.merger.flush(&mut self.arena, order, |arena, frame| {
            match write_parts(tun, framing, arena, &frame) {
                Ok(_) => outcome.packets += frame.packets,
                Err(error) if error.kind() == io::ErrorKind::InvalidInput && frame.packets > 1 => {
                    refused = refused.or(frame.family);
                    let mut scratch = ExpandScratch {
                        frame: frame_scratch,
                        piece: piece_scratch,
                    };
                    write_singly(tun, arena, &frame, &mut scratch, outcome);
                }
                Err(error) => {
                    outcome.error.get_or_insert(error);
                }
            }
        });
        if let Some(family) = refused {
            self.merger.disable(family);
        }
    }
}

/// What became of the packets of one call.
#[derive(Debug, Default)]
struct Written {
    packets: usize,
    error: Option<io::Error>,
}

fn write_singly<T: TunQueue>(
    tun: &mut T,
    arena: &[u8],
    frame: &Frame<'_>,
    scratch: &mut ExpandScratch<'_>,
    outcome: &mut Written,
) {
    let framing = tun.framing();
    let expanded =
        offload::expand(
            arena,
            frame,
            order_of(framing),
            scratch,
            |packet| match write_packet(tun, framing, packet) {
                Ok(_) => outcome.packets += 1,
                Err(error) => {
                    outcome.error.get_or_insert(error);
                }
            },
        );
    if expanded.is_err() {
        outcome
            .error
            .get_or_insert(io::ErrorKind::InvalidData.into());
    }
}

fn order_of(framing: Framing) -> ByteOrder {
    match framing {
        Framing::Plain => ByteOrder::Native,
        Framing::Header { order, .. } => byte_order(order),
    }
}

#[cfg(test)]
mod tests {
    use ports::ByteOrderTag;
    use testkit::{memory_tun, t4};

    use super::*;

    const FRAMING: Framing = Framing::Header {
        len: 10,
        order: ByteOrderTag::Little,
    };

    fn run(count: u32) -> (Vec<u8>, Vec<u32>) {
        let packets: Vec<Vec<u8>> = (0..count).map(|i| t4(i * 100, 100)).collect();
        let lengths = packets
            .iter()
            .map(|packet| u32::try_from(packet.len()).unwrap())
            .collect();
        (packets.concat(), lengths)
    }

    #[test]
    fn packets_written_in_one_call_leave_merged_and_come_back_as_they_were() {
        let (tun, host) = memory_tun(FRAMING);
        let mut queue = PacketQueue::new(tun, MergeLimits::default());
        let (packets, lengths) = run(5);

        assert_eq!(queue.write(&packets, &lengths).unwrap(), 5);
        let frame = host.receive_frame().unwrap();
        assert!(host.receive_frame().is_none());
        host.send_frame(frame);

        let (mut into, mut read) = (vec![0; packets.len()], [0; 8]);
        assert_eq!(queue.read(&mut into, &mut read).unwrap(), 5);
        // The fixture's options and identification differ per segment in nothing but what splitting restores.
        let payload = |bytes: &[u8]| -> Vec<u8> {
            bytes
                .chunks(lengths[0] as usize)
                .flat_map(|packet| packet[52..].to_vec())
                .collect()
        };
        assert_eq!(payload(&into), payload(&packets));
        assert_eq!(read[..5], lengths);
    }

    #[test]
    fn a_frame_that_does_not_fit_goes_on_in_the_next_call() {
        let (tun, host) = memory_tun(FRAMING);
        let mut queue = PacketQueue::new(tun, MergeLimits::default());
        let (packets, lengths) = run(5);
        queue.write(&packets, &lengths).unwrap();
        host.send_frame(host.receive_frame().unwrap());

        let (mut into, mut read) = (vec![0; 350], [0; 8]);
        let counts: Vec<usize> = (0..4)
            .map(|_| queue.read(&mut into, &mut read).unwrap())
            .collect();
        assert_eq!(counts, [2, 2, 1, 0]);
    }

    /// P-36: lengths and bytes that do not belong together are refused, and nothing panics.
    #[test]
    fn lengths_beyond_the_bytes_are_refused() {
        let (tun, _host) = memory_tun(FRAMING);
        let mut queue = PacketQueue::new(tun, MergeLimits::default());

        assert_eq!(
            queue.write(&[0; 10], &[11]).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
        assert_eq!(
            queue.write(&[0; 40], &[40]).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }
}
