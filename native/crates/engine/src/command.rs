//! Commands of the slow path, decoded from one byte array per call.

use core::fmt;
use core::net::SocketAddr;
use core::ops::RangeInclusive;

use filter::Filter;
use ports::PathBound;
use tables::Prefix;
use wire::Cipher;
use zeroize::Zeroizing;

use crate::concealment::Concealment;
use crate::filter_body;
use crate::lanes::LANES_MAX;
use crate::reader::Reader;
use crate::session::Ageing;
use crate::silence::Silence;

/// One thing the slow path wants changed.
#[derive(Debug)]
pub(crate) enum Command<'a> {
    /// Changes the tables that shards read: no shard may be in the middle of a batch.
    Tables(TableCommand),
    /// Changes what shards share by atomics, or leaves work for the first shard: goes on beside their batches.
    Beside(BesideCommand<'a>),
}

/// A change of the tables.
#[derive(Debug)]
pub(crate) enum TableCommand {
    AddPeer {
        peer: u32,
        keepalive_seconds: u16,
    },
    RemovePeer {
        peer: u32,
    },
    SetAllowedIps {
        peer: u32,
        prefixes: Vec<Prefix>,
    },
    SetKeepalive {
        peer: u32,
        seconds: u16,
    },
    InstallSession(InstallSession),
    RetireSession {
        local_index: u32,
    },
    SetFilter {
        filter: Box<Filter>,
    },
    SetMtu {
        mtu: usize,
    },
    /// `None` = plain WireGuard.
    SetConceal {
        concealment: Option<Box<Concealment>>,
    },
    SetSilence {
        silence: Silence,
    },
}

/// What needs no change of the tables.
#[derive(Debug)]
pub(crate) enum BesideCommand<'a> {
    SetEndpoint {
        peer: u32,
        remote: Option<SocketAddr>,
    },
    SendHandshake {
        peer: Option<u32>,
        remote: Option<SocketAddr>,
        message: &'a [u8],
    },
    HandshakeGaveUp {
        peer: u32,
    },
    SetCookieSecrets {
        current: Zeroizing<[u8; 32]>,
        previous: Zeroizing<[u8; 32]>,
    },
    SetPathMtu {
        peer: u32,
        /// Largest datagram the path carries; `None` = no own bound.
        payload: Option<usize>,
        probes: Probes,
        bound: PathBound,
    },
    SendProbe {
        peer: u32,
        size: usize,
        id: u32,
    },
}

impl From<TableCommand> for Command<'_> {
    fn from(command: TableCommand) -> Self {
        Command::Tables(command)
    }
}

impl<'a> From<BesideCommand<'a>> for Command<'a> {
    fn from(command: BesideCommand<'a>) -> Self {
        Command::Beside(command)
    }
}

/// Whether path-MTU probes of a peer are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probes {
    Ignored,
    Answered,
}

/// Keys of a finished handshake.
pub(crate) struct InstallSession {
    pub(crate) peer: u32,
    pub(crate) local_index: u32,
    pub(crate) remote_index: u32,
    pub(crate) role: Role,
    pub(crate) cipher: Cipher,
    pub(crate) elision: Elision,
    pub(crate) extensions: Extensions,
    /// Lanes that both ends agreed on; 1 = the first one only.
    pub(crate) lanes: u8,
    pub(crate) age_ms: u32,
    pub(crate) ageing: Ageing,
    pub(crate) send_key: Zeroizing<[u8; 32]>,
    pub(crate) receive_key: Zeroizing<[u8; 32]>,
}

impl fmt::Debug for InstallSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InstallSession")
            .field("peer", &self.peer)
            .field("local_index", &self.local_index)
            .field("role", &self.role)
            .field("cipher", &self.cipher)
            .field("elision", &self.elision)
            .field("extensions", &self.extensions)
            .field("lanes", &self.lanes)
            .finish_non_exhaustive()
    }
}

/// Which side of the handshake we were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Initiator,
    Responder,
}

