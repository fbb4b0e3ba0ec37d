use super::*;
use crate::testing::in_namespace;
use crate::{Tun, TunOptions};

fn prefix(text: &str) -> Prefix {
    text.parse().unwrap()
}

/// A link of this test; it ends with the value.
fn a_link() -> Tun {
    Tun::open(&TunOptions {
        name: "weft0".to_owned(),
        ..TunOptions::default()
    })
    .unwrap()
}

#[test]
fn a_link_is_found_by_name_and_among_all() {
    in_namespace(|| {
        let _tun = a_link();

        let one = link("weft0").unwrap().unwrap();

        assert_eq!(one.name, "weft0");
        assert!(one.up && !one.loopback);
        assert_eq!(one.mtu, 1_500);
        assert!(links().unwrap().contains(&one));
        assert_eq!(link("weft9").unwrap(), None);
    });
}

#[test]
fn properties_of_a_link_can_be_changed_together() {
    in_namespace(|| {
        let _tun = a_link();
        let change = LinkChange {
            up: Some(false),
            mtu: Some(1_280),
            transmit_queue_len: Some(10_000),
            gso_segments_max: Some(32),
            address_generation: Some(AddressGeneration::Automatic),
        };

        set_link("weft0", &change).unwrap();

        let after = link("weft0").unwrap().unwrap();
        assert!(!after.up);
        assert_eq!(
            (after.mtu, after.transmit_queue_len, after.gso_segments_max),
            (1_280, 10_000, 32)
        );
    });
}

#[test]
fn an_impossible_mtu_is_refused_with_the_kernels_number() {
    in_namespace(|| {
        let _tun = a_link();

        let error = set_link(
            "weft0",
            &LinkChange {
                mtu: Some(7),
                ..LinkChange::default()
            },
        )
        .unwrap_err();

        assert_eq!((error.code(), error.errno()), ("refused", libc::EINVAL));
    });
}

#[test]
fn addresses_are_added_listed_and_removed() {
    in_namespace(|| {
        let _tun = a_link();
        let wanted = [
            prefix("10.9.0.2/24"),
            prefix("10.9.0.3/32"),
            prefix("fd09::2/64"),
        ];

        for address in wanted {
            add_address("weft0", address).unwrap();
            add_address("weft0", address).unwrap();
        }
        let mut found = addresses("weft0").unwrap();
        found.sort();
        assert_eq!(found, wanted);

        for address in wanted {
            remove_address("weft0", address).unwrap();
        }
        assert_eq!(addresses("weft0").unwrap(), []);
        assert_eq!(
            remove_address("weft0", wanted[0]).unwrap_err().code(),
            "not_found"
        );
    });
}

#[test]
fn an_ipv6_address_is_usable_at_once() {
    in_namespace(|| {
        let _tun = a_link();
        add_address("weft0", prefix("fd09::2/64")).unwrap();

        std::net::UdpSocket::bind("[fd09::2]:0").expect("a tentative address could not be bound");
    });
}

#[test]
fn routes_are_added_listed_and_removed() {
    in_namespace(|| {
        let _tun = a_link();
        // Host bits are cleared.
        let wanted = [
            prefix("10.20.30.40/16"),
            prefix("0.0.0.0/0"),
            prefix("fd0a::9/48"),
            prefix("::/0"),
        ];

        for route in wanted {
            add_route("weft0", route).unwrap();
            add_route("weft0", route).unwrap();
        }
        let found = routes("weft0").unwrap();
        for route in wanted {
            let matching: Vec<_> = found
                .iter()
                .filter(|found| found.destination == route.network() && !found.automatic)
                .collect();
            assert_eq!(matching.len(), 1, "{route} in {found:?}");
        }

        for route in wanted {
            remove_route("weft0", route).unwrap();
        }
        assert!(routes("weft0").unwrap().iter().all(|route| route.automatic));
        assert_eq!(
            remove_route("weft0", wanted[0]).unwrap_err().code(),
            "not_found"
        );
    });
}

#[test]
fn a_route_of_somebody_else_is_never_overwritten() {
    in_namespace(|| {
        let _tun = a_link();
        let _other = Tun::open(&TunOptions {
            name: "other0".to_owned(),
            ..TunOptions::default()
        })
        .unwrap();
        add_route("other0", prefix("10.20.0.0/16")).unwrap();

        let error = add_route("weft0", prefix("10.20.0.0/16")).unwrap_err();

        assert_eq!(
            (error.code(), error.errno()),
            ("already_exists", libc::EEXIST)
        );
        assert!(error.to_string().contains("10.20.0.0/16"), "{error}");
        assert_eq!(routes("other0").unwrap().len(), 1);
    });
}

#[test]
fn a_link_that_does_not_exist_is_named_in_the_error() {
    in_namespace(|| {
        let errors = [
            set_link("weft9", &LinkChange::default()).unwrap_err(),
            delete_link("weft9").unwrap_err(),
            add_address("weft9", prefix("10.0.0.1/32")).unwrap_err(),
            routes("weft9").unwrap_err(),
        ];

        for error in errors {
            assert_eq!(error.code(), "no_such_link");
            assert!(error.to_string().contains("weft9"));
        }
    });
}

#[test]
fn a_deleted_link_is_gone() {
    in_namespace(|| {
        let tun = a_link();
        tun.keep_after_close().unwrap();
        drop(tun);
        assert!(
            link("weft0").unwrap().is_some(),
            "a persistent device outlives its descriptor"
        );

        delete_link("weft0").unwrap();

        assert_eq!(link("weft0").unwrap(), None);
    });
}
