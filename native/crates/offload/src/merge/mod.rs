//! Merging one burst of packets into frames for the TUN device.

mod candidate;
mod frame;
mod table;

use candidate::{Candidate, Class, classify};
use frame::{OutFrame, Run, RunState};
use packet::declared_len;
use table::FlowTable;

pub use frame::{Frame, Part};

use crate::{ByteOrder, gso};

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
    /// Not an IP packet, shorter than it declares, or elided although it is no whole TCP or UDP packet: drop and count.
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
        let Some(packet) = slice(arena, start, len).and_then(cut_to_declared) else {
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
            self.parts.clear();
            let mut next = Some(frame.first);
            while let Some(queued) = next.and_then(|index| self.packets.get(index as usize)) {
                let skipped = if self.parts.is_empty() {
                    0
                } else {
                    frame.headers_len()
                };
                self.parts.push(Part {
                    start: queued.start + skipped,
                    len: queued.len - skipped,
                });
                next = queued.next;
            }
            let elided = self
                .packets
                .get(frame.first as usize)
                .is_some_and(|first| first.checksum == Checksum::Elided);
            let header = match (&frame.run, self.parts.first()) {
                (Some(run), Some(first)) if frame.packets > 1 => run.seal(arena, *first),
                (_, Some(first)) if elided => frame::elided_header(arena, *first),
                _ => crate::VirtioHeader::default(),
            };
            let mut bytes = [0; crate::VIRTIO_LEN];
            header.write(&mut bytes, order);
            let family = match header.gso_kind() {
                gso::TCP4 | gso::TCP6 => Some(Family::Tcp),
                gso::UDP => Some(Family::Udp),
                _ => None,
            };
            write(
                arena,
                Frame {
                    header: bytes,
                    parts: &self.parts,
                    packets: frame.packets as usize,
                    family,
                },
            );
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

/// The bytes of a packet inside the arena.
fn slice(arena: &[u8], start: u32, len: u32) -> Option<&[u8]> {
    let start = start as usize;
    arena.get(start..start.checked_add(len as usize)?)
}

/// Cuts off what follows the declared length; `None` if the packet is shorter than that.
fn cut_to_declared(packet: &[u8]) -> Option<&[u8]> {
    packet
        .get(..declared_len(packet)?)
        .filter(|packet| !packet.is_empty())
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
