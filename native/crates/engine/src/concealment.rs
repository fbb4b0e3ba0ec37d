//! How the datagrams of an engine are disguised.

use conceal::{
    Cookies, HeaderKey, Junk, Profile, ProfileError, Settings, Trailers, TypeRange, WINDOW_START,
};
use zeroize::Zeroizing;

use crate::command::Problem;
use crate::reader::Reader;

/// A profile in force and the seed that its chance comes from.
#[derive(Debug)]
pub(crate) struct Concealment {
    pub(crate) profile: Profile,
    seed: Zeroizing<[u8; 32]>,
}

/// Whom a handshake message goes to, as far as its length depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    pub(crate) window: usize,
    pub(crate) unix_seconds: u32,
}

impl Reach {
    /// Somebody about whom nothing is known.
    pub(crate) const STRANGER: Reach = Reach {
        window: WINDOW_START,
        unix_seconds: 0,
    };
}

impl Concealment {
    /// Chance of one shard. Two profiles never have the same seed: the slow path draws one for each command.
    pub(crate) fn random(&self, shard: u16) -> conceal::Random {
        conceal::Random::new(&self.seed, shard.into())
    }

    /// Whether both draw from the same seed.
    pub(crate) fn has_seed(&self, seed: &[u8; 32]) -> bool {
        *self.seed == *seed
    }

    pub(crate) fn seed(&self) -> [u8; 32] {
        *self.seed
    }

    /// Reads the body of `SetConceal`; an empty one means plain WireGuard.
    pub(crate) fn read(body: &mut Reader<'_>) -> Result<Option<Box<Self>>, Problem> {
        if body.is_empty() {
            return Ok(None);
        }
        if body.u32()? != VERSION {
            return Err(Problem::BadField { field: "version" });
        }
        let flags = body.u32()?;
        if flags & !(TRAILERS | NO_COOKIES) != 0 {
            return Err(Problem::BadField { field: "flags" });
        }
        let junk = Junk {
            count: body.u16()?,
            len_min: body.u16()?,
            len_max: body.u16()?,
        };
        body.zeros::<2>()?;
        let paddings = [body.u16()?, body.u16()?, body.u16()?, body.u16()?];
        let types = [
            types(body, "h1")?,
            types(body, "h2")?,
            types(body, "h3")?,
            types(body, "h4")?,
        ];
        let content_padding = (body.u16()?, body.u16()?);
        let header_key = HeaderKey::new(&*body.key()?);
        let seed = body.key()?;
        let settings = Settings {
            junk,
            paddings,
            types,
            signatures: [
                signature(body, "i1")?,
                signature(body, "i2")?,
                signature(body, "i3")?,
                signature(body, "i4")?,
                signature(body, "i5")?,
            ],
            header_key,
            content_padding,
            trailers: if flags & TRAILERS == 0 {
                Trailers::Off
            } else {
                Trailers::On
            },
            cookies: if flags & NO_COOKIES == 0 {
                Cookies::Given
            } else {
                Cookies::Disabled
            },
        };
        let refused = |error: ProfileError| Problem::BadField { field: error.key };
        let profile = Profile::new(settings).map_err(refused)?;
        Ok(Some(Box::new(Concealment { profile, seed })))
    }
}

fn types(body: &mut Reader<'_>, field: &'static str) -> Result<TypeRange, Problem> {
    let (low, high) = (body.u32()?, body.u32()?);
    TypeRange::new(low, high).ok_or(Problem::BadField { field })
}

fn signature(body: &mut Reader<'_>, field: &'static str) -> Result<String, Problem> {
    let len = body.u16()?;
    let bytes = body.take(len.into())?;
    let text = core::str::from_utf8(bytes).map_err(|_| Problem::BadField { field })?;
    Ok(text.to_owned())
}

const VERSION: u32 = 1;
const TRAILERS: u32 = 1;
const NO_COOKIES: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Vec<u8> {
        let mut body = [1_u32, 0].map(u32::to_le_bytes).concat();
        body.extend([0; 8 + 8]);
        for value in 1_u32..5 {
            body.extend([value, value].map(u32::to_le_bytes).concat());
        }
        body.extend([0; 4 + 32 + 32 + 10]);
        body
    }

    fn read(body: &[u8]) -> Result<Option<Box<Concealment>>, Problem> {
        let mut reader = Reader::new(body);
        let read = Concealment::read(&mut reader);
        assert!(read.is_err() || reader.is_empty());
        read
    }

    #[test]
    fn an_empty_body_switches_it_off_and_the_defaults_are_taken() {
        assert!(read(&[]).unwrap().is_none());
        assert!(read(&plain()).unwrap().is_some());
    }

    #[test]
    fn a_field_without_meaning_is_refused_by_its_name() {
        let cases = [
            (0, 2, "version"),
            (4, 4, "flags"),
            (8, 200, "jc"),
            (24, 9, "h1"),
            (32, 3, "h2"),
            (56, 1, "content_padding_addition"),
            (60, 1, "s1"),
        ];
        for (at, byte, field) in cases {
            let mut body = plain();
            body[at] = byte;
            if at == 32 {
                body[36] = byte;
            }
            assert_eq!(
                read(&body).map(|_| ()),
                Err(Problem::BadField { field }),
                "{at}"
            );
        }
        let mut tags = plain();
        tags.truncate(124);
        tags.extend([0, 0, 3, 0, b'<', b'c', b'>', 0, 0, 0, 0, 0, 0]);
        assert_eq!(
            read(&tags).map(|_| ()),
            Err(Problem::BadField { field: "i2" })
        );
        assert_eq!(read(&plain()[..50]).map(|_| ()), Err(Problem::CutOff));
    }
}
