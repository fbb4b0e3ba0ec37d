use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::{Arc, Mutex, MutexGuard};

use ports::{Framing, TunQueue};

/// A TUN device in memory: the queue the engine would hold, and the host behind it.
#[must_use]
pub fn memory_tun(framing: Framing) -> (MemoryTun, MemoryHost) {
    let device = Arc::new(Mutex::new(Device::default()));
    let queue = MemoryTun {
        device: Arc::clone(&device),
        framing,
    };
    (queue, MemoryHost { device, framing })
}

/// The queue of a TUN device in memory.
#[derive(Debug)]
pub struct MemoryTun {
    device: Arc<Mutex<Device>>,
    framing: Framing,
}

/// The host behind a TUN device in memory.
#[derive(Clone, Debug)]
pub struct MemoryHost {
    device: Arc<Mutex<Device>>,
    framing: Framing,
}

#[derive(Debug, Default)]
struct Device {
    to_queue: VecDeque<Vec<u8>>,
    to_host: VecDeque<Vec<u8>>,
    down: bool,
    /// Errors the next writes meet, first one first.
    write_errors: VecDeque<i32>,
}

impl MemoryHost {
    /// Sends a packet into the device, behind an empty header where frames have one.
    pub fn send_packet(&self, packet: &[u8]) {
        let mut frame = vec![0; self.framing.header_len()];
        frame.extend(packet);
        self.send_frame(frame);
    }

    /// Sends a whole frame into the device: a super-frame with its header, for instance.
    pub fn send_frame(&self, frame: Vec<u8>) {
        let mut device = lock(&self.device);
        if !device.down {
            device.to_queue.push_back(frame);
        }
    }

    /// The next frame the queue wrote.
    #[must_use]
    pub fn receive_frame(&self) -> Option<Vec<u8>> {
        lock(&self.device).to_host.pop_front()
    }

    /// The next frame the queue wrote, without its header.
    #[must_use]
    pub fn receive_packet(&self) -> Option<Vec<u8>> {
        self.receive_frame()
            .map(|mut frame| frame.split_off(self.framing.header_len().min(frame.len())))
    }

    /// Takes the link down: what waits is lost, and writes fail with `EIO`.
    pub fn take_down(&self) {
        let mut device = lock(&self.device);
        device.down = true;
        device.to_queue.clear();
    }

    /// Brings the link up again.
    pub fn bring_up(&self) {
        lock(&self.device).down = false;
    }

    /// Lets a coming write fail with this error number; several calls queue up.
    pub fn fail_next_write(&self, errno: i32) {
        lock(&self.device).write_errors.push_back(errno);
    }
}

impl TunQueue for MemoryTun {
    fn framing(&self) -> Framing {
        self.framing
    }

    fn read(&mut self, frame: &mut [u8]) -> io::Result<usize> {
        let waiting = lock(&self.device)
            .to_queue
            .pop_front()
            .ok_or(io::ErrorKind::WouldBlock)?;
        let len = waiting.len().min(frame.len());
        for (slot, byte) in frame.iter_mut().zip(waiting) {
            *slot = byte;
        }
        Ok(len)
    }

    fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let frame: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        let mut device = lock(&self.device);
        if let Some(errno) = device.write_errors.pop_front() {
            return Err(io::Error::from_raw_os_error(errno));
        }
        if device.down {
            return Err(io::Error::from_raw_os_error(EIO));
        }
        let version = frame.get(self.framing.header_len()).map(|first| first >> 4);
        if !matches!(version, Some(4 | 6)) {
            return Err(io::Error::from_raw_os_error(EINVAL));
        }
        let len = frame.len();
        device.to_host.push_back(frame);
        Ok(len)
    }
}

fn lock(device: &Mutex<Device>) -> MutexGuard<'_, Device> {
    device
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

const EIO: i32 = 5;
const EINVAL: i32 = 22;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp_v4;
    use ports::ByteOrderTag;
    use ports::contract::{TunHost, tun_contract};

    struct Harness {
        queue: MemoryTun,
        host: MemoryHost,
    }

    impl TunHost for Harness {
        type Queue = MemoryTun;

        fn queue(&mut self) -> &mut MemoryTun {
            &mut self.queue
        }

        fn send(&mut self, payload: &[u8]) {
            self.host
                .send_packet(&udp_v4(Self::HOST, Self::REMOTE, payload));
        }

        fn receive(&mut self) -> Option<Vec<u8>> {
            self.host
                .receive_packet()
                .map(|packet| packet[28..].to_vec())
        }

        fn packet_to_host(&self, payload: &[u8]) -> Vec<u8> {
            udp_v4(Self::REMOTE, Self::HOST, payload)
        }

        fn take_down(&mut self) {
            self.host.take_down();
        }

        fn bring_up(&mut self) {
            self.host.bring_up();
        }
    }

    #[test]
    fn the_memory_device_keeps_the_contract_of_a_tun_queue() {
        let framings = [
            Framing::Plain,
            Framing::Header {
                len: 10,
                order: ByteOrderTag::Little,
            },
            Framing::Header {
                len: 12,
                order: ByteOrderTag::Native,
            },
        ];
        for framing in framings {
            tun_contract(|| {
                let (queue, host) = memory_tun(framing);
                Harness { queue, host }
            });
        }
    }

    #[test]
    fn an_injected_error_meets_one_write() {
        let (mut queue, host) = memory_tun(Framing::Plain);
        host.fail_next_write(105);
        let packet = crate::u4(0, 4);

        let error = queue.write(&[IoSlice::new(&packet)]).unwrap_err();

        assert_eq!(error.raw_os_error(), Some(105));
        assert_eq!(host.receive_frame(), None);
        assert!(queue.write(&[IoSlice::new(&packet)]).is_ok());
        assert_eq!(host.receive_frame(), Some(packet));
    }
}
