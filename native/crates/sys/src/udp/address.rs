use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// A socket address in the kernel's form: `sockaddr_in` or `sockaddr_in6`.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub(crate) struct Name {
    pub(crate) bytes: [u8; Self::CAPACITY],
}

impl Name {
    /// The larger of the two forms.
    pub(super) const CAPACITY: usize = size_of::<libc::sockaddr_in6>();

    /// The same as the kernel counts it.
    pub(super) const CAPACITY_FOR_KERNEL: libc::socklen_t = length(Self::CAPACITY);

    pub(super) const EMPTY: Self = Self {
        bytes: [0; Self::CAPACITY],
    };

    /// Writes an address; the length is that of its form.
    pub(crate) fn encode(address: SocketAddr) -> (Self, libc::socklen_t) {
        let mut name = Self::EMPTY;
        let mut writer = name.bytes.iter_mut();
        let mut put = |bytes: &[u8]| {
            for (byte, slot) in bytes.iter().zip(writer.by_ref()) {
                *slot = *byte;
            }
        };
        let len = match address {
            SocketAddr::V4(address) => {
                put(&FAMILY_V4.to_ne_bytes());
                put(&address.port().to_be_bytes());
                put(&address.ip().octets());
                length(size_of::<libc::sockaddr_in>())
            }
            SocketAddr::V6(address) => {
                put(&FAMILY_V6.to_ne_bytes());
                put(&address.port().to_be_bytes());
                put(&address.flowinfo().to_ne_bytes());
                put(&address.ip().octets());
                put(&address.scope_id().to_ne_bytes());
                length(size_of::<libc::sockaddr_in6>())
            }
        };
        (name, len)
    }

    /// Reads an address of `len` bytes; `None` for another family or a cut one.
    pub(super) fn decode(&self, len: usize) -> Option<SocketAddr> {
        let bytes = self.bytes.get(..len)?;
        let (family, rest) = bytes.split_first_chunk::<2>()?;
        let (port, rest) = rest.split_first_chunk::<2>()?;
        let port = u16::from_be_bytes(*port);
        match u16::from_ne_bytes(*family) {
            FAMILY_V4 => {
                let (ip, _) = rest.split_first_chunk::<4>()?;
                Some(SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::from(*ip), port)))
            }
            FAMILY_V6 => {
                let (flow, rest) = rest.split_first_chunk::<4>()?;
                let (ip, rest) = rest.split_first_chunk::<16>()?;
                let (scope, _) = rest.split_first_chunk::<4>()?;
                let flow = u32::from_ne_bytes(*flow);
                let scope = u32::from_ne_bytes(*scope);
                Some(SocketAddr::V6(SocketAddrV6::new(
                    Ipv6Addr::from(*ip),
                    port,
                    flow,
                    scope,
                )))
            }
            _ => None,
        }
    }
}

const FAMILY_V4: u16 = family(libc::AF_INET);
const FAMILY_V6: u16 = family(libc::AF_INET6);

#[expect(
    clippy::cast_possible_truncation,
    reason = "socket addresses have at most 28 bytes"
)]
const fn length(bytes: usize) -> libc::socklen_t {
    bytes as libc::socklen_t
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "address families are small numbers"
)]
const fn family(number: libc::c_int) -> u16 {
    number.cast_unsigned() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_back_as_it_was_written() {
        for text in [
            "127.0.0.1:51820",
            "0.0.0.0:0",
            "[fd09::1]:65535",
            "[fe80::1%3]:1",
        ] {
            let address: SocketAddr = text.parse().unwrap();
            let (name, len) = Name::encode(address);

            assert_eq!(name.decode(len as usize), Some(address));
        }
    }

    #[test]
    fn a_cut_or_foreign_address_is_none() {
        let (name, len) = Name::encode("[fd09::1]:9".parse().unwrap());

        assert_eq!(name.decode(len as usize - 1), None);
        assert_eq!(name.decode(Name::CAPACITY + 1), None);
        assert_eq!(Name::EMPTY.decode(Name::CAPACITY), None);
    }
}
