use std::io;
use std::os::fd::AsFd;

use ports::{Carriage, Ecn, Endpoint, PathBound, SendOutcome};

use super::calls::Calls;
use super::option;
use super::socket::{Family, Socket};

impl<C: Calls> Socket<C> {
    /// Sends one datagram under its own rule about fragments. The rule belongs to the socket; nobody else sends through
    /// this socket meanwhile, and what follows sets the rule that it needs.
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
        self.send_under_rule(to, payload, payload.len(), Ecn::NotCapable)
    }

    /// Sends datagrams under the rule of the bound that counts for them. Paths of both kinds share a socket; a mesh has
    /// mostly one kind, so the rule is seldom changed.
    pub(super) fn send_marked(
        &mut self,
        to: &Endpoint,
        payload: &[u8],
        segment_size: usize,
        ecn: Ecn,
    ) -> SendOutcome {
        // A kernel that refuses keeps its own rule: believing costs speed, not datagrams.
        let _ = self.set_discovery(Discovery::under(self.bound));
        self.send_under_rule(to, payload, segment_size, ecn)
    }

    fn set_discovery(&mut self, discovery: Discovery) -> io::Result<()> {
        if self.discovery == discovery {
            return Ok(());
        }
        let fd = self.fd.as_fd();
        match self.family {
            Family::V4 => option::set(fd, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, discovery.mode)?,
            Family::V6 => {
                let (level, mode) = (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER);
                option::set(fd, level, mode, discovery.mode)?;
                option::set(fd, level, libc::IPV6_MTU, discovery.fragment_len_v6)?;
            }
        }
        self.discovery = discovery;
        Ok(())
    }
}

/// What the kernel may do about a datagram that is too big. The numbers are the same for both families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Discovery {
    mode: i32,
    /// Longest IPv6 packet; 0 = what the path is believed to carry. IPv6 routers never fragment, so the sender has to.
    fragment_len_v6: i32,
}

impl Discovery {
    /// Don't fragment, except what exceeds the MTU learnt for the path: the kernel's own default.
    pub(super) const USUAL: Self = Self {
        mode: libc::IP_PMTUDISC_WANT,
        fragment_len_v6: 0,
    };
    /// Don't fragment, up to the MTU of the device, whatever was learnt.
    const WHOLE: Self = Self {
        mode: libc::IP_PMTUDISC_PROBE,
        fragment_len_v6: 0,
    };

    const fn of(carriage: Carriage) -> Self {
        match carriage {
            Carriage::Whole => Self::WHOLE,
            Carriage::Fragments => Self {
                mode: libc::IP_PMTUDISC_DONT,
                fragment_len_v6: IPV6_MTU_MIN,
            },
        }
    }

    const fn under(bound: PathBound) -> Self {
        match bound {
            PathBound::Believed => Self::USUAL,
            PathBound::Proven => Self::WHOLE,
        }
    }
}

/// Every IPv6 link carries this.
const IPV6_MTU_MIN: i32 = 1280;
