use std::cell::{Cell, RefCell};

use super::super::control::Identity;
use super::*;

/// A kernel with limits.
struct Kernel {
    /// Mask bits it knows; all others are `EINVAL`.
    known: u32,
    header_len: Cell<usize>,
    can_change_header_len: bool,
    can_change_order: bool,
    /// GSO types it refuses on write.
    refused_types: &'static [u8],
    masks: RefCell<Vec<u32>>,
    written: RefCell<Vec<Vec<u8>>>,
}

impl Kernel {
    fn knowing(known: u32) -> Self {
        Self {
            known,
            header_len: Cell::new(12),
            can_change_header_len: true,
            can_change_order: true,
            refused_types: &[],
            masks: RefCell::default(),
            written: RefCell::default(),
        }
    }

    fn mask(&self) -> Option<u32> {
        self.masks.borrow().last().copied()
    }
}

impl Control for Kernel {
    fn features(&self) -> io::Result<u32> {
        Ok(VNET_HDR)
    }

    fn attach(&self, _: &str, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn identity(&self) -> io::Result<Identity> {
        Ok(Identity {
            name: "weft0".to_owned(),
            flags: VNET_HDR,
        })
    }

    fn set_little_endian(&self) -> io::Result<()> {
        if self.can_change_order {
            Ok(())
        } else {
            invalid()
        }
    }

    fn set_header_len(&self, len: usize) -> io::Result<()> {
        if !self.can_change_header_len {
            return invalid();
        }
        self.header_len.set(len);
        Ok(())
    }

    fn header_len(&self) -> io::Result<usize> {
        Ok(self.header_len.get())
    }

    fn set_offload(&self, mask: u32) -> io::Result<()> {
        if mask & !self.known != 0 {
            return invalid();
        }
        self.masks.borrow_mut().push(mask);
        Ok(())
    }

    fn write(&self, frame: &[u8]) -> io::Result<usize> {
        if self.refused_types.contains(&frame[1]) {
            return invalid();
        }
        self.written.borrow_mut().push(frame.to_vec());
        Ok(frame.len())
    }
}

fn invalid<T>() -> io::Result<T> {
    Err(io::Error::from_raw_os_error(libc::EINVAL))
}

fn agree(kernel: &Kernel, wanted: TunOffload) -> Agreement {
    let mut agreement = negotiate(kernel, VNET_HDR, wanted).unwrap();
    probe_families(kernel, &mut agreement).unwrap();
    agreement
}

const ON: FeatureState = FeatureState::On;
const REFUSED: FeatureState = FeatureState::Off(OffReason::Unsupported {
    errno: libc::EINVAL,
});
const SWITCH: FeatureState = FeatureState::Off(OffReason::Switch);
const FELL_BACK: FeatureState = FeatureState::Off(OffReason::Fallback {
    errno: libc::EINVAL,
});

/// OPN-01: a kernel that knows all grants both families.
#[test]
fn opn_01_a_kernel_that_knows_all_grants_both_families() {
    let kernel = Kernel::knowing(0x7F);

    let agreement = agree(&kernel, TunOffload::Auto);

    assert_eq!(agreement.granted, Granted { tcp: ON, udp: ON });
    assert_eq!(
        agreement.framing,
        Framing::Header {
            len: 10,
            order: ByteOrderTag::Little
        }
    );
    assert_eq!(kernel.mask(), Some(0x6F));
}

/// OPN-02: without USO the next rung is TCP.
#[test]
fn opn_02_without_uso_the_next_rung_is_tcp() {
    let kernel = Kernel::knowing(0x1F);

    let agreement = agree(&kernel, TunOffload::Auto);

    assert_eq!(
        agreement.granted,
        Granted {
            tcp: ON,
            udp: REFUSED
        }
    );
    assert_eq!(kernel.mask(), Some(0x0F));
}

/// OPN-03: without TSO the device stays in header mode with checksums or nothing.
#[test]
fn opn_03_without_tso_the_device_stays_in_header_mode_with_checksums_or_nothing() {
    let nothing = Granted {
        tcp: REFUSED,
        udp: REFUSED,
    };
    for (known, mask) in [(0x01, 0x01), (0x00, 0x00)] {
        let kernel = Kernel::knowing(known);

        let agreement = agree(&kernel, TunOffload::Auto);

        assert_eq!(agreement.granted, nothing);
        assert_eq!(agreement.framing.header_len(), 10);
        assert_eq!(kernel.mask(), Some(mask));
        assert!(
            kernel.written.borrow().is_empty(),
            "nothing is left to probe"
        );
    }
}

/// OPN-04, OPN-05, OPN-06: only closed masks are built.
#[test]
fn opn_04_05_06_only_closed_masks_are_built() {
    let (ecn, ufo, uso) = (0x08, 0x10, 0x60);
    for tcp in [ON, REFUSED] {
        for udp in [ON, SWITCH] {
            for checksum in [Checksum::Partial, Checksum::Finished] {
                let mask = Granted { tcp, udp }.mask(checksum);

                assert!(
                    mask & 0x6E == 0 || mask & 0x01 != 0,
                    "segmentation needs checksums: {mask:#x}"
                );
                assert!(
                    matches!(mask & uso, 0 | 0x60),
                    "both versions or none: {mask:#x}"
                );
                assert!(
                    matches!(mask & 0x06, 0 | 0x06),
                    "both versions or none: {mask:#x}"
                );
                assert_eq!(mask & ecn != 0, tcp.is_on(), "ECN goes with TCP: {mask:#x}");
                assert_eq!(mask & ufo, 0, "UFO is never asked: {mask:#x}");
            }
        }
    }
}

/// OPN-08: the mode follows what the device says.
#[test]
fn opn_08_the_mode_follows_what_the_device_says() {
    let kernel = Kernel::knowing(0x7F);
    let plain = negotiate(&kernel, 0, TunOffload::Auto).unwrap();
    assert_eq!(plain.framing, Framing::Plain);
    assert_eq!(
        plain.granted,
        Granted::nothing(OffReason::Unsupported { errno: 0 })
    );

    let header = negotiate(&kernel, VNET_HDR, TunOffload::Off).unwrap();
    assert_eq!(header.framing.header_len(), 10);
    assert_eq!(header.granted, Granted::nothing(OffReason::Switch));
}

/// OPN-09: a header length that cannot be changed is used as it is.
#[test]
fn opn_09_a_header_length_that_cannot_be_changed_is_used_as_it_is() {
    let kernel = Kernel {
        can_change_header_len: false,
        ..Kernel::knowing(0x7F)
    };

    let agreement = agree(&kernel, TunOffload::Auto);

    assert_eq!(agreement.framing.header_len(), 12);
    for frame in kernel.written.borrow().iter() {
        assert_eq!(frame[10..12], [0, 0], "bytes past the tenth are zero");
        assert!(
            matches!(frame[12] >> 4, 4 | 6),
            "the packet starts behind the header"
        );
    }
}

/// OPN-10, OPN-14: with offload off the mask is cleared on either kind of device.
#[test]
fn opn_10_and_14_with_offload_off_the_mask_is_cleared_on_either_kind_of_device() {
    for flags in [0, VNET_HDR] {
        let kernel = Kernel::knowing(0x7F);
        kernel.set_offload(0x6F).unwrap();

        let agreement = negotiate(&kernel, flags, TunOffload::Off).unwrap();

        assert_eq!(kernel.mask(), Some(0));
        assert_eq!(agreement.granted, Granted::nothing(OffReason::Switch));
    }
}

/// OPN-11: TCP only asks for no USO.
#[test]
fn opn_11_tcp_only_asks_for_no_uso() {
    let kernel = Kernel::knowing(0x7F);

    let agreement = agree(&kernel, TunOffload::Tcp);

    assert_eq!(
        agreement.granted,
        Granted {
            tcp: ON,
            udp: SWITCH
        }
    );
    assert_eq!(kernel.mask(), Some(0x0F));
}

/// OPN-15: a refused byte order means the machine's own.
#[test]
fn opn_15_a_refused_byte_order_means_the_machines_own() {
    let kernel = Kernel {
        can_change_order: false,
        ..Kernel::knowing(0x7F)
    };

    let agreement = agree(&kernel, TunOffload::Auto);

    assert_eq!(
        agreement.framing,
        Framing::Header {
            len: 10,
            order: ByteOrderTag::Native
        }
    );
}

/// P-27, P-55, FBK-10: a family whose probe is invalid is given up and the mask lowered.
#[test]
fn fbk_10_a_family_whose_probe_is_invalid_is_given_up_and_the_mask_lowered() {
    let cases: [(&[u8], Granted, u32); 4] = [
        (
            &[5],
            Granted {
                tcp: ON,
                udp: FELL_BACK,
            },
            0x0F,
        ),
        (
            &[4],
            Granted {
                tcp: FELL_BACK,
                udp: ON,
            },
            0x61,
        ),
        (
            &[1, 4],
            Granted {
                tcp: FELL_BACK,
                udp: ON,
            },
            0x61,
        ),
        (
            &[1, 5],
            Granted {
                tcp: FELL_BACK,
                udp: FELL_BACK,
            },
            0x01,
        ),
    ];
    for (refused_types, granted, mask) in cases {
        let kernel = Kernel {
            refused_types,
            ..Kernel::knowing(0x7F)
        };

        let agreement = agree(&kernel, TunOffload::Auto);

        assert_eq!(agreement.granted, granted, "{refused_types:?}");
        assert_eq!(kernel.mask(), Some(mask), "{refused_types:?}");
    }
}
