//! Datagrams of a sender and what a receiver makes of them.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests of fixed bytes"
)]

use conceal::{
    HeaderKey, Junk, Kind, Profile, Random, Settings, TrailerWindow, Trailers, TypeRange,
    WINDOW_START,
};

fn range(low: u32, high: u32) -> TypeRange {
    TypeRange::new(low, high).unwrap()
}

/// The set that other implementations were seen to pass traffic with.
fn base() -> Settings {
    Settings {
        junk: Junk {
            count: 3,
            len_min: 10,
            len_max: 20,
        },
        paddings: [15, 18, 20, 25],
        types: [
            range(123_456, 123_500),
            range(67_543, 67_550),
            range(223_344, 223_350),
            range(32_345, 32_350),
        ],
        ..Settings::default()
    }
}

fn protected() -> Settings {
    Settings {
        header_key: HeaderKey::new(&[7; 32]),
        ..base()
    }
}

fn with_trailers(settings: Settings) -> Settings {
    Settings {
        trailers: Trailers::On,
        ..settings
    }
}

struct Side {
    profile: Profile,
    random: Random,
    out: Vec<u8>,
}

impl Side {
    fn new(settings: Settings) -> Self {
        Side {
            profile: Profile::new(settings).unwrap(),
            random: Random::new(&[42; 32], 0),
            out: vec![0; 65_507],
        }
    }

    /// A message of a kind with a type that was drawn, its other bytes counting up.
    fn message(&mut self, kind: Kind, len: usize) -> Vec<u8> {
        let value = self.profile.types(kind).draw(&mut self.random);
        let rest = (0..len - 4).map(|at| u8::try_from(at % 251).unwrap());
        value.to_le_bytes().into_iter().chain(rest).collect()
    }

    fn frame(&mut self, message: &[u8], window: usize) -> Vec<u8> {
        let len = self
            .profile
            .frame(message, window, &mut self.random, &mut self.out)
            .unwrap();
        self.out[..len].to_vec()
    }

    /// A transport datagram with this receiver index around so many sealed bytes.
    fn transport(&mut self, receiver: u32, sealed: usize) -> Vec<u8> {
        let front = self.profile.padding(Kind::Transport);
        let mut datagram = vec![0; front + 16 + sealed];
        datagram[front + 4..front + 8].copy_from_slice(&receiver.to_le_bytes());
        datagram[front + 8..front + 16].copy_from_slice(&5_u64.to_le_bytes());
        self.random.fill(&mut datagram[front + 16..]);
        self.profile
            .finish_transport(&mut datagram, &mut self.random);
        datagram
    }

    fn open(&self, datagram: &[u8]) -> Option<(Kind, Vec<u8>)> {
        self.open_with(datagram, |_| false)
    }

    fn open_with(&self, datagram: &[u8], is_live: impl Fn(u32) -> bool) -> Option<(Kind, Vec<u8>)> {
        let mut datagram = datagram.to_vec();
        let opened = self.profile.open(&mut datagram, is_live)?;
        Some((opened.kind, datagram[opened.range].to_vec()))
    }

    fn prelude(&mut self) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        self.profile
            .prelude(1_700_000_000, &mut self.random, &mut self.out, |packet| {
                packets.push(packet.to_vec());
            });
        packets
    }
}

const HANDSHAKES: [Kind; 3] = [Kind::Initiation, Kind::Response, Kind::CookieReply];

#[test]
fn wir_01_wir_03_cls_03_cls_04_cls_05_handshake_messages_come_back_as_they_were() {
    // WIR-01, WIR-03, CLS-03, CLS-04, CLS-05, HDP-08, HDP-09
    for settings in [
        base(),
        protected(),
        with_trailers(base()),
        with_trailers(protected()),
    ] {
        let mut side = Side::new(settings);
        for kind in HANDSHAKES {
            let message = side.message(kind, kind.message_len());
            let datagram = side.frame(&message, 900);

            assert_eq!(side.open(&datagram), Some((kind, message.clone())));
            let again = side.frame(&message, 900);
            let front = side.profile.padding(kind);
            assert_ne!(datagram[..front], again[..front], "WIR-01: fresh bytes");
        }
    }
}

