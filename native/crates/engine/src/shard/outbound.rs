//! From the TUN queue to the peers.

use std::io;

use filter::{Direction, Judge, Passage, Verdict};
use offload::{SplitCursor, SplitError, VirtioHeader};
use ports::{Datagrams, Framing, TunQueue};

use super::fit::{Fit, fit};
use super::pass::Pass;
use super::too_big::TooBigAnswers;
use super::transmit::Transmitter;
use crate::command::Elision;
use crate::counters::{DropReason, Total};
use crate::driver::ShardClock;
use crate::event::{Event, FaultSource, FaultWeight, IoFault, WantReason};
use crate::framing::{FRAME_LEN_MAX, parts};
use crate::peer::Peer;
use crate::stage::{Stage, Work};

/// Reads frames and splits them into the batch of a [`Transmitter`].
pub(crate) struct Outbound {
    frame: Box<[u8]>,
    device: Device,
    pace: Pace,
    read: Work,
    too_big: TooBigAnswers,
    judge: Judge,
}

/// Whether the TUN device still exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    There,
    /// Somebody deleted the interface.
    Gone,
}

/// What the last turn found in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// One frame at most: the next one is sent before the queue is asked for more.
    Single,
    /// Several: they are collected.
    Burst,
}

/// Whether a source may have more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drained {
    Yes,
    MaybeNot,
}

impl Outbound {
    pub(crate) fn new(framing: Framing) -> Self {
        Outbound {
            frame: vec![0; framing.header_len() + FRAME_LEN_MAX].into_boxed_slice(),
            device: Device::There,
            pace: Pace::Single,
            read: Work::default(),
            too_big: TooBigAnswers::default(),
            judge: Judge::default(),
        }
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }

    /// Frames read since the last call.
    pub(crate) fn take_read(&mut self) -> Work {
        core::mem::take(&mut self.read)
    }

    /// Reads up to [`FRAMES_PER_TURN`] frames, but hardly more than [`BYTES_PER_TURN`], and sends their packets.
    pub(crate) fn turn<C, T, D>(
        &mut self,
        pass: &Pass<'_, C>,
        tun: &mut T,
        transmitter: &mut Transmitter<D>,
    ) -> Drained
    where
        C: ShardClock,
        T: TunQueue,
        D: Datagrams,
    {
        let drained = self.read(pass, tun, transmitter);
        pass.settle(&mut self.judge);
        drained
    }

    fn read<C, T, D>(
        &mut self,
        pass: &Pass<'_, C>,
        tun: &mut T,
        transmitter: &mut Transmitter<D>,
    ) -> Drained
    where
        C: ShardClock,
        T: TunQueue,
        D: Datagrams,
    {
        for read in 0..FRAMES_PER_TURN {
            let start = pass.cycles();
            pass.count(Total::TunReadCalls, usize::from(!tun.holds_frames()));
            let len = match tun.read(&mut self.frame) {
                Ok(len) => len,
                Err(error) => {
                    self.read_failed(pass, &error, transmitter);
                    transmitter.flush(pass);
                    self.pace = if read > 1 { Pace::Burst } else { Pace::Single };
                    return Drained::Yes;
                }
            };
            pass.count(Total::TunReadFrames, 1);
            let start = pass.spent(
                Stage::TunRead,
                Work {
                    packets: 1,
                    bytes: len,
                },
                start,
            );
            self.read.packets += 1;
            self.read.bytes += len;
            self.frame(pass, tun, len, start, transmitter);
            if read == 0 && self.pace == Pace::Single {
                transmitter.flush(pass);
            }
            if transmitter.full() != crate::driver::WantRoom::default()
                || self.read.bytes > BYTES_PER_TURN
            {
                break;
            }
        }
        transmitter.flush(pass);
        self.pace = Pace::Burst;
        Drained::MaybeNot
    }

    fn read_failed<C, D>(&mut self, pass: &Pass<'_, C>, error: &io::Error, to: &mut Transmitter<D>)
    where
        C: ShardClock,
        D: Datagrams,
    {
        if matches!(error.raw_os_error(), Some(EBADFD | ENODEV)) {
            self.device = Device::Gone;
            let errno = error.raw_os_error().unwrap_or(0);
            let (what, weight) = (FaultSource::TunRead, FaultWeight::Fatal);
            pass.event(Event::IoFault(IoFault {
                what,
                weight,
                errno,
            }));
        } else if !matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
        ) {
            to.faults.report(pass, FaultSource::TunRead, error);
        }
    }

