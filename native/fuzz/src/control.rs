#[path = "../../crates/sys/src/udp/control_message.rs"]
#[allow(dead_code, reason = "only the reading half is under test")]
mod control_message;

use control_message::ControlValues;

/// Bytes are the control data of a received message. Reading them ends, and the segment size and mark are those of the
/// last message that carries one, found by a walk of its own.
pub fn control(data: &[u8]) {
    let values = ControlValues::read(data);
    let (mut size, mut mark) = (None, 0);
    for (level, kind, value) in messages(data) {
        match (level, kind) {
            (libc::SOL_UDP, libc::UDP_GRO) if value.len() >= 4 => {
                size = Some(i32::from_ne_bytes([value[0], value[1], value[2], value[3]]));
            }
            (libc::IPPROTO_IP, libc::IP_TOS) => mark = value.first().map_or(0, |class| class & 3),
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                mark = if value.len() >= 4 {
                    u8::try_from(u32::from_ne_bytes([value[0], value[1], value[2], value[3]]) & 3)
                        .expect("two bits")
                } else {
                    0
                };
            }
            _ => {}
        }
    }
    assert_eq!((values.segment_size, values.ecn), (size, mark));
}

/// Level, kind and value of each message, as the macros of the C library walk them.
fn messages(data: &[u8]) -> Vec<(i32, i32, &[u8])> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + HEADER_LEN <= data.len() {
        let word =
            |from: usize| <[u8; 4]>::try_from(&data[from..from + 4]).map_or(0, i32::from_ne_bytes);
        let len = <[u8; 8]>::try_from(&data[at..at + 8]).map_or(0, u64::from_ne_bytes);
        let room = (data.len() - at) as u64;
        if len < HEADER_LEN as u64 || len > room {
            break;
        }
        let len = usize::try_from(len).expect("it is below the room");
        found.push((
            word(at + 8),
            word(at + 12),
            &data[at + HEADER_LEN..at + len],
        ));
        at += len.div_ceil(8) * 8;
    }
    found
}

/// On 64-bit systems, where fuzzing happens.
const HEADER_LEN: usize = 16;
