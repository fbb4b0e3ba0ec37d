//! What a service manager or another program would do to a device before it is ours.

use std::os::fd::{AsRawFd, OwnedFd};

/// A descriptor attached to `name` with these flags, and nothing else done.
pub(crate) fn attach(name: &str, flags: i32) -> OwnedFd {
    let file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun")
        .unwrap();
    let mut request = [0_u8; 40];
    request[..name.len()].copy_from_slice(name.as_bytes());
    request[16..18].copy_from_slice(&u16::try_from(flags).unwrap().to_ne_bytes());
    // SAFETY: the descriptor is open, and the kernel reads and writes the 40 bytes of one interface request.
    let returned = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, request.as_mut_ptr()) };
    assert_eq!(returned, 0, "{}", std::io::Error::last_os_error());
    file.into()
}

/// Sets the header length of a device.
pub(crate) fn set_header_len(fd: &OwnedFd, len: i32) {
    // SAFETY: the descriptor is open, and the kernel reads one int behind the pointer.
    let returned = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETVNETHDRSZ, &raw const len) };
    assert_eq!(returned, 0, "{}", std::io::Error::last_os_error());
}

/// Gives up all capabilities of the calling thread.
pub(crate) fn drop_capabilities() {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    let header = Header {
        version: 0x2008_0522,
        pid: 0,
    };
    let none = [0_u32; 6];
    // SAFETY: the kernel reads one header and, for this version, two sets of three words, all zero.
    let returned = unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) };
    assert_eq!(returned, 0, "{}", std::io::Error::last_os_error());
}
