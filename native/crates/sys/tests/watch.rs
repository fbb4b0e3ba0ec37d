//! What every way of waiting owes its user.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code: a panic is the failure of the test"
)]

use std::io::{ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use sys::{Event, Interest, Poller, RingPoller, Waker, Watch};

#[test]
fn epoll_keeps_the_contract_of_a_watch() {
    contract(|| Poller::new(4).unwrap());
}

/// FBK-07: both drivers keep the same contract.
#[test]
fn fbk_07_a_ring_keeps_the_contract_of_a_watch() {
    contract(|| RingPoller::open(Arc::default()).unwrap());
}

fn contract<W: Watch>(make: impl Fn() -> W) {
    nothing_is_told_before_something_is_ready(make());
    a_ring_from_another_thread_ends_the_wait(make());
    what_is_not_drained_is_told_again(make());
    every_descriptor_is_told_with_its_token(make());
    interest_and_token_can_be_changed_and_taken_back(make());
    a_changed_wish_holds_while_a_wait_is_open(make());
    a_hang_up_is_told_whatever_is_wished(make());
    wrong_calls_are_refused(make());
}

fn nothing_is_told_before_something_is_ready(mut watch: impl Watch) {
    let waker = Waker::new().unwrap();
    watch.add(waker.as_fd(), 1, Interest::Readable).unwrap();

    for timeout in [
        Duration::ZERO,
        Duration::from_micros(1),
        Duration::from_millis(2),
    ] {
        assert_eq!(ready(&mut watch, Some(timeout)), []);
    }
}

fn a_ring_from_another_thread_ends_the_wait(mut watch: impl Watch) {
    let waker = Arc::new(Waker::new().unwrap());
    watch.add(waker.as_fd(), 7, Interest::Readable).unwrap();
    for timeout in [Some(Duration::from_secs(600)), None] {
        let other = Arc::clone(&waker);
        let ringer = std::thread::spawn(move || other.wake());

        // A signal may end a wait early.
        let told = loop {
            let told = ready(&mut watch, timeout);
            if !told.is_empty() {
                break told;
            }
        };

        ringer.join().unwrap();
        assert_eq!(told, [(7, true, false)]);
        assert!(waker.drain());
    }
}

fn what_is_not_drained_is_told_again(mut watch: impl Watch) {
    let waker = Waker::new().unwrap();
    watch.add(waker.as_fd(), 1, Interest::Readable).unwrap();
    waker.wake();

    for _ in 0..3 {
        assert_eq!(now(&mut watch), [(1, true, false)]);
    }
    waker.drain();
    assert_eq!(now(&mut watch), []);
    waker.wake();
    assert_eq!(now(&mut watch), [(1, true, false)]);
}

fn every_descriptor_is_told_with_its_token(mut watch: impl Watch) {
    let wakers: Vec<_> = (0..4).map(|_| Waker::new().unwrap()).collect();
    for (waker, token) in wakers.iter().zip(10..) {
        watch.add(waker.as_fd(), token, Interest::Readable).unwrap();
    }

    wakers[1].wake();
    wakers[3].wake();

    assert_eq!(now(&mut watch), [(11, true, false), (13, true, false)]);
}

fn interest_and_token_can_be_changed_and_taken_back(mut watch: impl Watch) {
    let waker = Waker::new().unwrap();
    watch.add(waker.as_fd(), 1, Interest::Readable).unwrap();

    watch.change(waker.as_fd(), 2, Interest::Both).unwrap();
    assert_eq!(now(&mut watch), [(2, false, true)]);
    waker.wake();
    assert_eq!(now(&mut watch), [(2, true, true)]);
    watch.change(waker.as_fd(), 3, Interest::Writable).unwrap();
    assert_eq!(now(&mut watch), [(3, false, true)]);
    watch.change(waker.as_fd(), 3, Interest::Neither).unwrap();
    assert_eq!(now(&mut watch), []);
    watch.change(waker.as_fd(), 4, Interest::Readable).unwrap();
    assert_eq!(now(&mut watch), [(4, true, false)]);

    watch.remove(waker.as_fd()).unwrap();
    assert_eq!(now(&mut watch), []);
    watch.add(waker.as_fd(), 5, Interest::Readable).unwrap();
    assert_eq!(now(&mut watch), [(5, true, false)]);
}

fn a_changed_wish_holds_while_a_wait_is_open(mut watch: impl Watch) {
    let waker = Waker::new().unwrap();
    watch.add(waker.as_fd(), 1, Interest::Readable).unwrap();
    assert_eq!(now(&mut watch), []);

    watch.change(waker.as_fd(), 1, Interest::Neither).unwrap();
    waker.wake();
    assert_eq!(now(&mut watch), []);
    watch.change(waker.as_fd(), 1, Interest::Readable).unwrap();
    assert_eq!(now(&mut watch), [(1, true, false)]);
}

fn a_hang_up_is_told_whatever_is_wished(mut watch: impl Watch) {
    let (mut near, far) = UnixStream::pair().unwrap();
    watch.add(far.as_fd(), 1, Interest::Neither).unwrap();
    near.write_all(b"unread").unwrap();
    assert_eq!(now(&mut watch), []);

    drop(near);

    assert_eq!(now(&mut watch), [(1, true, true)]);
}

fn wrong_calls_are_refused(mut watch: impl Watch) {
    let waker = Waker::new().unwrap();
    let fd = waker.as_fd();

    let change = watch.change(fd, 1, Interest::Both).unwrap_err();
    let remove = watch.remove(fd).unwrap_err();
    watch.add(fd, 1, Interest::Readable).unwrap();
    let again = watch.add(fd, 2, Interest::Readable).unwrap_err();

    assert_eq!(change.kind(), ErrorKind::NotFound);
    assert_eq!(remove.kind(), ErrorKind::NotFound);
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
}

fn now(watch: &mut impl Watch) -> Vec<(u64, bool, bool)> {
    ready(watch, Some(Duration::ZERO))
}

/// What a wait tells, in the order of the tokens.
fn ready(watch: &mut impl Watch, timeout: Option<Duration>) -> Vec<(u64, bool, bool)> {
    let mut told = Vec::new();
    let mut tell = |event: Event| told.push((event.token, event.readable, event.writable));
    watch.wait(timeout, &mut tell).unwrap();
    told.sort_unstable();
    told
}
