//! Fields of a command body.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use zeroize::Zeroizing;

use crate::command::Problem;

/// Takes little-endian fields from the front of a body.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Self {
        Reader(body)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Problem> {
        self.bytes().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Problem> {
        self.bytes().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Problem> {
        self.bytes().map(u32::from_le_bytes)
    }

    pub(crate) fn key(&mut self) -> Result<Zeroizing<[u8; 32]>, Problem> {
        self.bytes().map(Zeroizing::new)
    }

    pub(crate) fn zeros<const N: usize>(&mut self) -> Result<(), Problem> {
        if self.bytes::<N>()? == [0; N] {
            Ok(())
        } else {
            Err(Problem::NotZero)
        }
    }

    pub(crate) fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.0)
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Problem> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Problem::CutOff)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn endpoint(&mut self) -> Result<Option<SocketAddr>, Problem> {
        let family = self.u8()?;
        self.zeros::<1>()?;
        let port = self.u16()?;
        let address = self.address(family)?;
        if address.is_none() && port != 0 {
            return Err(Problem::NotZero);
        }
        Ok(address.map(|address| SocketAddr::new(address, port)))
    }

    /// Sixteen bytes of address; `None` for family 0, where all must be zero.
    pub(crate) fn address(&mut self, family: u8) -> Result<Option<IpAddr>, Problem> {
        match family {
            0 => self.zeros::<16>().map(|()| None),
            4 => {
                let octets = self.bytes::<4>()?;
                self.zeros::<12>()?;
                Ok(Some(Ipv4Addr::from(octets).into()))
            }
            6 => Ok(Some(Ipv6Addr::from(self.bytes::<16>()?).into())),
            _ => Err(Problem::BadField { field: "family" }),
        }
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(Problem::CutOff)?;
        self.0 = rest;
        Ok(*taken)
    }
}
