use std::io;

use crate::errno;
use crate::netlink::NetlinkError;

/// Why a TUN device could not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// Not 1 to 15 bytes, or with a character an interface name cannot have.
    InvalidName {
        /// The name asked for.
        name: String,
    },
    /// No queue, or more than the kernel allows.
    InvalidQueues {
        /// The number asked for.
        queues: usize,
        /// The most a device can have.
        queues_max: usize,
    },
    /// `/dev/net/tun` is missing.
    NoDevice {
        /// The kernel's refusal.
        source: io::Error,
    },
    /// `CAP_NET_ADMIN`, or access to `/dev/net/tun`, is missing.
    Permission {
        /// What was tried.
        operation: &'static str,
        /// The kernel's refusal.
        source: io::Error,
    },
    /// An interface of this name exists.
    NameTaken {
        /// The name asked for.
        name: String,
        /// The kernel's refusal.
        source: io::Error,
    },
    /// The descriptor handed over is no layer 3 TUN device.
    NotTun {
        /// Its interface flags; 0 when it is no TUN descriptor at all.
        flags: u32,
    },
    /// The kernel lacks something that cannot be done without.
    Unsupported {
        /// What was tried.
        operation: &'static str,
        /// The kernel's refusal.
        source: io::Error,
    },
    /// The device exists, but its link could not be set up.
    Configure {
        /// What went wrong.
        source: NetlinkError,
    },
    /// The kernel refused for another reason.
    Refused {
        /// What was tried.
        operation: &'static str,
        /// The kernel's refusal.
        source: io::Error,
    },
}

impl OpenError {
    /// A short fixed word for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidName { .. } | Self::InvalidQueues { .. } => "invalid_option",
            Self::NoDevice { .. } => "tun_missing",
            Self::Permission { .. } => "tun_permission",
            Self::NameTaken { .. } => "tun_busy",
            Self::NotTun { .. } => "tun_kind",
            Self::Unsupported { .. } => "tun_unsupported",
            Self::Configure { .. } => "tun_configure",
            Self::Refused { .. } => "tun_refused",
        }
    }

    /// The kernel's error number; 0 when the kernel is not the origin.
    #[must_use]
    pub fn errno(&self) -> i32 {
        match self {
            Self::InvalidName { .. } | Self::InvalidQueues { .. } | Self::NotTun { .. } => 0,
            Self::NoDevice { source }
            | Self::Permission { source, .. }
            | Self::NameTaken { source, .. }
            | Self::Unsupported { source, .. }
            | Self::Refused { source, .. } => errno::of(source),
            Self::Configure { source } => source.errno(),
        }
    }

    /// What a refusal of the kernel means, in the step that opens or attaches.
    pub(super) fn from_kernel(operation: &'static str, name: &str, source: io::Error) -> Self {
        match errno::of(&source) {
            libc::EPERM | libc::EACCES => Self::Permission { operation, source },
            libc::EBUSY | libc::EEXIST => Self::NameTaken {
                name: name.to_owned(),
                source,
            },
            libc::ENOENT | libc::ENODEV | libc::ENXIO => Self::NoDevice { source },
            libc::EINVAL | libc::ENOTTY | libc::EOPNOTSUPP => {
                Self::Unsupported { operation, source }
            }
            _ => Self::Refused { operation, source },
        }
    }
}

impl core::fmt::Display for OpenError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::InvalidName { name } => write!(
                formatter,
                "{name:?} is no interface name: use 1 to 15 letters, digits, dots, dashes or underscores"
            ),
            Self::InvalidQueues { queues, queues_max } => {
                write!(formatter, "a TUN device has 1 to {queues_max} queues, not {queues}")
            }
            Self::NoDevice { .. } => formatter.write_str(
                "/dev/net/tun is missing: load the kernel module (modprobe tun) or pass the device into the container",
            ),
            Self::Permission { operation, .. } => write!(
                formatter,
                "{operation} is not permitted: run as root, or give the program the capability CAP_NET_ADMIN and \
                 access to /dev/net/tun"
            ),
            Self::NameTaken { name, .. } => write!(
                formatter,
                "the interface name {name} is taken: choose another or remove it (ip link delete {name})"
            ),
            Self::NotTun { flags: 0 } => formatter.write_str("the descriptor handed over is no TUN device"),
            Self::NotTun { flags } => {
                write!(formatter, "the device handed over is no layer 3 TUN (flags {flags:#06x}); TAP is not supported")
            }
            Self::Unsupported { operation, source } => {
                write!(formatter, "this kernel does not support {operation}: {source}")
            }
            Self::Configure { source } => write!(formatter, "the TUN interface could not be set up: {source}"),
            Self::Refused { operation, source } => write!(formatter, "the kernel refused {operation}: {source}"),
        }
    }
}

impl core::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::InvalidName { .. } | Self::InvalidQueues { .. } | Self::NotTun { .. } => None,
            Self::NoDevice { source }
            | Self::Permission { source, .. }
            | Self::NameTaken { source, .. }
            | Self::Unsupported { source, .. }
            | Self::Refused { source, .. } => Some(source),
            Self::Configure { source } => Some(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_names_what_to_do_and_keeps_its_number() {
        let cases = [
            (libc::EPERM, "tun_permission", "CAP_NET_ADMIN"),
            (libc::EACCES, "tun_permission", "/dev/net/tun"),
            (libc::EBUSY, "tun_busy", "ip link delete weft9"),
            (libc::ENOENT, "tun_missing", "modprobe tun"),
            (libc::EINVAL, "tun_unsupported", "attaching"),
            (libc::ENOMEM, "tun_refused", "attaching"),
        ];

        for (errno, code, advice) in cases {
            let error =
                OpenError::from_kernel("attaching", "weft9", io::Error::from_raw_os_error(errno));
            assert_eq!((error.code(), error.errno()), (code, errno));
            assert!(error.to_string().contains(advice), "{error}");
            assert!(core::error::Error::source(&error).is_some());
        }
    }
}
