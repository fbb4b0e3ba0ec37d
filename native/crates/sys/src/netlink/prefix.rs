use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

/// An IP address with a prefix length; prints and parses as `10.0.0.1/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    address: IpAddr,
    len: u8,
}

impl Prefix {
    /// An address with a prefix length; host bits may be set, as in the address of an interface.
    ///
    /// # Errors
    /// When the length exceeds the bits of the address.
    pub fn new(address: IpAddr, len: u8) -> Result<Self, PrefixError> {
        let len_max = if address.is_ipv4() { 32 } else { 128 };
        if len > len_max {
            Err(PrefixError::Length { len, len_max })
        } else {
            Ok(Self { address, len })
        }
    }

    /// The address as given.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// The prefix length.
    #[must_use]
    pub const fn prefix_len(&self) -> u8 {
        self.len
    }

    /// The same prefix with the host bits cleared, as a route wants it.
    #[must_use]
    pub fn network(&self) -> Self {
        let address = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.len)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX
                    .checked_shl(128 - u32::from(self.len))
                    .unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
            }
        };
        Self {
            address,
            len: self.len,
        }
    }
}

impl core::fmt::Display for Prefix {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "{}/{}", self.address, self.len)
    }
}

impl FromStr for Prefix {
    type Err = PrefixError;

    /// Reads `address/length`; without a length the prefix is the one address.
    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let (address, len) = text
            .split_once('/')
            .map_or((text, None), |(address, len)| (address, Some(len)));
        let malformed = || PrefixError::Malformed {
            text: text.to_owned(),
        };
        let address: IpAddr = address.parse().map_err(|_| malformed())?;
        let len = match len {
            Some(len) => len.parse().map_err(|_| malformed())?,
            None if address.is_ipv4() => 32,
            None => 128,
        };
        Self::new(address, len)
    }
}

/// Why a text or pair is no prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrefixError {
    /// Not an address, a slash and a number.
    Malformed {
        /// What was given.
        text: String,
    },
    /// A length beyond the address.
    Length {
        /// The length given.
        len: u8,
        /// The most this family allows.
        len_max: u8,
    },
}

impl core::fmt::Display for PrefixError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Malformed { text } => {
                write!(formatter, "{text:?} is not an address with a prefix length")
            }
            Self::Length { len, len_max } => {
                write!(
                    formatter,
                    "prefix length {len} is more than the {len_max} bits of the address"
                )
            }
        }
    }
}

impl core::error::Error for PrefixError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_prints_as_it_was_read() {
        for text in ["10.9.0.2/24", "0.0.0.0/0", "fd09::2/64", "::/0"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        assert_eq!(
            "10.0.0.1".parse::<Prefix>().unwrap().to_string(),
            "10.0.0.1/32"
        );
        assert_eq!(
            "fd00::1".parse::<Prefix>().unwrap().to_string(),
            "fd00::1/128"
        );
    }

    #[test]
    fn a_network_has_no_host_bits() {
        let cases = [
            ("10.9.7.2/16", "10.9.0.0/16"),
            ("10.9.7.2/0", "0.0.0.0/0"),
            ("10.9.7.2/32", "10.9.7.2/32"),
            ("fd09:1:2:3::9/48", "fd09:1:2::/48"),
            ("fd09::9/0", "::/0"),
        ];

        for (text, network) in cases {
            assert_eq!(
                text.parse::<Prefix>().unwrap().network().to_string(),
                network
            );
        }
    }

    #[test]
    fn what_is_no_prefix_is_refused_with_its_number() {
        assert_eq!(
            "10.0.0.1/33".parse::<Prefix>(),
            Err(PrefixError::Length {
                len: 33,
                len_max: 32
            })
        );
        assert_eq!(
            "::1/129".parse::<Prefix>(),
            Err(PrefixError::Length {
                len: 129,
                len_max: 128
            })
        );
        for text in [
            "",
            "10.0.0/8",
            "10.0.0.1/",
            "10.0.0.1/-1",
            "host/8",
            "10.0.0.1/8/8",
        ] {
            assert!(
                matches!(text.parse::<Prefix>(), Err(PrefixError::Malformed { .. })),
                "{text}"
            );
        }
    }
}
