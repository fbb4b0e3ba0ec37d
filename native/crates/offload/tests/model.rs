//! The merger against a model that is written from the rules and knows nothing of bytes (E2E-03).
//!
//! The model keeps lists of packet numbers and compares the fields of the fixtures; it has no tables, no lazy checksums and
//! no limits of memory.
#![cfg(test)]

#[path = "spec/common/mod.rs"]
#[expect(dead_code, reason = "the cases use more of it")]
mod common;

use common::fixture::{ACK, FIN, Field, PSH, Packet, padding_extension, t4, t6, u4, u6};
use common::{Pushed, counts, run_burst, wide_limits};
use offload::{MergeLimits, Merger};
use proptest::prelude::*;

/// A frame of the model: numbers of its packets, and whether more may join.
struct Group {
    members: Vec<usize>,
    open: bool,
}

fn model(packets: &[Packet], segments_max: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<Group> = Vec::new();
    for (number, packet) in packets.iter().enumerate() {
        let newest = groups
            .iter()
            .rposition(|group| same_flow(&packets[group.members[0]], packet));
        if !is_candidate(packet) {
            for group in &mut groups {
                group.open &= !concerns(packet, &packets[group.members[0]]);
            }
            groups.push(Group {
                members: vec![number],
                open: false,
            });
            continue;
        }
        if let Some(at) = newest.filter(|at| groups[*at].open) {
            if joins(packets, &groups[at].members, packet, segments_max) {
                groups[at].members.push(number);
                let short = packet.payload.len() < packets[groups[at].members[0]].payload.len();
                groups[at].open = !short && !pushes(packet);
                continue;
            }
            groups[at].open = false;
        }
        groups.push(Group {
            members: vec![number],
            open: !pushes(packet),
        });
    }
    groups.into_iter().map(|group| group.members).collect()
}

fn is_candidate(packet: &Packet) -> bool {
    let network = packet.ip_options.is_empty()
        && packet.extensions.is_empty()
        && (packet.version == 6 || packet.fragment & !0x4000 == 0);
    let transport = if packet.protocol == 6 {
        matches!(packet.flags & !PSH, ACK) && packet.reserved == 0
    } else {
        ![4789, 6081, 8472].contains(&packet.destination_port)
    };
    network && transport && !packet.payload.is_empty() && packet.field == Field::Valid
}

fn pushes(packet: &Packet) -> bool {
    packet.protocol == 6 && packet.flags & PSH != 0
}

fn same_flow(one: &Packet, other: &Packet) -> bool {
    let key = |packet: &Packet| {
        (
            packet.version,
            packet.protocol,
            packet.source,
            packet.destination,
            packet.source_port,
            packet.destination_port,
        )
    };
    key(one) == key(other) && one.extensions.is_empty() && !is_later_fragment(one)
}

/// Whether a packet that stands alone ends a frame that starts with `first`.
fn concerns(packet: &Packet, first: &Packet) -> bool {
    let pair = packet.version == first.version
        && packet.protocol == first.protocol
        && (packet.source, packet.destination) == (first.source, first.destination);
    let portless = is_later_fragment(packet) || !packet.extensions.is_empty();
    if portless {
        pair
    } else {
        same_flow(first, packet)
    }
}

fn is_later_fragment(packet: &Packet) -> bool {
    packet.version == 4 && packet.fragment & 0x1fff != 0
}

fn joins(packets: &[Packet], members: &[usize], packet: &Packet, segments_max: usize) -> bool {
    let first = &packets[members[0]];
    let last = &packets[members[members.len() - 1]];
    let network = (packet.tos, packet.ttl) == (first.tos, first.ttl)
        && if packet.version == 4 {
            packet.fragment == first.fragment
                && (packet.fragment & 0x4000 != 0 || packet.id == last.id.wrapping_add(1))
        } else {
            packet.flow_label == first.flow_label
        };
    let transport = if packet.protocol == 6 {
        let next = last
            .sequence
            .wrapping_add(u32::try_from(last.payload.len()).unwrap());
        packet.sequence == next
            && packet.acknowledgement == first.acknowledgement
            && packet.window == first.window
            && packet.urgent == first.urgent
            && packet.options == first.options
    } else {
        members.len() < segments_max
    };
    network && transport && packet.payload.len() <= first.payload.len()
}