#[test]
fn cls_06_hdp_05_transport_of_an_unknown_session_is_still_transport() {
    // CLS-06, HDP-05, B-22: all four bytes of the type count.
    for settings in [base(), protected()] {
        let mut side = Side::new(settings);
        let datagram = side.transport(0x0102_0304, 48);

        let (kind, message) = side.open(&datagram).unwrap();

        assert_eq!(kind, Kind::Transport);
        assert_eq!(message[4..16], [4, 3, 2, 1, 5, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(
            message[16..],
            datagram[25 + 16..],
            "sealed bytes stay as they are"
        );
        let value = u32::from_le_bytes(message[..4].try_into().unwrap());
        assert!(range(32_345, 32_350).contains(value));
    }
}

#[test]
fn cls_09_types_and_indices_are_compared_after_the_header_was_decoded() {
    // CLS-09
    let (mut plain, mut side) = (Side::new(base()), Side::new(protected()));
    for kind in HANDSHAKES {
        let message = side.message(kind, kind.message_len());
        let datagram = side.frame(&message, 900);
        let front = side.profile.padding(kind);
        let on_the_wire = u32::from_le_bytes(datagram[front..front + 4].try_into().unwrap());
        assert!(!side.profile.types(kind).contains(on_the_wire));
        assert_eq!(side.open(&datagram), Some((kind, message)));

        let message = plain.message(kind, kind.message_len());
        let bare = plain.frame(&message, 900);
        assert_eq!(side.open(&bare), None, "{kind:?} without protection");
    }
    // As long as a padded initiation: only the decoded index says that it is of a session.
    let datagram = side.transport(0x0102_0304, 163 - 25 - 16);
    let asked = core::cell::RefCell::new(Vec::new());
    let opened = side.open_with(&datagram, |index| {
        asked.borrow_mut().push(index);
        true
    });
    assert_eq!(opened.map(|(kind, _)| kind), Some(Kind::Transport));
    assert_eq!(*asked.borrow(), [0x0102_0304]);
}

#[test]
fn str_05_handshakes_have_their_exact_sizes_and_transport_at_least_its_own() {
    // STR-05
    for settings in [base(), protected()] {
        let mut side = Side::new(settings);
        for kind in HANDSHAKES {
            let message = side.message(kind, kind.message_len());
            let datagram = side.frame(&message, 900);
            assert!(side.open(&datagram).is_some());
            assert_eq!(side.open(&datagram[..datagram.len() - 1]), None);
            assert_eq!(side.open(&[&datagram[..], &[0]].concat()), None);
        }
        let least = side.transport(7, 16);
        assert_eq!(least.len(), 25 + 32);
        assert_eq!(side.open(&least).unwrap().0, Kind::Transport);
        assert_eq!(side.open(&least[..least.len() - 1]), None);
    }
}

#[test]
fn b_22_a_type_with_more_than_one_significant_byte_is_compared_whole() {
    // B-22, B-23: the three high bytes are not "reserved".
    let mut settings = base();
    settings.types[3] = range(0x0403_0201, 0x0403_0201);
    let mut side = Side::new(settings);
    let mut datagram = side.transport(9, 32);
    assert_eq!(side.open(&datagram).unwrap().0, Kind::Transport);

    datagram[25 + 3] = 0;

    assert_eq!(side.open(&datagram), None);
}

#[test]
fn cls_01_cls_07_wir_10_what_fits_nothing_is_dropped() {
    // CLS-01, CLS-07, WIR-10
    for settings in [base(), protected(), with_trailers(base())] {
        let mut side = Side::new(settings);
        for len in 0..400 {
            let mut junk = vec![0; len];
            side.random.fill(&mut junk);
            assert_eq!(side.open(&junk), None, "{len} random bytes");
        }
        let whole = side.transport(1, 32);
        assert_eq!(side.open(&whole[..31]), None, "CLS-01");
    }
    let plain = Side::new(Settings::default());
    assert_eq!(plain.open(&[4, 0, 0, 0, 1]), None);
    assert!(
        plain
            .open(&[&[4, 0, 0, 0][..], &[0; 28]].concat())
            .is_some()
    );
}

#[test]
fn cls_02_b_04_a_live_session_comes_before_a_length_that_looks_like_a_handshake() {
    // CLS-02, B-4: a transport datagram as long as a padded initiation, with a type of initiations where one would stand.
    let mut side = Side::new(base());
    let mut datagram = side.transport(77, 163 - 25 - 16);
    assert_eq!(datagram.len(), 163);
    datagram[15..19].copy_from_slice(&123_456_u32.to_le_bytes());

    let live = side.open_with(&datagram, |index| index == 77).unwrap();
    let dead = side.open_with(&datagram, |_| false).unwrap();

    assert_eq!(live.0, Kind::Transport);
    assert_eq!(
        dead.0,
        Kind::Initiation,
        "CLS-11: one kind, and no second attempt"
    );
}

#[test]
fn cls_10_cls_11_equal_padded_sizes_fall_through_to_the_kind_whose_type_fits() {
    // CLS-10, CLS-11, B-4
    let settings = Settings {
        paddings: [15, 71, 99, 25],
        ..base()
    };
    let mut side = Side::new(settings);
    for kind in HANDSHAKES {
        let message = side.message(kind, kind.message_len());
        let datagram = side.frame(&message, 500);
        assert_eq!(datagram.len(), 163);
        assert_eq!(side.open(&datagram), Some((kind, message)));
    }
    let transport = side.transport(3, 163 - 25 - 16);
    assert_eq!(side.open(&transport).unwrap().0, Kind::Transport);
}

#[test]
fn cls_08_b_06_trl_03_trailers_are_cut_and_do_not_change_the_kind() {
    // CLS-08, B-6, TRL-03
    let mut side = Side::new(with_trailers(base()));
    let mut lengths = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let message = side.message(Kind::Response, 92);
        let datagram = side.frame(&message, 600);
        lengths.insert(datagram.len());
        assert_eq!(side.open(&datagram), Some((Kind::Response, message)));
    }
    assert!(lengths.len() > 50, "TRL-01: lengths differ");
    assert!(lengths.iter().all(|len| (110..600).contains(len)));
}

#[test]
fn trl_01_trl_02_trailers_stay_below_the_window_of_the_peer_and_500_for_cookies() {
    // TRL-01, TRL-02, B-7
    let mut side = Side::new(with_trailers(base()));
    let longest = |side: &mut Side, kind: Kind, window: usize| {
        let message = side.message(kind, kind.message_len());
        (0..300)
            .map(|_| side.frame(&message, window).len())
            .max()
            .unwrap()
    };
    assert_eq!(
        longest(&mut side, Kind::Initiation, 163),
        163,
        "no room, no trailer"
    );
    assert_eq!(longest(&mut side, Kind::Initiation, 20), 163);
    assert!((1_000..1_477).contains(&longest(&mut side, Kind::Initiation, 1_477)));
    assert!((300..500).contains(&longest(&mut side, Kind::CookieReply, 1_477)));
}

#[test]
fn trl_06_without_the_option_a_trailer_is_refused() {
    // TRL-06
    let mut sender = Side::new(with_trailers(base()));
    let receiver = Side::new(base());
    let message = sender.message(Kind::Initiation, 148);
    let longer = std::iter::repeat_with(|| sender.frame(&message, 500))
        .find(|datagram| datagram.len() > 163)
        .unwrap();

    assert_eq!(receiver.open(&longer), None);
}

#[test]
fn trl_05_the_window_grows_with_what_the_path_carried_and_falls_back() {
    // TRL-05
    let window = TrailerWindow::default();
    assert_eq!(window.get(), WINDOW_START);
    window.raise(400);
    assert_eq!(window.get(), 500);
    window.raise(1_477);
    window.raise(800);
    assert_eq!(window.get(), 1_477);
    window.reset();
    assert_eq!(window.get(), 500);
}

#[test]
fn wir_13_content_padding_adds_a_drawn_number_of_bytes_within_the_mtu() {
    // WIR-13
    let settings = Settings {
        content_padding: (5, 9),
        ..with_trailers(base())
    };
    let mut side = Side::new(settings);
    let shape = side.profile.shape(500);
    let mut sizes = |len, mtu| -> Vec<usize> {
        let mut seen: Vec<usize> = (0..200)
            .map(|_| shape.datagram_len(len, mtu, &mut side.random) - 57)
            .collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    };
    assert_eq!(sizes(100, 1_420), [105, 106, 107, 108, 109], "no rounding");
    assert_eq!(sizes(1_418, 1_420), [1_420], "not beyond the MTU");
    assert_eq!(sizes(1_420, 1_420), [1_420]);
    assert_eq!(
        sizes(1_421, 1_420),
        [1_426, 1_427, 1_428, 1_429, 1_430],
        "counted with the rest"
    );
}

#[test]
fn wir_14_with_trailers_packets_grow_up_to_the_window() {
    // WIR-14
    let mut side = Side::new(with_trailers(base()));
    let shape = side.profile.shape(500);
    let mut lengths: Vec<usize> = (0..2_000)
        .map(|_| shape.datagram_len(0, 1_420, &mut side.random))
        .collect();
    lengths.sort_unstable();
    assert!(lengths[0] >= 57 && lengths[0] < 62, "{}", lengths[0]);
    assert!(lengths[1_999] < 500 && lengths[1_999] > 490);
    assert!(shape.is_random(0));
    assert!(!shape.is_random(443));
    assert_eq!(shape.datagram_len(1_420, 1_420, &mut side.random), 1_477);
}

#[test]
fn wir_15_without_either_packets_are_padded_to_sixteen() {
    // WIR-15
    let mut side = Side::new(base());
    let shape = side.profile.shape(500);
    for (len, padded) in [(0, 0), (1, 16), (16, 16), (1_419, 1_420), (1_500, 1_500)] {
        assert_eq!(
            shape.datagram_len(len, 1_420, &mut side.random),
            padded + 57
        );
    }
}

#[test]
fn wir_08_wir_09_cfg_05_junk_has_its_own_length_each_time() {
    // WIR-08, WIR-09, CFG-05, B-31
    let mut side = Side::new(base());
    let mut lengths = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let packets = side.prelude();
        assert_eq!(packets.len(), 3);
        lengths.extend(packets.iter().map(Vec::len));
    }
    assert_eq!(
        lengths.into_iter().collect::<Vec<_>>(),
        (10..=20).collect::<Vec<_>>()
    );

    let mut settings = base();
    (settings.junk.len_min, settings.junk.len_max) = (40, 40);
    let mut side = Side::new(settings);
    assert!(side.prelude().iter().all(|packet| packet.len() == 40));
}