/// Whether inner TCP and UDP checksums are left to the AEAD under a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elision {
    Off,
    /// Both ends agreed on it: packets are marked, and marked ones are accepted.
    On,
    /// Both ends agreed on it, but it is switched off here: marked packets are accepted, none is made.
    ReceiveOnly,
}

/// Whether both ends agreed on extension messages under a session. In plain WireGuard there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extensions {
    None,
    Agreed,
}

/// Why a batch of commands was refused; nothing of it was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandError {
    /// Where the record starts in the batch.
    pub offset: usize,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The bytes end inside the record.
    CutOff,
    /// No command has this kind.
    UnknownKind {
        /// The kind byte.
        kind: u8,
    },
    /// A flag, the shard or a reserved byte is not zero.
    NotZero,
    /// The body is longer than its kind says.
    BodyTooLong,
    /// A field holds a value outside its meaning.
    BadField {
        /// Name of the field.
        field: &'static str,
    },
    /// The peer number is not below the engine's bound.
    PeerOutOfRange {
        /// The peer number.
        peer: u32,
    },
    /// No such peer.
    UnknownPeer {
        /// The peer number.
        peer: u32,
    },
    /// The peer number is in use.
    PeerInUse {
        /// The peer number.
        peer: u32,
    },
    /// Another session has this index.
    IndexInUse {
        /// The local index.
        local_index: u32,
    },
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "command at byte {}: ", self.offset)?;
        match self.problem {
            Problem::CutOff => f.write_str("the bytes end inside the record"),
            Problem::UnknownKind { kind } => write!(f, "unknown kind {kind}"),
            Problem::NotZero => f.write_str("flags, shard or a reserved byte is not zero"),
            Problem::BodyTooLong => f.write_str("the body is longer than its kind says"),
            Problem::BadField { field } => write!(f, "{field} has no such value"),
            Problem::PeerOutOfRange { peer } => write!(f, "peer {peer} is not below peersMax"),
            Problem::UnknownPeer { peer } => write!(f, "there is no peer {peer}"),
            Problem::PeerInUse { peer } => write!(f, "peer {peer} exists already"),
            Problem::IndexInUse { local_index } => {
                write!(f, "session index {local_index} is in use")
            }
        }
    }
}

impl core::error::Error for CommandError {}

/// Decodes a whole batch; each command with the offset of its record.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<(usize, Command<'_>)>, CommandError> {
    let mut commands = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let offset = bytes.len() - rest.len();
        let (command, behind) = record(rest).map_err(|problem| CommandError { offset, problem })?;
        commands.push((offset, command));
        rest = behind;
    }
    Ok(commands)
}

fn record(bytes: &[u8]) -> Result<(Command<'_>, &[u8]), Problem> {
    let (header, rest) = bytes.split_first_chunk::<8>().ok_or(Problem::CutOff)?;
    let [kind, flags, shard_low, shard_high, l0, l1, l2, l3] = *header;
    if [flags, shard_low, shard_high] != [0; 3] {
        return Err(Problem::NotZero);
    }
    let length =
        usize::try_from(u32::from_le_bytes([l0, l1, l2, l3])).map_err(|_| Problem::CutOff)?;
    let (body, behind) = rest.split_at_checked(length).ok_or(Problem::CutOff)?;
    let mut reader = Reader::new(body);
    let command = body_of(kind, &mut reader)?;
    if !reader.is_empty() {
        return Err(Problem::BodyTooLong);
    }
    Ok((command, behind))
}