/// One step of a stream: which flow, how long, and what is odd about the packet.
fn step() -> impl Strategy<Value = (usize, usize, u8, u8)> {
    let len = prop_oneof![5 => Just(100_usize), 2 => Just(60), 1 => 0_usize..130];
    let oddity = prop_oneof![7 => Just(0_u8), 2 => 1_u8..21];
    (0_usize..6, len, oddity, any::<u8>())
}

fn packets(steps: &[(usize, usize, u8, u8)]) -> Vec<Packet> {
    let mut sequences = [u32::MAX - 300; 6];
    let mut ids = [u16::MAX - 2; 6];
    steps
        .iter()
        .enumerate()
        .map(|(number, (flow, len, oddity, bits))| {
            let sequence = sequences[*flow];
            let packet = match flow {
                0 | 1 => t4(sequence, *len),
                2 | 3 => t6(sequence, *len),
                4 => u4(number % 251, *len),
                _ => u6(number % 251, *len),
            };
            let (id, bits) = (ids[*flow], *bits);
            sequences[*flow] = sequence.wrapping_add(u32::try_from(*len).unwrap());
            ids[*flow] = id.wrapping_add(1);
            packet.with(|packet| {
                if flow % 2 == 1 {
                    packet.source_port += 1;
                    packet.fragment = 0;
                }
                packet.id = id;
                bend(packet, *oddity, bits);
            })
        })
        .collect()
}

fn bend(packet: &mut Packet, oddity: u8, bits: u8) {
    match oddity {
        1 => packet.flags = PSH | ACK,
        2 => packet.flags = FIN | ACK,
        3 => packet.flags = bits,
        4 => packet.acknowledgement += u32::from(bits % 2),
        5 => packet.window += u16::from(bits % 2),
        6 => packet.tos = bits,
        7 => packet.ttl -= bits % 2,
        8 => packet.field = Field::Wrong,
        9 => packet.sequence = packet.sequence.wrapping_sub(100),
        10 => packet.id = packet.id.wrapping_add(1),
        11 => packet.fragment ^= 0x4000,
        12 => packet.options.clear(),
        13 => packet.flow_label = bits.into(),
        14 => packet.urgent = bits.into(),
        15 => packet.reserved = bits & 15,
        16 => packet.destination_port = 4789,
        17 if packet.version == 4 => packet.fragment = 0x2000,
        18 if packet.version == 4 => packet.fragment = 1 + u16::from(bits),
        19 if packet.version == 6 => packet.extensions = vec![(60, padding_extension())],
        20 if packet.version == 4 => packet.ip_options = vec![1, 1, 1, 0],
        _ => {}
    }
}

proptest! {
    /// E2E-03: the merger groups every stream exactly as the model does, and puts the bytes of a group together in order.
    #[test]
    fn frames_are_those_of_the_model(
        steps in prop::collection::vec(step(), 0..120),
        segments_max in 2_usize..70,
    ) {
        let packets = packets(&steps);
        let mut merger = Merger::new(MergeLimits { segments_max, ..wide_limits() });
        let pushed: Vec<Pushed> = packets.iter().map(|packet| Pushed::plain(packet.bytes())).collect();

        let outs = run_burst(&mut merger, &pushed);

        let expected = model(&packets, segments_max);
        let lengths: Vec<usize> = expected.iter().map(Vec::len).collect();
        prop_assert_eq!(counts(&outs), lengths);
        for (out, members) in outs.iter().zip(&expected) {
            let joined: Vec<u8> = members.iter().flat_map(|at| packets[*at].payload.clone()).collect();
            prop_assert!(out.bytes.ends_with(&joined), "packets {:?}", members);
        }
    }
}
