use core::mem::MaybeUninit;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::errno;

/// The requests a TUN descriptor understands; a seam, so that the negotiation can be tested against other kernels.
pub(super) trait Control {
    /// The flags the kernel supports.
    fn features(&self) -> io::Result<u32>;
    /// Creates the device, or attaches to it.
    fn attach(&self, name: &str, flags: u32) -> io::Result<()>;
    /// Name and flags of the device this descriptor belongs to.
    fn identity(&self) -> io::Result<Identity>;
    /// Asks for little-endian headers.
    fn set_little_endian(&self) -> io::Result<()>;
    /// Asks for a header length.
    fn set_header_len(&self, len: usize) -> io::Result<()>;
    /// The header length in force.
    fn header_len(&self) -> io::Result<usize>;
    /// Sets which super-frames the kernel may give us.
    fn set_offload(&self, mask: u32) -> io::Result<()>;
    /// Writes one frame.
    fn write(&self, frame: &[u8]) -> io::Result<usize>;
}

/// Name and flags of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) name: String,
    pub(super) flags: u32,
}

/// A descriptor of `/dev/net/tun`.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) fd: OwnedFd,
}

impl Device {
    pub(super) fn open() -> io::Result<Self> {
        let flags = libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC;
        // SAFETY: the path is a live nul-terminated text the kernel only reads.
        let raw = errno::check(unsafe { libc::open(c"/dev/net/tun".as_ptr(), flags) })?;
        // SAFETY: the kernel just gave us this descriptor and nobody else owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(raw) };
        Ok(Self { fd })
    }

    /// Makes reads and writes of a descriptor that was handed over return at once.
    pub(super) fn set_non_blocking(&self) -> io::Result<()> {
        // SAFETY: the descriptor is ours and open; the call takes numbers only.
        let flags = errno::check(unsafe { libc::fcntl(self.fd.as_raw_fd(), libc::F_GETFL) })?;
        // SAFETY: as above.
        let returned =
            unsafe { libc::fcntl(self.fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) };
        errno::check(returned).map(drop)
    }

    /// Keeps the device, or ends it, when its last descriptor is closed.
    pub(super) fn set_persistent(&self, persistent: libc::c_int) -> io::Result<()> {
        // SAFETY: the descriptor is ours and open; the argument of this request is a plain number.
        let returned = unsafe {
            libc::ioctl(
                self.fd.as_raw_fd(),
                libc::TUNSETPERSIST,
                libc::c_ulong::from(persistent != 0),
            )
        };
        errno::check(returned).map(drop)
    }

    fn set_number(&self, request: libc::Ioctl, number: libc::c_int) -> io::Result<()> {
        // SAFETY:
        // - the descriptor is ours and open;
        // - the requests given here read one int behind the pointer, which is live.
        let returned = unsafe { libc::ioctl(self.fd.as_raw_fd(), request, &raw const number) };
        errno::check(returned).map(drop)
    }

    fn number(&self, request: libc::Ioctl) -> io::Result<libc::c_int> {
        let mut number: libc::c_int = 0;
        // SAFETY:
        // - the descriptor is ours and open;
        // - the requests given here write one int behind the pointer, which is exclusively ours.
        let returned = unsafe { libc::ioctl(self.fd.as_raw_fd(), request, &raw mut number) };
        errno::check(returned).map(|_| number)
    }
}

impl Control for Device {
    fn features(&self) -> io::Result<u32> {
        self.number(libc::TUNGETFEATURES).map(i32::cast_unsigned)
    }

    fn attach(&self, name: &str, flags: u32) -> io::Result<()> {
        let mut request = InterfaceRequest {
            name: [0; 16],
            flags: low_half(flags),
            rest: [0; 22],
        };
        for (slot, byte) in request.name.iter_mut().take(15).zip(name.bytes()) {
            *slot = byte;
        }
        // SAFETY:
        // - the descriptor is ours and open;
        // - the kernel reads and writes one interface request, whose layout and size InterfaceRequest has.
        let returned =
            unsafe { libc::ioctl(self.fd.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
        errno::check(returned).map(drop)
    }

    fn identity(&self) -> io::Result<Identity> {
        let mut request = MaybeUninit::<InterfaceRequest>::zeroed();
        // SAFETY:
        // - the descriptor is ours and open;
        // - the kernel writes at most one interface request, whose layout and size InterfaceRequest has.
        let returned =
            unsafe { libc::ioctl(self.fd.as_raw_fd(), libc::TUNGETIFF, request.as_mut_ptr()) };
        errno::check(returned)?;
        // SAFETY: all fields are integers, for which the zeros it began with are valid.
        let request = unsafe { request.assume_init() };
        let name = request
            .name
            .split(|byte| *byte == 0)
            .next()
            .unwrap_or_default();
        Ok(Identity {
            name: String::from_utf8_lossy(name).into_owned(),
            flags: u32::from(request.flags),
        })
    }

    fn set_little_endian(&self) -> io::Result<()> {
        self.set_number(libc::TUNSETVNETLE, 1)
    }

    fn set_header_len(&self, len: usize) -> io::Result<()> {
        self.set_number(
            libc::TUNSETVNETHDRSZ,
            i32::try_from(len).unwrap_or(i32::MAX),
        )
    }

    fn header_len(&self) -> io::Result<usize> {
        self.number(libc::TUNGETVNETHDRSZ)
            .map(|len| usize::try_from(len).unwrap_or(0))
    }

    fn set_offload(&self, mask: u32) -> io::Result<()> {
        // SAFETY: the descriptor is ours and open; the argument of this request is the mask itself, no pointer.
        let returned = unsafe {
            libc::ioctl(
                self.fd.as_raw_fd(),
                libc::TUNSETOFFLOAD,
                libc::c_ulong::from(mask),
            )
        };
        errno::check(returned).map(drop)
    }

    fn write(&self, frame: &[u8]) -> io::Result<usize> {
        // SAFETY: the descriptor is ours and open; pointer and length describe live bytes the kernel reads.
        let returned =
            unsafe { libc::write(self.fd.as_raw_fd(), frame.as_ptr().cast(), frame.len()) };
        errno::check_size(returned)
    }
}

/// `struct ifreq` with the flags member of its union; 40 bytes on 64-bit systems, 32 elsewhere.
#[repr(C, align(8))]
struct InterfaceRequest {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

const _: () = assert!(
    size_of::<InterfaceRequest>() >= size_of::<libc::ifreq>(),
    "the kernel must not write beyond it"
);

/// The interface flags of TUN devices are a 16-bit field.
fn low_half(flags: u32) -> u16 {
    u16::try_from(flags & 0xFFFF).unwrap_or(0)
}
