//! Fixtures and judges shared by the tests of this crate.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "fixtures build small packets"
)]

pub(crate) mod fixture;
pub(crate) mod judge;

use offload::{
    ByteOrder, Checksum, ExpandScratch, Family, Frame, MergeLimits, Merger, Part, PushOutcome,
    SplitCursor, SplitError, SplitLimits, VirtioHeader, expand,
};

/// One output frame with its bytes gathered.
#[derive(Clone, Debug)]
pub(crate) struct Out {
    pub(crate) header: VirtioHeader,
    pub(crate) raw_header: [u8; 10],
    pub(crate) bytes: Vec<u8>,
    pub(crate) packets: usize,
    pub(crate) family: Option<Family>,
    /// What the frame looks like after [`expand`].
    pub(crate) expanded: Vec<Vec<u8>>,
}

/// Limits of a device that can do everything, with an MTU that hinders nothing.
pub(crate) fn wide_limits() -> MergeLimits {
    MergeLimits {
        inner_mtu: 65_535,
        ..MergeLimits::default()
    }
}

/// Merges one burst with [`wide_limits`] and judges the result.
pub(crate) fn merge(packets: &[Vec<u8>]) -> Vec<Out> {
    merge_with(wide_limits(), packets)
}

/// Merges one burst and judges that every flow comes out as it went in.
pub(crate) fn merge_with(limits: MergeLimits, packets: &[Vec<u8>]) -> Vec<Out> {
    let mut merger = Merger::new(limits);
    let pushed: Vec<Pushed> = packets
        .iter()
        .map(|bytes| Pushed::plain(bytes.clone()))
        .collect();
    let outs = run_burst(&mut merger, &pushed);
    let expanded: Vec<Vec<u8>> = outs.iter().flat_map(|out| out.expanded.clone()).collect();
    judge::assert_same_per_flow(packets, &expanded);
    outs
}

/// A packet with what the engine knows about it.
#[derive(Clone, Debug)]
pub(crate) struct Pushed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) peer: u32,
    pub(crate) checksum: Checksum,
}

impl Pushed {
    pub(crate) fn plain(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            peer: 1,
            checksum: Checksum::Unverified,
        }
    }
}

/// Pushes everything, expecting room for it, and flushes.
pub(crate) fn run_burst(merger: &mut Merger, packets: &[Pushed]) -> Vec<Out> {
    let mut arena = Vec::new();
    for packet in packets {
        let start = u32::try_from(arena.len()).unwrap();
        let len = u32::try_from(packet.bytes.len()).unwrap();
        arena.extend_from_slice(&packet.bytes);
        let outcome = merger.push(&arena, start, len, packet.peer, packet.checksum);
        assert_eq!(outcome, PushOutcome::Queued);
    }
    flush(merger, &mut arena)
}

/// Flushes and gathers.
pub(crate) fn flush(merger: &mut Merger, arena: &mut [u8]) -> Vec<Out> {
    let mut outs = Vec::new();
    merger.flush(arena, ByteOrder::Little, |arena, frame| {
        outs.push(gather(arena, &frame));
    });
    outs
}

fn gather(arena: &[u8], frame: &Frame<'_>) -> Out {
    let (mut whole, mut piece) = (vec![0; 70_000], vec![0; 70_000]);
    let mut scratch = ExpandScratch {
        frame: &mut whole,
        piece: &mut piece,
    };
    let mut expanded = Vec::new();
    let count = expand(arena, frame, ByteOrder::Little, &mut scratch, |packet| {
        expanded.push(packet.to_vec());
    })
    .unwrap();
    assert_eq!(count, frame.packets);
    Out {
        header: VirtioHeader::read(&frame.header, ByteOrder::Little).unwrap(),
        raw_header: frame.header,
        bytes: frame
            .parts
            .iter()
            .flat_map(|part: &Part| part.of(arena).unwrap().to_vec())
            .collect(),
        packets: frame.packets,
        family: frame.family,
        expanded,
    }
}

/// Packets per frame, in order.
pub(crate) fn counts(outs: &[Out]) -> Vec<usize> {
    outs.iter().map(|out| out.packets).collect()
}

/// Splits one frame completely.
pub(crate) fn split(
    header: &VirtioHeader,
    packet: &[u8],
    inner_mtu: usize,
) -> Result<Vec<Vec<u8>>, SplitError> {
    let mut cursor = SplitCursor::start(header, packet, &SplitLimits { inner_mtu })?;
    let mut out = vec![0xa5; 70_000];
    let mut pieces = Vec::new();
    let expected = cursor.pieces_left();
    while let Some(len) = cursor.write_next(packet, &mut out) {
        assert!(len <= cursor.piece_len_max());
        pieces.push(out[..len].to_vec());
    }
    assert_eq!(pieces.len(), expected);
    Ok(pieces)
}
