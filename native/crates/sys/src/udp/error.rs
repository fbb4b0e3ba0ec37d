use std::io;

use crate::errno;

/// Why a UDP socket could not be made ready.
#[derive(Debug)]
#[non_exhaustive]
pub enum BindError {
    /// Another socket has the port.
    PortInUse {
        /// The port asked for.
        port: u16,
        /// The kernel's refusal.
        source: io::Error,
    },
    /// The port or the firewall mark needs a privilege.
    Permission {
        /// What was tried.
        operation: &'static str,
        /// The kernel's refusal.
        source: io::Error,
    },
    /// The host has no such address family.
    FamilyUnavailable {
        /// The kernel's refusal.
        source: io::Error,
    },
    /// An option is out of its range.
    InvalidOption {
        /// Which.
        option: &'static str,
        /// The value given.
        value: usize,
        /// The least allowed.
        least: usize,
        /// The most allowed.
        most: usize,
    },
    /// The kernel refused for another reason.
    Refused {
        /// What was tried.
        operation: &'static str,
        /// The kernel's refusal.
        source: io::Error,
    },
}

impl BindError {
    /// A short fixed word for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::PortInUse { .. } => "port_in_use",
            Self::Permission { .. } => "udp_permission",
            Self::FamilyUnavailable { .. } => "udp_family",
            Self::InvalidOption { .. } => "invalid_option",
            Self::Refused { .. } => "udp_refused",
        }
    }

    /// The kernel's error number; 0 when the kernel is not the origin.
    #[must_use]
    pub fn errno(&self) -> i32 {
        match self {
            Self::InvalidOption { .. } => 0,
            Self::PortInUse { source, .. }
            | Self::Permission { source, .. }
            | Self::FamilyUnavailable { source }
            | Self::Refused { source, .. } => errno::of(source),
        }
    }

    pub(super) fn from_kernel(operation: &'static str, port: u16, source: io::Error) -> Self {
        match errno::of(&source) {
            libc::EADDRINUSE => Self::PortInUse { port, source },
            libc::EPERM | libc::EACCES => Self::Permission { operation, source },
            libc::EAFNOSUPPORT | libc::EADDRNOTAVAIL => Self::FamilyUnavailable { source },
            _ => Self::Refused { operation, source },
        }
    }
}

impl core::fmt::Display for BindError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::PortInUse { port, .. } => {
                write!(
                    formatter,
                    "UDP port {port} is in use: choose another or stop the program that has it"
                )
            }
            Self::Permission { operation, .. } => {
                write!(
                    formatter,
                    "{operation} is not permitted: it needs root or a capability (CAP_NET_ADMIN for a \
                    firewall mark, CAP_NET_BIND_SERVICE for a port below 1024)"
                )
            }
            Self::FamilyUnavailable { .. } => {
                formatter.write_str("this host has no such address family (IPv6 is off)")
            }
            Self::InvalidOption {
                option,
                value,
                least,
                most,
            } => {
                write!(formatter, "{option} must be {least} to {most}, not {value}")
            }
            Self::Refused { operation, source } => {
                write!(formatter, "the kernel refused {operation}: {source}")
            }
        }
    }
}

impl core::error::Error for BindError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::InvalidOption { .. } => None,
            Self::PortInUse { source, .. }
            | Self::Permission { source, .. }
            | Self::FamilyUnavailable { source }
            | Self::Refused { source, .. } => Some(source),
        }
    }
}
