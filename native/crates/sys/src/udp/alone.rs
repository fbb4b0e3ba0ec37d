use std::io;
use std::os::fd::AsFd;

use ports::{Carriage, Ecn, Endpoint, SendOutcome};

use super::calls::Calls;
use super::option;
use super::socket::{Family, Socket};

impl<C: Calls> Socket<C> {
    /// Sends one datagram under its own rule about fragments. The rule belongs to the socket, so it is set before and
    /// taken back after the call; nobody else sends through this socket meanwhile.
    pub(super) fn send_alone(
        &mut self,
        to: &Endpoint,
        payload: &[u8],
        carriage: Carriage,
    ) -> SendOutcome {
        if let Err(error) = self.set_discovery(Discovery::of(carriage)) {
            return SendOutcome {
                handled: 1,
                error: Some(error),
                ..SendOutcome::default()
            };
        }
        let outcome = self.send_marked(to, payload, payload.len(), Ecn::NotCapable);
        // Taking back what was just accepted cannot be refused.
        let _ = self.set_discovery(Discovery::USUAL);
        outcome
    }

    fn set_discovery(&self, discovery: Discovery) -> io::Result<()> {
        let fd = self.fd.as_fd();
        match self.family {
            Family::V4 => option::set(fd, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, discovery.mode),
            Family::V6 => {
                let (level, mode) = (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER);
                option::set(fd, level, mode, discovery.mode)?;
                option::set(fd, level, libc::IPV6_MTU, discovery.fragment_len_v6)
            }
        }
    }
}

/// What the kernel may do about a datagram that is too big. The numbers are the same for both families.
#[derive(Clone, Copy)]
struct Discovery {
    mode: i32,
    /// Longest IPv6 packet; 0 = what the path is believed to carry. IPv6 routers never fragment, so the sender has to.
    fragment_len_v6: i32,
}

impl Discovery {
    /// Don't fragment, except what exceeds the MTU learnt for the path: the kernel's own default.
    const USUAL: Self = Self {
        mode: libc::IP_PMTUDISC_WANT,
        fragment_len_v6: 0,
    };

    const fn of(carriage: Carriage) -> Self {
        match carriage {
            Carriage::Whole => Self {
                mode: libc::IP_PMTUDISC_PROBE,
                fragment_len_v6: 0,
            },
            Carriage::Fragments => Self {
                mode: libc::IP_PMTUDISC_DONT,
                fragment_len_v6: IPV6_MTU_MIN,
            },
        }
    }
}

/// Every IPv6 link carries this.
const IPV6_MTU_MIN: i32 = 1280;
