//! Frames to the TUN queue, with the way back when the kernel refuses merged ones.

use std::io;

use arrayvec::ArrayVec;
use offload::{ByteOrder, ExpandScratch, Family, Frame};
use ports::{Framing, TunQueue};

use super::pass::{FaultReporter, Pass};
use crate::counters::{DropReason, Total};
use crate::driver::ShardClock;
use crate::event::FaultSource;
use crate::framing::{FRAME_LEN_MAX, byte_order, write_packet, write_parts};
use crate::stage::{Stage, Work};

/// In which form a device takes the checksums of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Finished only.
    Finished,
    /// Also as a seed that the kernel finishes when it has to.
    Partial,
}

/// Writes frames and remembers which families the kernel refused.
pub(crate) struct TunWriter {
    framing: Framing,
    frame_scratch: Box<[u8]>,
    piece_scratch: Box<[u8]>,
    refused: ArrayVec<Family, 2>,
    /// UDP packets written since receivers were let run.
    udp_burst: usize,
}

impl TunWriter {
    pub(crate) fn new(framing: Framing) -> Self {
        TunWriter {
            framing,
            frame_scratch: vec![0; FRAME_LEN_MAX].into_boxed_slice(),
            piece_scratch: vec![0; FRAME_LEN_MAX].into_boxed_slice(),
            refused: ArrayVec::new(),
            udp_burst: 0,
        }
    }

    pub(crate) fn order(&self) -> ByteOrder {
        match self.framing {
            Framing::Plain => ByteOrder::Native,
            Framing::Header { order, .. } => byte_order(order),
        }
    }

    /// In which form the device takes the checksums of packets.
    pub(crate) fn form(&self) -> Form {
        match self.framing {
            Framing::Plain => Form::Finished,
            Framing::Header { .. } => Form::Partial,
        }
    }

    /// Families that were refused; merging them must stop.
    pub(crate) fn refused(&self) -> &[Family] {
        &self.refused
    }

    /// Writes one frame. Returns the cycles it took.
    pub(crate) fn write<C, T>(
        &mut self,
        pass: &Pass<'_, C>,
        tun: &mut T,
        faults: &mut FaultReporter,
        arena: &[u8],
        frame: &Frame<'_>,
    ) -> u64
    where
        C: ShardClock,
        T: TunQueue,
    {
        let start = pass.cycles();
        let bytes = frame.parts.iter().map(|part| part.len as usize).sum();
        pass.count(Total::TunWriteCalls, 1);
        match write_parts(tun, self.framing, arena, frame) {
            Ok(_) => {
                pass.count(Total::TunWriteFrames, 1);
                if frame.packets > 1 {
                    pass.count(Total::TunWriteSuper, 1);
                    pass.count(Total::TunWriteMerged, frame.packets);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidInput && frame.packets > 1 => {
                self.fall_back(pass, tun, faults, arena, frame);
            }
            Err(error) => failed(pass, faults, &error, frame.packets),
        }
        let work = Work {
            packets: frame.packets,
            bytes,
        };
        self.let_receivers_run(pass, arena, frame);
        pass.spent(Stage::TunWrite, work, start).wrapping_sub(start)
    }

    /// Gives up the processor after a burst of UDP: the receiver's socket holds about 95 full packets by default, and on
    /// a busy machine its program gets no turn to empty it while this thread goes on writing (decision 0035).
    fn let_receivers_run<C: ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        arena: &[u8],
        frame: &Frame<'_>,
    ) {
        if !is_udp(arena, frame) {
            return;
        }
        self.udp_burst += frame.packets;
        if self.udp_burst >= UDP_BURST_MAX {
            self.udp_burst = 0;
            pass.count(Total::TunWriteYields, 1);
            std::thread::yield_now();
        }
    }

    /// FBK-01: the packets of a refused frame are written one by one, and its family is not merged any more.
    fn fall_back<C, T>(
        &mut self,
        pass: &Pass<'_, C>,
        tun: &mut T,
        faults: &mut FaultReporter,
        arena: &[u8],
        frame: &Frame<'_>,
    ) where
        C: ShardClock,
        T: TunQueue,
    {
        pass.count(Total::TunWriteErrors, 1);
        if let Some(family) = frame.family
            && !self.refused.contains(&family)
            && self.refused.try_push(family).is_ok()
        {
            pass.count(Total::TunWriteFallbacks, 1);
        }
        let (order, framing) = (self.order(), self.framing);
        let mut scratch = ExpandScratch {
            frame: &mut self.frame_scratch,
            piece: &mut self.piece_scratch,
        };
        let expanded = offload::expand(arena, frame, order, &mut scratch, |packet| {
            pass.count(Total::TunWriteCalls, 1);
            match write_packet(tun, framing, packet) {
                Ok(_) => pass.count(Total::TunWriteFrames, 1),
                Err(error) => failed(pass, faults, &error, 1),
            }
        });
        if expanded.is_err() {
            pass.dropped(None, DropReason::Io, frame.packets as u64);
        }
    }
}

fn is_udp(arena: &[u8], frame: &Frame<'_>) -> bool {
    match frame.family {
        Some(family) => family == Family::Udp,
        None => frame
            .parts
            .first()
            .and_then(|part| packet::flow(part.of(arena)?))
            .is_some_and(|flow| flow.protocol == packet::protocol::UDP),
    }
}

/// UDP packets after which receivers are let run; a merged frame usually has more.
const UDP_BURST_MAX: usize = 16;

/// FBK-02: count and go on.
fn failed<C: ShardClock>(
    pass: &Pass<'_, C>,
    faults: &mut FaultReporter,
    error: &io::Error,
    packets: usize,
) {
    pass.count(Total::TunWriteErrors, 1);
    pass.dropped(None, DropReason::Io, packets as u64);
    faults.report(pass, FaultSource::TunWrite, error);
}