    fn frame<C, T, D>(
        &mut self,
        pass: &Pass<'_, C>,
        tun: &mut T,
        len: usize,
        start: u64,
        to: &mut Transmitter<D>,
    ) where
        C: ShardClock,
        T: TunQueue,
        D: Datagrams,
    {
        let Some((header, packet)) =
            parts(tun.framing(), self.frame.get(..len).unwrap_or_default())
        else {
            return pass.count(Total::TunReadBadShort, 1);
        };
        let Some((_, destination)) = packet::addresses(packet) else {
            return pass.count(Total::TunReadBadNotIp, 1);
        };
        let Some(peer) = pass
            .state
            .peer_of(destination)
            .and_then(|peer| pass.state.peer(peer))
        else {
            return pass.dropped(None, DropReason::NoPeer, 1);
        };
        let passage = Passage {
            direction: Direction::Out,
            peer: peer.id(),
            packet,
        };
        if self.judge.judge(&pass.bench(), &passage) != Verdict::Allow {
            return pass.dropped(Some(peer), DropReason::Filter, 1);
        }
        let start = pass.spent(
            Stage::Filter,
            Work {
                packets: 1,
                bytes: len,
            },
            start,
        );
        match fit(&header, packet, pass.inner_max(peer)) {
            Ok(Fit::Send(cursor)) => {
                if cursor.pieces_left() > 1 {
                    pass.count(Total::TunReadSuper, 1);
                    pass.count(Total::TunReadPieces, cursor.pieces_left());
                    let more = cursor.pieces_left() - 1;
                    let payload = usize::from(header.segment_size);
                    let repeated = cursor.piece_len_max().saturating_sub(payload);
                    self.judge.add_pieces(more as u64, (more * repeated) as u64);
                }
                let read = Read {
                    header: &header,
                    packet,
                };
                send(pass, peer, read, cursor, start, to);
            }
            Ok(Fit::Refuse { mtu }) => {
                pass.count(Total::TunReadBadTooBig, 1);
                self.too_big.answer(pass, tun, packet, mtu);
            }
            Err(error) => pass.count(bad(&error), 1),
        }
    }
}

/// A frame as it was read.
#[derive(Clone, Copy)]
struct Read<'a> {
    header: &'a VirtioHeader,
    packet: &'a [u8],
}

/// Splits a frame into the batch, or into the packets that wait for a session.
fn send<C, D>(
    pass: &Pass<'_, C>,
    peer: &Peer,
    read: Read<'_>,
    mut cursor: SplitCursor,
    mut start: u64,
    to: &mut Transmitter<D>,
) where
    C: ShardClock,
    D: Datagrams,
{
    let Some(session) = usable_session(pass, peer) else {
        to.flush(pass);
        return wait_for_session(pass, peer, read.packet, cursor, to);
    };
    let keys = pass.state.session(session);
    if keys.map(|keys| keys.elision) == Some(Elision::On) {
        cursor = cursor.elided(read.header, read.packet);
    }
    if peer.waiting.len() > 0 {
        to.send_waiting(pass, peer, session);
    }
    let lane = to.lane_of(pass, peer, keys, read.packet);
    let target = pass.target(peer, session).marked_as(read.packet).by(lane);
    let mut work = Work::default();
    let pieces = cursor.pieces_left();
    while cursor.pieces_left() > 0 {
        if !to.batch.accepts(target, cursor.piece_len_max()) {
            pass.spent(Stage::Split, core::mem::take(&mut work), start);
            to.flush(pass);
            start = pass.cycles();
        }
        let Some(len) = cursor.write_next(read.packet, to.batch.room()) else {
            pass.dropped(Some(peer), DropReason::Malformed, 1);
            break;
        };
        to.batch.commit(target, len);
        work.packets += 1;
        work.bytes += len;
    }
    if cursor.is_elided() {
        pass.count(Total::ElideTx, pieces - cursor.pieces_left());
    }
    pass.spent(Stage::Split, work, start);
}

/// The session that packets to a peer are sent under.
fn usable_session<C: ShardClock>(pass: &Pass<'_, C>, peer: &Peer) -> Option<u32> {
    peer.sessions.current().filter(|slot| {
        pass.state
            .session(*slot)
            .is_some_and(|session| session.is_usable(pass.now))
    })
}

fn wait_for_session<C, D>(
    pass: &Pass<'_, C>,
    peer: &Peer,
    packet: &[u8],
    mut cursor: SplitCursor,
    to: &mut Transmitter<D>,
) where
    C: ShardClock,
    D: Datagrams,
{
    while cursor.pieces_left() > 0 {
        let room = to.batch.room();
        let Some(len) = cursor.write_next(packet, room) else {
            break;
        };
        let piece = room.get(..len).unwrap_or_default();
        let dropped = peer.waiting.push(piece, &pass.shared.waiting_bytes);
        if dropped > 0 {
            pass.dropped(Some(peer), DropReason::QueueFull, dropped);
        }
    }
    // Another shard may have confirmed a session and emptied the queue just before these packets joined it.
    if let Some(session) = usable_session(pass, peer) {
        to.send_waiting(pass, peer, session);
        return to.flush(pass);
    }
    pass.want_handshake(peer, WantReason::NoSession);
}

fn bad(error: &SplitError) -> Total {
    match error.reason() {
        "short" => Total::TunReadBadShort,
        "type" => Total::TunReadBadType,
        "size" => Total::TunReadBadSize,
        "proto" => Total::TunReadBadProtocol,
        "csum" => Total::TunReadBadChecksum,
        "not_ip" => Total::TunReadBadNotIp,
        "too_big" => Total::TunReadBadTooBig,
        _ => Total::TunReadBadLength,
    }
}

/// Frames one turn reads before it looks at anything else (decision 0031).
pub const FRAMES_PER_TURN: usize = 64;

/// Super-frames reach this long before [`FRAMES_PER_TURN`]: what arrives meanwhile waits half a millisecond, not seven
/// (decision 0162).
const BYTES_PER_TURN: usize = 256 << 10;

const ENODEV: i32 = 19;
const EBADFD: i32 = 77;
