//! Sends prepared datagrams at a fixed rate, from many source addresses: the hostile side of benches and tests.
//!
//! Usage: `flood --to ADDRESS:PORT --file FILE --rate PER_SECOND --seconds N [--sources FIRST_ADDRESS/COUNT]`
//!
//! The file holds datagrams, each after its length as two little-endian bytes; they are sent over and over. Neighbours
//! of equal length leave in one system call. With sources, calls take turns with the addresses from the first one on,
//! which must be local ones. Bounded: at most 600 seconds and 1,000,000 datagrams a second, IPv4 only. Prints one line of
//! JSON: `{"sent":…,"refused":…,"seconds":…}`. It is meant for network namespaces made for a test.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use ports::{Datagrams, Endpoint};
use sys::udp::{Switch, UdpOptions, UdpSocket};

const TICK: Duration = Duration::from_millis(1);
const SECONDS_MAX: u64 = 600;
const RATE_MAX: u64 = 1_000_000;
const SEGMENTS_MAX: usize = 40;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(std::env::args().skip(1))?;
    let groups = group(&parse(&std::fs::read(&options.file)?)?);
    if groups.is_empty() {
        return Err("the file holds no datagram".into());
    }
    let mut socket = UdpSocket::bind(&UdpOptions {
        gro: Switch::Off,
        ..UdpOptions::default()
    })?;
    let (sent, refused, took) = run(&options, &groups, &mut socket);
    let seconds = took.as_secs_f64();
    std::io::Write::write_fmt(
        &mut std::io::stdout(),
        format_args!("{{\"sent\":{sent},\"refused\":{refused},\"seconds\":{seconds:.3}}}\n"),
    )?;
    Ok(())
}

struct Options {
    to: SocketAddr,
    file: String,
    rate: u64,
    seconds: u64,
    sources: Vec<IpAddr>,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let (mut to, mut file, mut rate, mut seconds, mut sources) = (None, None, 0, 0, Vec::new());
        while let Some(name) = words.next() {
            let value = words
                .next()
                .ok_or_else(|| format!("{name} lacks its value"))?;
            match name.as_str() {
                "--to" => to = Some(value.parse()?),
                "--file" => file = Some(value),
                "--rate" => rate = value.parse()?,
                "--seconds" => seconds = value.parse()?,
                "--sources" => sources = addresses(&value)?,
                other => return Err(format!("unknown option {other}").into()),
            }
        }
        if rate == 0 || rate > RATE_MAX || seconds == 0 || seconds > SECONDS_MAX {
            return Err("--rate must be 1 to 1,000,000 and --seconds 1 to 600".into());
        }
        Ok(Options {
            to: to.ok_or("--to is missing")?,
            file: file.ok_or("--file is missing")?,
            rate,
            seconds,
            sources,
        })
    }
}

fn addresses(text: &str) -> Result<Vec<IpAddr>, Box<dyn Error>> {
    let (first, count) = text.split_once('/').ok_or("--sources is ADDRESS/COUNT")?;
    let first = u32::from(first.parse::<Ipv4Addr>()?);
    let count = count.parse::<u32>()?;
    Ok((0..count)
        .map(|step| IpAddr::V4(Ipv4Addr::from(first.wrapping_add(step))))
        .collect())
}

fn parse(mut bytes: &[u8]) -> Result<Vec<&[u8]>, Box<dyn Error>> {
    let mut datagrams = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length));
        let (datagram, rest) = rest
            .split_at_checked(length)
            .ok_or("the file ends inside a datagram")?;
        datagrams.push(datagram);
        bytes = rest;
    }
    Ok(datagrams)
}

/// Neighbours of equal length, which one call can send, with that length.
fn group(datagrams: &[&[u8]]) -> Vec<(usize, Vec<u8>)> {
    let mut groups: Vec<(usize, Vec<u8>)> = Vec::new();
    for datagram in datagrams {
        match groups.last_mut() {
            Some((length, bytes))
                if *length == datagram.len()
                    && *length > 0
                    && bytes.len() / *length < SEGMENTS_MAX =>
            {
                bytes.extend_from_slice(datagram);
            }
            _ => groups.push((datagram.len(), datagram.to_vec())),
        }
    }
    groups
}

fn run(
    options: &Options,
    groups: &[(usize, Vec<u8>)],
    socket: &mut UdpSocket,
) -> (u64, u64, Duration) {
    let started = Instant::now();
    let length = Duration::from_secs(options.seconds);
    let (mut sent, mut refused) = (0, 0);
    let mut sources = options.sources.iter().cycle();
    let mut groups = groups.iter().cycle();
    while started.elapsed() < length {
        let elapsed = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let due = options.rate.saturating_mul(elapsed) / 1_000_000;
        while sent + refused < due {
            let Some((segment, bytes)) = groups.next() else {
                break;
            };
            let to = Endpoint {
                local: sources.next().copied(),
                ..Endpoint::unpinned(options.to)
            };
            let count = bytes.len().checked_div(*segment).unwrap_or(1);
            let outcome = socket.send(&to, bytes, *segment);
            sent += outcome.accepted as u64;
            refused += count.saturating_sub(outcome.accepted) as u64;
        }
        std::thread::sleep(TICK);
    }
    (sent, refused, started.elapsed())
}
