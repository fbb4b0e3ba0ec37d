//! The class `Tun`.

use core::time::Duration;
use std::os::fd::{AsFd, OwnedFd};

use engine::PacketQueue;
use napi::bindgen_prelude::{AsyncTask, Task};
use napi::{Env, Error, Result};
use napi_derive::napi;
use offload::MergeLimits;
use sys::tun::Granted;
use sys::{Interest, Poller, TunFd, TunOptions};

use crate::error::Failure;
use crate::options::{invalid, tun_offload};
use crate::status::{OffloadStatus, tun_offloads};

/// How to open a TUN device.
#[napi(object)]
pub struct TunDeviceOptions {
    /// Interface name, 1 to 15 bytes; `%d` in it is replaced by a free number.
    pub name: String,
    /// Queues; a flow stays on one of them. Default 1.
    pub queues: Option<u32>,
    /// Largest IP packet. Default 1500.
    pub mtu: Option<u32>,
    /// Which offloads to ask for. Default `auto`.
    #[napi(ts_type = "\"auto\" | \"tcp\" | \"off\"")]
    pub offload: Option<String>,
    /// Packets the transmit queue holds. Default 1000.
    pub tx_queue_len: Option<u32>,
}

/// A TUN device that reads and writes batches of IP packets. Super-frames of the kernel are split on read, and packets are
/// merged on write where the device takes them so; both are invisible to the caller.
#[napi]
pub struct Tun {
    name: String,
    granted: Granted,
    queues: Vec<PacketQueue<TunFd>>,
}

/// Memory of typed arrays of the caller, for the time of one call.
type Bytes<'a> = &'a mut [u8];
type Lengths<'a> = &'a mut [u32];

#[napi]
impl Tun {
    /// Creates a device and brings it up. It ends when it is closed. Throws as `Engine` does.
    #[napi(factory)]
    pub fn open(env: Env, options: TunDeviceOptions) -> Result<Self> {
        open(options).map_err(|failure| failure.into_error(&env))
    }

    /// Name of the interface.
    #[napi(getter)]
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// Number of queues; 0 after `close`.
    #[napi(getter)]
    pub fn queue_count(&self) -> u32 {
        u32::try_from(self.queues.len()).unwrap_or(u32::MAX)
    }

    /// Offloads granted, or why not.
    #[napi]
    pub fn offloads(&self) -> Vec<OffloadStatus> {
        tun_offloads(self.granted.tcp, self.granted.udp)
    }

    /// Reads packets that wait in a queue into `into`, back to back, and their lengths into `lengths`. Returns how many;
    /// 0 when none waits. `into` must have room for at least one packet of the device's MTU.
    #[napi(ts_args_type = "queue: number, into: Uint8Array, lengths: Uint32Array")]
    pub fn read(
        &mut self,
        env: Env,
        queue: u32,
        into: Bytes<'_>,
        lengths: Lengths<'_>,
    ) -> Result<u32> {
        let read = self.queue(&env, queue)?.read(into, lengths);
        count(&env, "tun_read", read)
    }

    /// Writes packets that lie back to back in `packets`. Returns how many the device took.
    #[napi(ts_args_type = "queue: number, packets: Uint8Array, lengths: Uint32Array")]
    pub fn write(
        &mut self,
        env: Env,
        queue: u32,
        packets: Bytes<'_>,
        lengths: Lengths<'_>,
    ) -> Result<u32> {
        let written = self.queue(&env, queue)?.write(packets, lengths);
        count(&env, "tun_write", written)
    }

    /// Resolves with true when a queue has packets, with false after `timeoutMs`.
    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn wait_readable(
        &mut self,
        env: Env,
        queue: u32,
        timeout_ms: u32,
    ) -> Result<AsyncTask<WaitTask>> {
        let descriptor = self
            .queue(&env, queue)?
            .get_ref()
            .as_fd()
            .try_clone_to_owned();
        let descriptor = descriptor.map_err(|error| failed("tun_wait", &error).into_error(&env))?;
        Ok(AsyncTask::new(WaitTask {
            descriptor,
            timeout: Duration::from_millis(timeout_ms.into()),
        }))
    }

    /// Closes all queues, which removes the device. May be called again.
    #[napi]
    pub fn close(&mut self) {
        self.queues.clear();
    }

    fn queue(&mut self, env: &Env, queue: u32) -> Result<&mut PacketQueue<TunFd>> {
        let count = self.queues.len();
        let missing = || {
            let sentence = format!("there is no queue {queue}; the device has {count}");
            if count == 0 {
                Failure::new("closed", "the device is closed")
            } else {
                invalid(sentence)
            }
            .into_error(env)
        };
        self.queues.get_mut(queue as usize).ok_or_else(missing)
    }
}

fn open(options: TunDeviceOptions) -> core::result::Result<Tun, Failure> {
    let defaults = TunOptions::default();
    let mut tun = sys::Tun::open(&TunOptions {
        name: options.name,
        queues: options.queues.unwrap_or(1) as usize,
        offload: tun_offload(options.offload.as_deref())?,
        mtu: options.mtu,
        transmit_queue_len: options.tx_queue_len.unwrap_or(defaults.transmit_queue_len),
    })?;
    let (name, granted) = (tun.name().to_owned(), tun.granted());
    let merge = MergeLimits {
        tcp: granted.tcp.is_on(),
        udp: granted.udp.is_on(),
        inner_mtu: options.mtu.unwrap_or(1500) as usize,
        ..MergeLimits::default()
    };
    let queues = tun
        .take_queues()
        .into_iter()
        .map(|queue| PacketQueue::new(queue, merge.clone()))
        .collect();
    Ok(Tun {
        name,
        granted,
        queues,
    })
}

/// One wait on a thread of the pool, on a descriptor of its own.
pub struct WaitTask {
    descriptor: OwnedFd,
    timeout: Duration,
}

impl Task for WaitTask {
    type Output = bool;
    type JsValue = bool;

    fn compute(&mut self) -> Result<bool> {
        let wait = || {
            let mut poller = Poller::new(1)?;
            poller.add(self.descriptor.as_fd(), 0, Interest::Readable)?;
            let ready = poller.wait(Some(self.timeout))?.next().is_some();
            std::io::Result::Ok(ready)
        };
        wait().map_err(|error| Error::from_reason(error.to_string()))
    }

    fn resolve(&mut self, _: Env, ready: bool) -> Result<bool> {
        Ok(ready)
    }
}

fn count(env: &Env, code: &'static str, result: std::io::Result<usize>) -> Result<u32> {
    result
        .map(|packets| u32::try_from(packets).unwrap_or(u32::MAX))
        .map_err(|error| failed(code, &error).into_error(env))
}

fn failed(code: &'static str, error: &std::io::Error) -> Failure {
    Failure::with_errno(code, error.raw_os_error().unwrap_or(0), error.to_string())
}
