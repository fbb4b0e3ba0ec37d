use std::io;
use std::os::fd::AsFd;

use ports::{Endpoint, FeatureState, OffReason, Received};

use super::calls::{Calls, Incoming};
use super::control_message::ControlValues;
use super::socket::Socket;
use crate::errno;

impl<C: Calls> Socket<C> {
    pub(super) fn receive(
        &mut self,
        arena: &mut [u8],
        slot_size: usize,
        out: &mut [Received],
    ) -> io::Result<usize> {
        // A smaller slot would lose the end of merged datagrams without a word (SEG-11).
        if slot_size < SLOT_SIZE_MIN || arena.len() < slot_size {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if out.is_empty() {
            return Ok(0);
        }
        let received = self.fill(arena, slot_size, out.len())?;
        let mut filled = 0;
        for (slot, incoming) in self.incoming.iter().enumerate().take(received) {
            let (Some(message), Some(place)) = (read(slot, incoming), out.get_mut(filled)) else {
                self.counters.receive_truncated += 1;
                continue;
            };
            self.counters.receive_datagrams += message.datagrams().count() as u64;
            self.counters.receive_bytes += message.len as u64;
            if message.segment_size < message.len {
                self.counters.receive_gro += 1;
            }
            *place = message;
            filled += 1;
        }
        Ok(filled)
    }

    /// Receives raw messages, in one call if possible.
    fn fill(&mut self, arena: &mut [u8], slot_size: usize, most: usize) -> io::Result<usize> {
        let most = most.min(self.incoming.len());
        while self.batch.is_on() {
            let incoming = self.incoming.get_mut(..most).unwrap_or_default();
            match self
                .calls
                .receive_each(self.fd.as_fd(), (&mut *arena, slot_size), incoming)
            {
                Ok(received) => {
                    self.counters.receive_calls += 1;
                    return Ok(received);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if errno::of(&error) == libc::ENOSYS => {
                    self.batch = FeatureState::Off(OffReason::Unsupported {
                        errno: libc::ENOSYS,
                    });
                }
                Err(error) => return Err(error),
            }
        }
        self.fill_singly(arena, slot_size, most)
    }

    fn fill_singly(
        &mut self,
        arena: &mut [u8],
        slot_size: usize,
        most: usize,
    ) -> io::Result<usize> {
        let mut received = 0;
        let mut slots = arena
            .chunks_exact_mut(slot_size)
            .zip(self.incoming.iter_mut())
            .take(most);
        let mut next = slots.next();
        while let Some((slot, incoming)) = next.as_mut() {
            match self.calls.receive(self.fd.as_fd(), slot, incoming) {
                Ok(()) => {
                    self.counters.receive_calls += 1;
                    received += 1;
                    next = slots.next();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // What came before is delivered; the error comes again if it lasts.
                Err(_) if received > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(received)
    }
}

/// What a raw message says; `None` when part of it was cut off.
fn read(slot: usize, incoming: &Incoming) -> Option<Received> {
    if incoming.flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0 {
        return None;
    }
    let remote = incoming.name.decode(incoming.name_len)?;
    let values = ControlValues::read(incoming.control.bytes.get(..incoming.control_len)?);
    let len = incoming.len;
    let segment_size = values
        .segment_size
        .and_then(|size| usize::try_from(size).ok())
        .filter(|size| (1..len).contains(size))
        .unwrap_or(len);
    let local = values.local.filter(|address| !address.is_unspecified());
    let from = Endpoint {
        remote,
        local,
        interface: values.interface,
    };
    Some(Received {
        slot,
        len,
        segment_size,
        from,
        ecn: values.ecn,
    })
}

/// The most a merged receive can bring.
const SLOT_SIZE_MIN: usize = 65_535;
