//! Fields of a command body.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use filter::{Action, Directions, PortRange, Rule};
use tables::Prefix;
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

    pub(crate) fn rule(&mut self) -> Result<Rule, Problem> {
        let action = match self.u8()? {
            0 => Action::Deny,
            1 => Action::Allow,
            _ => return Err(Problem::BadField { field: "action" }),
        };
        let directions = match self.u8()? {
            1 => Directions::In,
            2 => Directions::Out,
            3 => Directions::Both,
            _ => return Err(Problem::BadField { field: "direction" }),
        };
        let protocol = Some(self.u8()?).filter(|protocol| *protocol != 0);
        let family = self.u8()?;
        let (source_bits, destination_bits) = (self.u8()?, self.u8()?);
        let ports = PortRange {
            low: self.u16()?,
            high: self.u16()?,
        };
        self.zeros::<2>()?;
        let id = self.u32()?;
        Ok(Rule {
            id,
            action,
            directions,
            protocol,
            source: self.range(family, source_bits)?,
            destination: self.range(family, destination_bits)?,
            ports,
        })
    }

    /// The address range of a rule; `None` when the rule speaks about every family.
    fn range(&mut self, family: u8, bits: u8) -> Result<Option<Prefix>, Problem> {
        if family == 0 {
            self.bytes::<16>()?;
            return Ok(None);
        }
        let address = self
            .address(family)?
            .ok_or(Problem::BadField { field: "family" })?;
        Prefix::new(address, bits)
            .map(Some)
            .map_err(|_| Problem::BadField {
                field: "prefix length",
            })
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(Problem::CutOff)?;
        self.0 = rest;
        Ok(*taken)
    }
}
