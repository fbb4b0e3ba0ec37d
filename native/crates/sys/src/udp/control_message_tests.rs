use super::*;

/// Control data as a receive brings it: the kernel's own order and value sizes.
fn received(messages: &[(i32, i32, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (level, kind, value) in messages {
        bytes.extend((HEADER_LEN + value.len()).to_ne_bytes());
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(*value);
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    }
    bytes
}

/// SEG-01: a segment size has an exact length and zero padding.
#[test]
#[cfg(target_pointer_width = "64")]
fn seg_01_a_segment_size_has_an_exact_length_and_zero_padding() {
    let mut control = ControlWriter::new();
    control.segment(1_280);

    let mut expected = 18_u64.to_ne_bytes().to_vec();
    expected.extend(17_i32.to_ne_bytes());
    expected.extend(103_i32.to_ne_bytes());
    expected.extend(1_280_u16.to_ne_bytes());
    expected.extend([0; 6]);
    assert_eq!(control.as_bytes(), expected);
}

/// SEG-05: without options there is no control data.
#[test]
fn seg_05_without_options_there_is_no_control_data() {
    assert!(ControlWriter::new().as_bytes().is_empty());
}

/// SEG-09: the size is an int on receive.
#[test]
fn seg_09_the_size_is_an_int_on_receive() {
    let bytes = received(&[(libc::SOL_UDP, libc::UDP_GRO, &1_452_i32.to_ne_bytes())]);
    assert_eq!(ControlValues::read(&bytes).segment_size, Some(1_452));

    let short = received(&[(libc::SOL_UDP, libc::UDP_GRO, &1_452_u16.to_ne_bytes())]);
    assert_eq!(ControlValues::read(&short).segment_size, None);
}

/// SEG-13, SEG-14: pins and marks survive a round through the kernel's form.
#[test]
fn seg_13_and_14_pins_and_marks_survive_a_round_through_the_kernels_form() {
    let v6: IpAddr = "fd09::7".parse().unwrap();
    let mut control = ControlWriter::new();
    control.pin(v6, 9);
    control.mark_v6(Ecn::Congestion);
    control.segment(64);
    assert_eq!(
        ControlValues::read(control.as_bytes()),
        ControlValues {
            local: Some(v6),
            interface: 9,
            ecn: 3,
            segment_size: None
        }
    );

    let v4: IpAddr = "10.9.0.7".parse().unwrap();
    let mut control = ControlWriter::new();
    control.pin(v4, 4);
    control.mark_v4(Ecn::Capable0);
    assert_eq!(
        ControlValues::read(control.as_bytes()),
        ControlValues {
            local: Some(v4),
            interface: 4,
            ecn: 2,
            segment_size: None
        }
    );
}

/// P-67: all messages of a receive fit the buffer together.
#[test]
fn p_67_all_messages_of_a_receive_fit_the_buffer_together() {
    let everything = received(&[
        (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &[0; 20]),
        (libc::IPPROTO_IPV6, libc::IPV6_TCLASS, &3_i32.to_ne_bytes()),
        (libc::SOL_UDP, libc::UDP_GRO, &1_400_i32.to_ne_bytes()),
    ]);

    assert!(everything.len() <= ControlBuffer::CAPACITY);
    let values = ControlValues::read(&everything);
    assert_eq!((values.ecn, values.segment_size), (3, Some(1_400)));
}

/// P-69: malformed control data ends and is left out.
#[test]
fn p_69_malformed_control_data_ends_and_is_left_out() {
    let good = received(&[(libc::SOL_UDP, libc::UDP_GRO, &700_i32.to_ne_bytes())]);
    for length in [0, 1, HEADER_LEN - 1, 4_096, usize::MAX, usize::MAX - 7] {
        let mut bytes = good.clone();
        bytes.extend(length.to_ne_bytes());
        bytes.extend([0; 24]);

        assert_eq!(
            ControlValues::read(&bytes).segment_size,
            Some(700),
            "{length}"
        );
    }
}

/// P-69: arbitrary control data never panics or hangs.
#[test]
fn p_69_arbitrary_control_data_never_panics_or_hangs() {
    // A small generator of our own keeps the run the same each time.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..usize::try_from(state % 128).unwrap())
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                // Small values make plausible lengths likely.
                let bytes = state.to_be_bytes();
                if state & 0x300 == 0 {
                    bytes[3]
                } else {
                    bytes[2] & 0x1F
                }
            })
            .collect();
        let _ = ControlValues::read(&bytes);
        state = state.wrapping_add(0x9E37_79B9);
    }
}