fn body_of<'a>(kind: u8, body: &mut Reader<'a>) -> Result<Command<'a>, Problem> {
    Ok(match kind {
        1 => {
            let (peer, keepalive_seconds) = (body.u32()?, body.u16()?);
            body.zeros::<2>()?;
            TableCommand::AddPeer {
                peer,
                keepalive_seconds,
            }
            .into()
        }
        2 => TableCommand::RemovePeer { peer: body.u32()? }.into(),
        3 => {
            let (peer, count) = (body.u32()?, body.u32()?);
            let prefixes = (0..count).map(|_| prefix(body)).collect::<Result<_, _>>()?;
            TableCommand::SetAllowedIps { peer, prefixes }.into()
        }
        4 => BesideCommand::SetEndpoint {
            peer: body.u32()?,
            remote: body.endpoint()?,
        }
        .into(),
        5 => {
            let (peer, seconds) = (body.u32()?, body.u16()?);
            body.zeros::<2>()?;
            TableCommand::SetKeepalive { peer, seconds }.into()
        }
        6 => TableCommand::InstallSession(install_session(body)?).into(),
        7 => TableCommand::RetireSession {
            local_index: body.u32()?,
        }
        .into(),
        8 => {
            let peer = Some(body.u32()?).filter(|peer| *peer != NO_PEER);
            BesideCommand::SendHandshake {
                peer,
                remote: body.endpoint()?,
                message: body.rest(),
            }
            .into()
        }
        9 => BesideCommand::HandshakeGaveUp { peer: body.u32()? }.into(),
        10 => BesideCommand::SetCookieSecrets {
            current: body.key()?,
            previous: body.key()?,
        }
        .into(),
        11 => TableCommand::SetFilter {
            filter: Box::new(filter_body::read(body)?),
        }
        .into(),
        14 => TableCommand::SetMtu {
            mtu: bounded(body.u32()?, MTU, "mtu")?,
        }
        .into(),
        15 => set_path_mtu(body)?.into(),
        16 => BesideCommand::SendProbe {
            peer: body.u32()?,
            size: bounded(body.u32()?, PROBE_SIZE, "size")?,
            id: body.u32()?,
        }
        .into(),
        17 => TableCommand::SetConceal {
            concealment: Concealment::read(body)?,
        }
        .into(),
        70 => TableCommand::SetSilence {
            silence: Silence::read(body)?,
        }
        .into(),
        kind => return Err(Problem::UnknownKind { kind }),
    })
}

fn install_session(body: &mut Reader<'_>) -> Result<InstallSession, Problem> {
    let (peer, local_index, remote_index) = (body.u32()?, body.u32()?, body.u32()?);
    let role = match body.u8()? {
        0 => Role::Initiator,
        1 => Role::Responder,
        _ => return Err(Problem::BadField { field: "role" }),
    };
    let cipher = match body.u8()? {
        0 => Cipher::ChaCha20Poly1305,
        1 => Cipher::Aes256Gcm,
        _ => return Err(Problem::BadField { field: "cipher" }),
    };
    let [flags, lanes] = body.u16()?.to_le_bytes();
    let lanes = match lanes {
        0 => 1,
        2..=LANES_MAX => lanes,
        _ => return Err(Problem::BadField { field: "lanes" }),
    };
    let elision = match flags & !EXTENSIONS_FLAG {
        0 => Elision::Off,
        1 => Elision::On,
        3 => Elision::ReceiveOnly,
        _ => return Err(Problem::BadField { field: "flags" }),
    };
    let extensions = match flags & EXTENSIONS_FLAG {
        0 => Extensions::None,
        _ => Extensions::Agreed,
    };
    Ok(InstallSession {
        peer,
        local_index,
        remote_index,
        role,
        cipher,
        elision,
        extensions,
        lanes,
        age_ms: body.u32()?,
        send_key: body.key()?,
        receive_key: body.key()?,
        ageing: Ageing::read(body)?,
    })
}

fn set_path_mtu<'a>(body: &mut Reader<'a>) -> Result<BesideCommand<'a>, Problem> {
    let (peer, payload) = (body.u32()?, body.u32()?);
    let payload = match payload {
        0 => None,
        bytes => Some(bounded(bytes, PATH_PAYLOAD, "payload")?),
    };
    let probes = match body.u8()? {
        0 => Probes::Ignored,
        1 => Probes::Answered,
        _ => return Err(Problem::BadField { field: "probes" }),
    };
    let bound = match body.u8()? {
        0 => PathBound::Believed,
        1 => PathBound::Proven,
        _ => return Err(Problem::BadField { field: "bound" }),
    };
    body.zeros::<2>()?;
    Ok(BesideCommand::SetPathMtu {
        peer,
        payload,
        probes,
        bound,
    })
}

