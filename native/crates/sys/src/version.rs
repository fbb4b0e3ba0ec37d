use core::ffi::CStr;
use core::mem::MaybeUninit;

/// The version of a Linux kernel; compares in release order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelVersion {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number.
    pub patch: u32,
}

impl KernelVersion {
    /// A version by its numbers.
    #[must_use]
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// The version of the running kernel; `None` when it cannot be read.
    #[must_use]
    pub fn running() -> Option<Self> {
        let mut name = MaybeUninit::<libc::utsname>::uninit();
        // SAFETY: the pointer is valid for writes of one utsname, which is all uname does.
        let returned = unsafe { libc::uname(name.as_mut_ptr()) };
        if returned != 0 {
            return None;
        }
        // SAFETY: uname succeeded, so every field is filled.
        let name = unsafe { name.assume_init() };
        let release = name
            .release
            .map(|byte| u8::from_ne_bytes(byte.to_ne_bytes()));
        Self::parse(CStr::from_bytes_until_nul(&release).ok()?.to_str().ok()?)
    }

    /// Reads a release text such as `6.18.44-generic`; missing numbers count as 0.
    #[must_use]
    pub fn parse(release: &str) -> Option<Self> {
        let mut numbers = release
            .split(|character: char| !character.is_ascii_digit())
            .map(str::parse::<u32>);
        let major = numbers.next()?.ok()?;
        let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
        Some(Self {
            major,
            minor: next(),
            patch: next(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_text_is_read_up_to_its_suffix() {
        let cases = [
            ("6.18.44-fc-v657", Some(KernelVersion::new(6, 18, 44))),
            ("5.4", Some(KernelVersion::new(5, 4, 0))),
            ("7.0-rc1", Some(KernelVersion::new(7, 0, 0))),
            ("4.14.336+", Some(KernelVersion::new(4, 14, 336))),
            ("next", None),
        ];

        for (text, expected) in cases {
            assert_eq!(KernelVersion::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn versions_compare_in_release_order() {
        assert!(KernelVersion::new(5, 12, 0) > KernelVersion::new(5, 4, 250));
        assert!(KernelVersion::new(7, 1, 5) > KernelVersion::new(7, 1, 4));
    }

    #[test]
    fn the_running_kernel_has_a_version() {
        assert!(KernelVersion::running().unwrap() >= KernelVersion::new(3, 0, 0));
    }
}
