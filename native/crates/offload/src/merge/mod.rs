//! Merging one burst of packets into frames for the TUN device.

mod candidate;
mod frame;
mod table;

use candidate::{Candidate, Class, classify};
use frame::{OutFrame, Run, RunState};
use table::FlowTable;

use crate::split::cut_to_declared;

pub use frame::{Frame, Part};

use crate::{ByteOrder, VIRTIO_LEN};

/// What the merger may do, and how much it holds at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeLimits {
    /// Whether TCP segments are merged.
    pub tcp: bool,
    /// Whether UDP datagrams are merged.
    pub udp: bool,
    /// Datagrams per merged UDP frame, 2 to 128.
    pub segments_max: usize,
    /// Flows that merge within one burst; packets of further flows pass as singles.
    pub flows_max: usize,
    /// Packets per burst.
    pub packets_max: usize,
    /// UDP destination ports whose datagrams are never merged, because old kernels drop them.
    pub udp_ports_never_merged: Vec<u16>,
    /// MTU of the TUN device: a longer packet is never part of a merged frame.
    pub inner_mtu: usize,
    /// Whether a merged UDP frame may end in a datagram of full size.
    pub udp_equal_tail: EqualTail,
}

/// What to do with UDP frames whose last datagram is as long as the others; some kernels mangle them when they forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EqualTail {
    /// They are written like any other.
    Allow,
    /// Their datagrams are written one by one.
    Avoid,
}

impl Default for MergeLimits {
    fn default() -> Self {
        Self {
            tcp: true,
            udp: true,
            segments_max: 64,
            flows_max: 128,
            packets_max: 1024,
            udp_ports_never_merged: vec![4789, 6081, 8472],
            inner_mtu: 1420,
            udp_equal_tail: EqualTail::Allow,
        }
    }
}

/// A protocol whose merging can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// TCP segments.
    Tcp,
    /// UDP datagrams.
    Udp,
}

/// What is known about the L4 checksum of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Finished by the sender; verified before the packet is merged.
    Unverified,
    /// Elided by the sending agent: the field holds the seed, which the caller has compared.
    Elided,
}

/// What became of a pushed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum PushOutcome {
    /// It leaves with the next flush.
    Queued,
    /// Nothing was taken: flush, then push it again.
    Full,
    /// Not an IP packet, lengths that contradict its bytes, or elided although it is no whole TCP or UDP packet: drop and
    /// count.
    Malformed,
}

/// Collects one burst and hands it out as frames.
///
/// Packets stay in the caller's arena, which must be the same for all pushes of a burst and its flush. Within a flow,
/// order is kept; a frame stands where its first packet stood.
#[derive(Debug)]
pub struct Merger {
    limits: MergeLimits,
    table: FlowTable,
    frames: Vec<OutFrame>,
    packets: Vec<Queued>,
    parts: Vec<Part>,
}

/// One packet of the burst; packets of a frame form a list.
#[derive(Clone, Copy, Debug)]
struct Queued {
    start: u32,
    len: u32,
    next: Option<u32>,
    checksum: Checksum,
}

/// Whether a candidate became part of an open run.
enum Join {
    Joined,
    /// The run ends; the candidate may open another one.
    Refused,
    /// The run ends and the candidate stands alone: its own checksum is wrong.
    Corrupt,
}

impl Merger {
    /// Allocates everything the merger will ever use.
    #[must_use]
    pub fn new(limits: MergeLimits) -> Self {
        let packets_max = limits.packets_max.clamp(1, PACKETS_MAX);
        let limits = MergeLimits {
            packets_max,
            segments_max: limits.segments_max.clamp(1, UDP_SEGMENTS_MAX),
            ..limits
        };
        Self {
            table: FlowTable::new(limits.flows_max),
            frames: Vec::with_capacity(packets_max),
            packets: Vec::with_capacity(packets_max),
            parts: Vec::with_capacity(PARTS_MAX.min(packets_max)),
            limits,
        }
    }

    /// Whether nothing waits for a flush.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Packets waiting for a flush.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Never merges packets above `mtu` bytes from now on (WRH-16).
    pub fn set_inner_mtu(&mut self, mtu: usize) {
        self.limits.inner_mtu = mtu;
    }

    /// Turns one family off; frames already merged stay as they are.
    pub const fn disable(&mut self, family: Family) {
        match family {
            Family::Tcp => self.limits.tcp = false,
            Family::Udp => self.limits.udp = false,
        }
    }

    /// Takes one decrypted packet at `arena[start..start + len]`; bytes behind its declared length are cut off.
    pub fn push(
        &mut self,
        arena: &[u8],
        start: u32,
        len: u32,
        peer: u32,
        checksum: Checksum,
    ) -> PushOutcome {
        if self.packets.len() >= self.limits.packets_max {
            return PushOutcome::Full;
        }
        let Some(packet) = slice(arena, start, len).and_then(|packet| cut_to_declared(packet).ok())
        else {
            return PushOutcome::Malformed;
        };
        let Ok(len) = u32::try_from(packet.len()) else {
            return PushOutcome::Malformed;
        };
        let class = classify(packet, peer, &self.limits, checksum);
        if checksum == Checksum::Elided && !candidate::may_be_elided(packet) {
            return PushOutcome::Malformed;
        }
        let queued = Queued {
            start,
            len,
            next: None,
            checksum,
        };
        match class {
            Class::Candidate(candidate) => self.push_candidate(arena, packet, queued, &candidate),
            Class::Flow(key) => {
                self.table.close(&key);
                self.append(queued, None);
            }
            Class::Addresses(pair) => {
                self.table.close_matching(&pair);
                self.append(queued, None);
            }
            Class::Other => {
                self.append(queued, None);
            }
        }
        PushOutcome::Queued
    }