#[test]
fn wir_11_b_15_cfg_11_signatures_come_first_in_the_order_of_their_slots() {
    // WIR-11, B-15, CFG-11, B-31, HDP-07: exactly as written, whatever else is on.
    let mut settings = with_trailers(protected());
    settings.signatures[1] = "<b 0xaabb>".into();
    settings.signatures[3] = "text".into();
    settings.signatures[4] = "<b 0x01><t>".into();
    let packets = Side::new(settings).prelude();

    assert_eq!(packets.len(), 5);
    assert_eq!(packets[0], [0xaa, 0xbb]);
    assert_eq!(packets[1], [1, 0x65, 0x53, 0xf1, 0]);
    assert!(
        packets[2..]
            .iter()
            .all(|packet| (10..=20).contains(&packet.len()))
    );
}

#[test]
fn b_13_values_without_tags_send_no_empty_datagram() {
    // B-13, TAG-04
    let mut settings = Settings::default();
    settings.signatures[0] = "text".into();
    settings.signatures[1] = "<r 0>".into();
    assert!(Side::new(settings).prelude().is_empty());
}

#[test]
fn str_04_what_is_no_handshake_message_is_not_framed() {
    // STR-04: by the full type and the exact length; never an empty datagram.
    let mut side = Side::new(base());
    let mut out = vec![0; 4_000];
    for message in [
        [&1_u32.to_le_bytes()[..], &[0; 144]].concat(),
        [&123_456_u32.to_le_bytes()[..], &[0; 88]].concat(),
        [&32_345_u32.to_le_bytes()[..], &[0; 28]].concat(),
        vec![],
    ] {
        let framed = side
            .profile
            .frame(&message, 500, &mut side.random, &mut out);
        assert_eq!(framed, None);
    }
    let message = side.message(Kind::Initiation, 148);
    let framed = side
        .profile
        .frame(&message, 500, &mut side.random, &mut out[..162]);
    assert_eq!(framed, None, "no room");
}

