//! The body of `SetFilter`.

use filter::{Action, Detail, Directions, Filter, PortRange, Replies, Rule};
use tables::Prefix;

use crate::command::{Problem, prefix};
use crate::reader::Reader;

/// Reads address sets and rules, and compiles them.
pub(crate) fn read(body: &mut Reader<'_>) -> Result<Filter, Problem> {
    if body.u32()? != VERSION {
        return Err(Problem::BadField { field: "version" });
    }
    let (set_count, rule_count) = (body.u32()?, body.u32()?);
    let mut sets: Vec<Box<[Prefix]>> = Vec::new();
    for _ in 0..set_count {
        let count = body.u32()?;
        let set = (0..count).map(|_| prefix(body));
        sets.push(set.collect::<Result<_, _>>()?);
    }
    let rules = (0..rule_count).map(|_| rule(body, set_count));
    let rules = rules.collect::<Result<Vec<Rule>, _>>()?;
    Ok(Filter::compile(&sets, &rules))
}

fn rule(body: &mut Reader<'_>, set_count: u32) -> Result<Rule, Problem> {
    let id = body.u32()?;
    let action = match body.u8()? {
        0 => Action::Deny,
        1 => Action::Allow,
        _ => return Err(Problem::BadField { field: "action" }),
    };
    let directions = match body.u8()? {
        1 => Directions::In,
        2 => Directions::Out,
        3 => Directions::Both,
        _ => return Err(Problem::BadField { field: "direction" }),
    };
    let protocol = match body.u16()?.checked_sub(1) {
        None => None,
        Some(number) => {
            Some(u8::try_from(number).map_err(|_| Problem::BadField { field: "protocol" })?)
        }
    };
    let source = set(body, set_count, "source set")?;
    let destination = set(body, set_count, "destination set")?;
    let flags = body.u8()?;
    let (kind, code) = (body.u8()?, body.u8()?);
    body.zeros::<1>()?;
    let range_count = body.u16()?;
    body.zeros::<2>()?;
    let ranges = (0..range_count).map(|_| range(body));
    let ranges = ranges.collect::<Result<Box<[PortRange]>, _>>()?;
    let detail = match (flags & (ICMP_KIND | ICMP_CODE), ranges.as_ref()) {
        (0, []) if kind == 0 && code == 0 => Detail::Any,
        (0, [_, ..]) if kind == 0 && code == 0 => Detail::Ports(ranges),
        (ICMP_KIND, []) if code == 0 => Detail::Icmp { kind, code: None },
        (ICMP_BOTH, []) => Detail::Icmp {
            kind,
            code: Some(code),
        },
        _ => return Err(Problem::BadField { field: "detail" }),
    };
    let replies = match flags & !(ICMP_KIND | ICMP_CODE) {
        0 => Replies::Pass,
        REPLIES_JUDGED => Replies::Judged,
        _ => return Err(Problem::BadField { field: "flags" }),
    };
    Ok(Rule {
        id,
        action,
        directions,
        replies,
        protocol,
        source,
        destination,
        detail,
    })
}

/// Place of a set; `None` = every address.
fn set(body: &mut Reader<'_>, count: u32, field: &'static str) -> Result<Option<u32>, Problem> {
    match body.u32()? {
        ANY_ADDRESS => Ok(None),
        place if place < count => Ok(Some(place)),
        _ => Err(Problem::BadField { field }),
    }
}

fn range(body: &mut Reader<'_>) -> Result<PortRange, Problem> {
    let (low, high) = (body.u16()?, body.u16()?);
    if low > high {
        return Err(Problem::BadField { field: "ports" });
    }
    Ok(PortRange { low, high })
}

const VERSION: u32 = 2;
const ANY_ADDRESS: u32 = u32::MAX;
const REPLIES_JUDGED: u8 = 1;
const ICMP_KIND: u8 = 2;
const ICMP_CODE: u8 = 4;
const ICMP_BOTH: u8 = ICMP_KIND | ICMP_CODE;

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[u32]) -> Vec<u8> {
        list.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// One set, one rule of 24 bytes: `change` bends it, `ranges` follow.
    fn body(change: impl FnOnce(&mut [u8]), ranges: &[u16]) -> Vec<u8> {
        let mut bytes = words(&[2, 1, 1, 1]);
        bytes.extend([4, 8, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let at = bytes.len();
        bytes.extend([7, 0, 0, 0, 1, 3, 0, 0]);
        bytes.extend(words(&[0, u32::MAX]));
        bytes.extend([0; 8]);
        bytes[at + 20..at + 22]
            .copy_from_slice(&u16::try_from(ranges.len() / 2).unwrap().to_le_bytes());
        change(&mut bytes[at..]);
        bytes.extend(ranges.iter().flat_map(|port| port.to_le_bytes()));
        bytes
    }

    fn problem(bytes: &[u8]) -> Option<Problem> {
        read(&mut Reader::new(bytes)).err()
    }

    #[test]
    fn a_rule_with_a_set_and_ranges_is_read_to_its_end() {
        let bytes = body(|rule| rule[6] = 7, &[80, 80, 443, 444]);
        let mut reader = Reader::new(&bytes);
        let filter = read(&mut reader).unwrap();
        assert!(reader.is_empty());
        assert_eq!(filter.rows().map(|row| row.id).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn every_field_outside_its_meaning_is_named() {
        type Bend = fn(&mut [u8]);
        let cases: [(Bend, &[u16], &str); 10] = [
            (|rule| rule[4] = 2, &[], "action"),
            (|rule| rule[5] = 0, &[], "direction"),
            (|rule| rule[7] = 2, &[], "protocol"),
            (|rule| rule[8] = 1, &[], "source set"),
            (|rule| rule[12] = 1, &[], "destination set"),
            (|rule| rule[16] = 8, &[], "flags"),
            (|rule| rule[16] = 4, &[], "detail"),
            (|rule| rule[17] = 1, &[], "detail"),
            (|rule| rule[16] = 2, &[1, 1], "detail"),
            (|_| {}, &[2, 1], "ports"),
        ];
        for (bend, ranges, field) in cases {
            let bytes = body(bend, ranges);
            assert_eq!(problem(&bytes), Some(Problem::BadField { field }));
        }
        let first = words(&[1, 0, 0]);
        let version = Problem::BadField { field: "version" };
        assert_eq!(problem(&first), Some(version));
        for reserved in [19, 22, 23] {
            let bytes = body(|rule| rule[reserved] = 1, &[]);
            assert_eq!(problem(&bytes), Some(Problem::NotZero), "byte {reserved}");
        }
    }

    #[test]
    fn a_count_without_what_it_counts_is_cut_off() {
        for bytes in [
            words(&[2, u32::MAX, 0]),
            words(&[2, 1, 0, u32::MAX]),
            words(&[2, 0, u32::MAX]),
            body(|rule| rule[21] = 0xff, &[]),
        ] {
            assert_eq!(problem(&bytes), Some(Problem::CutOff));
        }
    }
}