fn bounded(
    value: u32,
    range: RangeInclusive<usize>,
    field: &'static str,
) -> Result<usize, Problem> {
    usize::try_from(value)
        .ok()
        .filter(|value| range.contains(value))
        .ok_or(Problem::BadField { field })
}

pub(crate) fn prefix(body: &mut Reader<'_>) -> Result<Prefix, Problem> {
    let (family, bits) = (body.u8()?, body.u8()?);
    body.zeros::<2>()?;
    let address = body
        .address(family)?
        .ok_or(Problem::BadField { field: "family" })?;
    Prefix::new(address, bits).map_err(|_| Problem::BadField {
        field: "prefix length",
    })
}

const NO_PEER: u32 = u32::MAX;
/// Flag of `InstallSession`.
const EXTENSIONS_FLAG: u8 = 4;
/// From what every IPv4 host must take to the longest IP packet.
const MTU: RangeInclusive<usize> = 576..=65_535;
/// The most one UDP datagram carries.
const PATH_PAYLOAD: RangeInclusive<usize> = 548..=65_507;
const PROBE_SIZE: RangeInclusive<usize> = 64..=65_507;

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![kind, 0, 0, 0];
        bytes.extend(u32::try_from(body.len()).unwrap().to_le_bytes());
        bytes.extend(body);
        bytes
    }

    fn problem(bytes: &[u8]) -> (usize, Problem) {
        let error = decode(bytes).unwrap_err();
        (error.offset, error.problem)
    }

    #[test]
    fn records_follow_each_other_and_keep_their_offsets() {
        let mut bytes = encoded(2, &[7, 0, 0, 0]);
        bytes.extend(encoded(7, &[1, 2, 3, 4]));

        let commands = decode(&bytes).unwrap();

        assert!(matches!(
            commands[0],
            (0, Command::Tables(TableCommand::RemovePeer { peer: 7 }))
        ));
        assert!(matches!(
            commands[1],
            (
                12,
                Command::Tables(TableCommand::RetireSession {
                    local_index: 0x0403_0201
                })
            )
        ));
    }

    #[test]
    fn every_malformed_record_is_refused_with_its_offset() {
        let good = encoded(2, &[7, 0, 0, 0]);
        let after_good = |bad: Vec<u8>| [good.clone(), bad].concat();
        let mut flagged = good.clone();
        flagged[1] = 1;

        let cases = [
            (good[..11].to_vec(), (0, Problem::CutOff)),
            (after_good(vec![2, 0, 0]), (12, Problem::CutOff)),
            (
                after_good(encoded(99, &[])),
                (12, Problem::UnknownKind { kind: 99 }),
            ),
            (flagged, (0, Problem::NotZero)),
            (encoded(2, &[0; 5]), (0, Problem::BodyTooLong)),
            (encoded(1, &[0, 0, 0, 0, 5, 0, 1, 0]), (0, Problem::NotZero)),
            (
                encoded(3, &[0, 0, 0, 0, 255, 255, 255, 255]),
                (0, Problem::CutOff),
            ),
        ];
        for (bytes, expected) in cases {
            assert_eq!(problem(&bytes), expected);
        }
    }

    #[test]
    fn an_endpoint_of_family_zero_is_none_and_must_be_all_zero() {
        let mut body = vec![1, 0, 0, 0];
        body.extend([0; 20]);
        assert!(matches!(
            decode(&encoded(4, &body)).unwrap()[0].1,
            Command::Beside(BesideCommand::SetEndpoint {
                peer: 1,
                remote: None
            })
        ));

        body[7] = 1;
        assert_eq!(problem(&encoded(4, &body)).1, Problem::NotZero);
    }

    #[test]
    fn an_ipv4_endpoint_reads_its_first_four_bytes() {
        let mut body = vec![1, 0, 0, 0, 4, 0];
        body.extend(51820_u16.to_le_bytes());
        body.extend([192, 0, 2, 7]);
        body.extend([0; 12]);

        let bytes = encoded(4, &body);
        let commands = decode(&bytes).unwrap();
        let Command::Beside(BesideCommand::SetEndpoint { remote, .. }) = &commands[0].1 else {
            panic!("{commands:?}")
        };

        assert_eq!(*remote, Some("192.0.2.7:51820".parse().unwrap()));
    }

    #[test]
    fn sizes_outside_their_bounds_are_refused() {
        let words = |words: &[u32]| {
            words
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect::<Vec<_>>()
        };
        let cases = [
            (14, words(&[575]), "mtu"),
            (14, words(&[65_536]), "mtu"),
            (15, words(&[1, 547, 0]), "payload"),
            (15, words(&[1, 65_508, 0]), "payload"),
            (15, words(&[1, 0, 2]), "probes"),
            (15, words(&[1, 0, 0x0201]), "bound"),
            (16, words(&[1, 63, 9]), "size"),
            (16, words(&[1, u32::MAX, 9]), "size"),
        ];
        for (kind, body, field) in cases {
            assert_eq!(
                problem(&encoded(kind, &body)).1,
                Problem::BadField { field }
            );
        }
        let none = encoded(15, &words(&[1, 0, 0x0101]));
        assert!(matches!(
            decode(&none).unwrap()[0].1,
            Command::Beside(BesideCommand::SetPathMtu {
                peer: 1,
                payload: None,
                probes: Probes::Answered,
                bound: PathBound::Proven
            })
        ));
    }

    #[test]
    fn cipher_and_flags_of_a_session_are_read() {
        let mut body = [0_u8; 84];
        (body[13], body[14], body[15]) = (1, 5, 8);

        let bytes = encoded(6, &body);
        let Command::Tables(TableCommand::InstallSession(session)) = &decode(&bytes).unwrap()[0].1
        else {
            panic!("another command")
        };

        assert_eq!(
            (
                session.cipher,
                session.elision,
                session.extensions,
                session.lanes
            ),
            (Cipher::Aes256Gcm, Elision::On, Extensions::Agreed, 8)
        );
    }

    #[test]
    fn ages_of_a_session_and_spans_of_silence_are_read_and_nonsense_is_refused() {
        let plain = encoded(6, &[0; 84]);
        assert!(decode(&plain).is_ok());
        let mut aged = vec![0; 84];
        aged.extend(
            [90_000_u32, 150_000, 200_000]
                .map(u32::to_le_bytes)
                .concat(),
        );
        assert!(decode(&encoded(6, &aged)).is_ok());
        assert_eq!(problem(&encoded(6, &aged[..92])).1, Problem::CutOff);
        aged[92..].fill(0);
        assert_eq!(
            problem(&encoded(6, &aged)).1,
            Problem::BadField {
                field: "reject after"
            }
        );

        let spans = |values: [u32; 4]| encoded(70, &values.map(u32::to_le_bytes).concat());
        assert!(decode(&spans([5_000, 9_000, 14_000, 20_000])).is_ok());
        for (values, field) in [
            ([0, 9, 1, 2], "keepalive"),
            ([9, 8, 1, 2], "keepalive"),
            ([1, 2, 4, 3], "no answer"),
        ] {
            assert_eq!(problem(&spans(values)).1, Problem::BadField { field });
        }
    }

    #[test]
    fn a_session_with_an_unknown_cipher_flag_or_role_is_refused() {
        let mut body = [0_u8; 84];
        body[13] = 2;
        assert_eq!(
            problem(&encoded(6, &body)).1,
            Problem::BadField { field: "cipher" }
        );
        body[13] = 0;
        for flags in [2, 6, 8, 0x81] {
            body[14] = flags;
            assert_eq!(
                problem(&encoded(6, &body)).1,
                Problem::BadField { field: "flags" }
            );
        }
        body[14] = 0;
        for lanes in [1, 9, 255] {
            body[15] = lanes;
            assert_eq!(
                problem(&encoded(6, &body)).1,
                Problem::BadField { field: "lanes" }
            );
        }
        [body[14], body[15]] = [0; 2];
        body[12] = 2;
        assert_eq!(
            problem(&encoded(6, &body)).1,
            Problem::BadField { field: "role" }
        );
    }
}