#[test]
fn hdp_06_bytes_of_padding_beyond_the_nonce_and_of_the_trailer_mean_nothing() {
    // HDP-06
    let mut side = Side::new(with_trailers(protected()));
    let message = side.message(Kind::Initiation, 148);
    let mut datagram = side.frame(&message, 163);
    datagram[12..15].fill(0xff);
    datagram.extend([0xff; 9]);

    assert_eq!(side.open(&datagram), Some((Kind::Initiation, message)));
}

#[test]
fn hdp_10_no_two_datagrams_share_a_nonce_and_shards_draw_from_streams_of_their_own() {
    // HDP-10
    let profile = Profile::new(protected()).unwrap();
    let mut nonces = std::collections::HashSet::new();
    for stream in 0..4 {
        let mut random = Random::new(&[1; 32], stream);
        for _ in 0..5_000 {
            let mut datagram = [0; 64];
            profile.finish_transport(&mut datagram, &mut random);
            assert!(nonces.insert(datagram[..12].to_vec()));
        }
    }
}

#[test]
fn b_05_no_transport_of_a_live_session_is_taken_for_a_handshake_whatever_the_ranges() {
    // B-5: trailers on, S = 100/90/40/20, H1 half of all numbers; 10,000 full-size packets.
    let settings = Settings {
        paddings: [100, 90, 40, 20],
        types: [
            range(0x8000_0000, u32::MAX),
            range(5, 0x1000_0000),
            range(0x1000_0001, 0x2000_0000),
            range(0x2000_0001, 0x3000_0000),
        ],
        ..with_trailers(Settings::default())
    };
    let mut side = Side::new(settings);
    let mut without = 0;
    for _ in 0..10_000 {
        let datagram = side.transport(9, 1_436);
        assert_eq!(
            side.open_with(&datagram, |index| index == 9).unwrap().0,
            Kind::Transport
        );
        without += usize::from(side.open(&datagram).unwrap().0 != Kind::Transport);
    }
    assert!(without > 4_000, "what the live index saves: {without}");
}

#[test]
fn b_40_sixty_four_equal_packets_become_sixty_four_equal_datagrams() {
    // B-40: 1,420 bytes inside, S4 = 25.
    let mut side = Side::new(base());
    let shape = side.profile.shape(500);
    for _ in 0..64 {
        assert_eq!(shape.datagram_len(1_420, 1_420, &mut side.random), 1_477);
        assert_eq!(side.transport(1, 1_436).len(), 1_477);
    }
}
