use core::fmt;
use core::net::IpAddr;

/// An address range of one family: all addresses that share the first `len` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prefix {
    address: IpAddr,
    len: u8,
}

impl Prefix {
    /// The range of `len` bits around an address; bits behind them are cleared.
    ///
    /// # Errors
    /// `len` is larger than the family's address.
    pub fn new(address: IpAddr, len: u8) -> Result<Self, PrefixError> {
        let bits = family_bits(address);
        if len > bits {
            return Err(PrefixError { len, bits });
        }
        let kept = left_aligned(address) & mask(len);
        Ok(Prefix {
            address: restore(address, kept),
            len,
        })
    }

    /// First address of the range.
    #[must_use]
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Bits that all addresses share.
    #[must_use]
    pub fn bits(&self) -> u8 {
        self.len
    }

    /// Says whether an address of the same family lies in the range.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4()
            && (left_aligned(self.address) ^ left_aligned(address)) & mask(self.len) == 0
    }

    pub(crate) fn key(&self) -> u128 {
        left_aligned(self.address)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.len)
    }
}

/// A prefix length that its family does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixError {
    /// The length asked for.
    pub len: u8,
    /// The most the family allows.
    pub bits: u8,
}

impl fmt::Display for PrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a prefix of {} bits in an address of {}",
            self.len, self.bits
        )
    }
}

impl core::error::Error for PrefixError {}

/// The address as the high bits of a number, so that both families share one comparison.
pub(crate) fn left_aligned(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()) << 96,
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// The `len` highest bits.
pub(crate) fn mask(len: u8) -> u128 {
    u128::MAX
        .checked_shl(128 - u32::from(len.min(128)))
        .unwrap_or(0)
}

fn family_bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

fn restore(family: IpAddr, key: u128) -> IpAddr {
    match family {
        IpAddr::V4(_) => IpAddr::V4(((key >> 96) as u32).into()),
        IpAddr::V6(_) => IpAddr::V6(key.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_behind_the_length_do_not_count() {
        let prefix = Prefix::new("10.1.2.3".parse().unwrap(), 8).unwrap();

        assert_eq!(prefix.to_string(), "10.0.0.0/8");
        assert!(prefix.contains("10.255.0.1".parse().unwrap()));
        assert!(!prefix.contains("11.0.0.0".parse().unwrap()));
        assert!(!prefix.contains("a00::".parse().unwrap()), "another family");
        assert!(
            Prefix::new("::".parse().unwrap(), 0)
                .unwrap()
                .contains("ffff::1".parse().unwrap())
        );
    }

    #[test]
    fn a_length_the_family_does_not_have_is_refused() {
        assert_eq!(
            Prefix::new("10.0.0.0".parse().unwrap(), 33),
            Err(PrefixError { len: 33, bits: 32 })
        );
        assert_eq!(
            Prefix::new("::".parse().unwrap(), 129),
            Err(PrefixError {
                len: 129,
                bits: 128
            })
        );
    }
}