    /// Hands out every frame in order and leaves the merger empty.
    ///
    /// The first headers of merged frames are rewritten in `arena` before `write` sees them.
    pub fn flush(
        &mut self,
        arena: &mut [u8],
        order: ByteOrder,
        mut write: impl FnMut(&mut [u8], Frame<'_>),
    ) {
        for frame in &self.frames {
            let singly = frame.packets > 1
                && self.limits.udp_equal_tail == EqualTail::Avoid
                && frame.run.is_some_and(|run| run.has_equal_udp_tail());
            let skipped = if singly { 0 } else { frame.headers_len() };
            self.parts.clear();
            let mut next = Some(frame.first);
            while let Some(queued) = next.and_then(|index| self.packets.get(index as usize)) {
                next = queued.next;
                let skipped = if self.parts.is_empty() { 0 } else { skipped };
                self.parts.push(Part {
                    start: queued.start + skipped,
                    len: queued.len - skipped,
                });
                if singly || frame.packets == 1 {
                    write(
                        arena,
                        Frame::single(single_header(arena, *queued, order), &self.parts),
                    );
                    self.parts.clear();
                }
            }
            if let (Some(run), Some(first)) = (&frame.run, self.parts.first()) {
                let header = run.seal(arena, *first).bytes(order);
                write(
                    arena,
                    Frame {
                        header,
                        parts: &self.parts,
                        packets: self.parts.len(),
                        family: Some(run.family()),
                    },
                );
            }
        }
        self.frames.clear();
        self.packets.clear();
        self.table.clear();
    }

    fn push_candidate(
        &mut self,
        arena: &[u8],
        packet: &[u8],
        queued: Queued,
        candidate: &Candidate,
    ) {
        let Some(entry) = self.table.find_or_insert(&candidate.key) else {
            self.append(queued, None);
            return;
        };
        if let Some(open) = self.table.open_frame(entry) {
            match self.join(arena, packet, open, queued, candidate) {
                (Join::Joined, RunState::Open) => return,
                (Join::Joined, RunState::Closed) => {
                    self.table.set_open_frame(entry, None);
                    return;
                }
                (Join::Corrupt, _) => {
                    self.table.set_open_frame(entry, None);
                    self.append(queued, None);
                    return;
                }
                (Join::Refused, _) => {}
            }
        }
        let run = Run::open(candidate, queued.checksum);
        let open = if candidate.pushes() {
            None
        } else {
            Some(self.frames.len())
        };
        self.append(queued, Some(run));
        self.table
            .set_open_frame(entry, open.and_then(|frame| u32::try_from(frame).ok()));
    }

    /// Tries to make the candidate the next packet of an open run.
    fn join(
        &mut self,
        arena: &[u8],
        packet: &[u8],
        open: u32,
        queued: Queued,
        candidate: &Candidate,
    ) -> (Join, RunState) {
        let refused = (Join::Refused, RunState::Closed);
        let Some(frame) = self.frames.get_mut(open as usize) else {
            return refused;
        };
        let Some(run) = &mut frame.run else {
            return refused;
        };
        let Some(first) = self.packets.get(frame.first as usize) else {
            return refused;
        };
        let Some(first_packet) = slice(arena, first.start, first.len) else {
            return refused;
        };
        let segments_max = match candidate.family {
            Family::Tcp => PARTS_MAX,
            Family::Udp => self.limits.segments_max.min(PARTS_MAX),
        };
        if frame.packets as usize >= segments_max || !run.accepts(candidate, first_packet, packet) {
            return refused;
        }
        if !run.verify_first(first_packet) {
            return refused;
        }
        let valid = match queued.checksum {
            Checksum::Unverified => candidate::verify(packet),
            Checksum::Elided => candidate::network_header_valid(packet),
        };
        if !valid {
            return (Join::Corrupt, RunState::Closed);
        }
        let state = run.append(candidate);
        let index = index_u32(self.packets.len());
        if let Some(last) = self.packets.get_mut(frame.last as usize) {
            last.next = Some(index);
        }
        frame.last = index;
        frame.packets += 1;
        self.packets.push(queued);
        (Join::Joined, state)
    }

    fn append(&mut self, queued: Queued, run: Option<Run>) {
        let index = index_u32(self.packets.len());
        self.packets.push(queued);
        self.frames.push(OutFrame {
            first: index,
            last: index,
            packets: 1,
            run,
        });
    }
}

/// The header of a packet that leaves alone: empty unless its checksum is still to be finished.
fn single_header(arena: &[u8], queued: Queued, order: ByteOrder) -> [u8; VIRTIO_LEN] {
    match queued.checksum {
        Checksum::Unverified => [0; VIRTIO_LEN],
        Checksum::Elided => frame::elided_header(
            arena,
            Part {
                start: queued.start,
                len: queued.len,
            },
        )
        .bytes(order),
    }
}

/// The bytes of a packet inside the arena.
fn slice(arena: &[u8], start: u32, len: u32) -> Option<&[u8]> {
    let start = start as usize;
    arena.get(start..start.checked_add(len as usize)?)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a burst holds at most PACKETS_MAX packets"
)]
const fn index_u32(index: usize) -> u32 {
    index as u32
}

/// Parts of one vectored write (`IOV_MAX`) without the one for the virtio header.
const PARTS_MAX: usize = 1023;
/// Bound of a burst, so that indices fit 32 bits.
const PACKETS_MAX: usize = 1 << 20;
/// What kernels accept in one merged UDP frame.
const UDP_SEGMENTS_MAX: usize = 128;
