use std::io;

use crate::errno;

/// Why the kernel's network configuration could not be read or changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum NetlinkError {
    /// No link has this name.
    NoSuchLink {
        /// The name asked for.
        name: String,
    },
    /// `CAP_NET_ADMIN` is missing.
    Permission {
        /// What was tried.
        operation: &'static str,
        /// The kernel's refusal.
        source: io::Error,
    },
    /// The address or route exists, and not the way it was asked for.
    AlreadyExists {
        /// What was tried.
        operation: &'static str,
        /// The address or route.
        subject: String,
        /// The kernel's refusal.
        source: io::Error,
    },
    /// The address or route to remove is not there.
    NotFound {
        /// What was tried.
        operation: &'static str,
        /// The address or route.
        subject: String,
        /// The kernel's refusal.
        source: io::Error,
    },
    /// The kernel refused for another reason.
    Refused {
        /// What was tried.
        operation: &'static str,
        /// The link, address or route.
        subject: String,
        /// The kernel's refusal.
        source: io::Error,
    },
    /// No netlink socket, or it failed.
    Socket {
        /// The kernel's refusal.
        source: io::Error,
    },
    /// The kernel's answer could not be read.
    Answer {
        /// What is wrong with it.
        detail: String,
    },
}

impl NetlinkError {
    /// A short fixed word for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoSuchLink { .. } => "no_such_link",
            Self::Permission { .. } => "permission",
            Self::AlreadyExists { .. } => "already_exists",
            Self::NotFound { .. } => "not_found",
            Self::Refused { .. } => "refused",
            Self::Socket { .. } => "socket",
            Self::Answer { .. } => "answer",
        }
    }

    /// The kernel's error number; 0 when the kernel is not the origin.
    #[must_use]
    pub fn errno(&self) -> i32 {
        match self {
            Self::NoSuchLink { .. } => libc::ENODEV,
            Self::Permission { source, .. }
            | Self::AlreadyExists { source, .. }
            | Self::NotFound { source, .. }
            | Self::Refused { source, .. }
            | Self::Socket { source } => errno::of(source),
            Self::Answer { .. } => 0,
        }
    }

    pub(super) fn refused(operation: &'static str, subject: &str, source: io::Error) -> Self {
        let subject = subject.to_owned();
        match errno::of(&source) {
            libc::EPERM | libc::EACCES => Self::Permission { operation, source },
            libc::EEXIST => Self::AlreadyExists {
                operation,
                subject,
                source,
            },
            libc::ESRCH | libc::EADDRNOTAVAIL => Self::NotFound {
                operation,
                subject,
                source,
            },
            _ => Self::Refused {
                operation,
                subject,
                source,
            },
        }
    }
}

impl core::fmt::Display for NetlinkError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoSuchLink { name } => {
                write!(formatter, "there is no network interface named {name}")
            }
            Self::Permission { operation, .. } => {
                write!(
                    formatter,
                    "{operation} needs root or the capability CAP_NET_ADMIN"
                )
            }
            Self::AlreadyExists {
                operation, subject, ..
            } => {
                write!(
                    formatter,
                    "{operation}: {subject} exists already and belongs to something else"
                )
            }
            Self::NotFound {
                operation, subject, ..
            } => write!(formatter, "{operation}: there is no {subject}"),
            Self::Refused {
                operation,
                subject,
                source,
            } => {
                write!(
                    formatter,
                    "{operation}: the kernel refused {subject}: {source}"
                )
            }
            Self::Socket { source } => write!(formatter, "the netlink socket failed: {source}"),
            Self::Answer { detail } => write!(
                formatter,
                "the kernel's netlink answer is unreadable: {detail}"
            ),
        }
    }
}

impl core::error::Error for NetlinkError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Permission { source, .. }
            | Self::AlreadyExists { source, .. }
            | Self::NotFound { source, .. }
            | Self::Refused { source, .. }
            | Self::Socket { source } => Some(source),
            Self::NoSuchLink { .. } | Self::Answer { .. } => None,
        }
    }
}
