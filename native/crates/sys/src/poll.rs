//! Waiting for descriptors (epoll), and waking a waiter from another thread (eventfd).

use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::errno;

/// Waits until one of several descriptors is ready. Level-triggered: what is not drained is reported again.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
    buffer: Vec<libc::epoll_event>,
}

/// Waits until one of several descriptors is ready, by whatever means of the kernel. Level-triggered: what is not drained
/// is reported again. Keep a descriptor open while it is watched.
pub trait Watch {
    /// Starts watching `fd` under `token`.
    ///
    /// # Errors
    /// `AlreadyExists` when it is watched already; otherwise what the kernel says.
    fn add(&mut self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()>;

    /// Changes what a watched descriptor is watched for.
    ///
    /// # Errors
    /// `NotFound` when it is not watched.
    fn change(&mut self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()>;

    /// Stops watching `fd`.
    ///
    /// # Errors
    /// `NotFound` when it is not watched.
    fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()>;

    /// Waits until something is ready, at most `timeout` (`None` = for ever), and tells what is. An interrupted wait may
    /// tell nothing.
    ///
    /// # Errors
    /// What the kernel says; none is expected.
    fn wait(&mut self, timeout: Option<Duration>, tell: &mut dyn FnMut(Event)) -> io::Result<()>;
}

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Something to read.
    Readable,
    /// Room to write.
    Writable,
    /// Either.
    Both,
    /// Only errors and hang-ups, which are always reported.
    Neither,
}

/// A descriptor that is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The token given when it was added.
    pub token: u64,
    /// There is something to read, or an error or hang-up that a read will report.
    pub readable: bool,
    /// There is room to write, or an error that a write will report.
    pub writable: bool,
}

impl Poller {
    /// A poller that reports at most `events_max` events per wait.
    ///
    /// # Errors
    /// When the process or the system has no descriptor left.
    pub fn new(events_max: usize) -> io::Result<Self> {
        // SAFETY: the call takes a number and touches no memory of ours.
        let raw = errno::check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: the kernel just gave us this descriptor and nobody else owns it.
        let epoll = unsafe { OwnedFd::from_raw_fd(raw) };
        Ok(Self {
            epoll,
            buffer: vec![libc::epoll_event { events: 0, u64: 0 }; events_max.max(1)],
        })
    }

    /// Starts watching `fd` under `token`. A descriptor that is closed is forgotten by itself.
    ///
    /// # Errors
    /// `AlreadyExists` when it is watched already; `ENOSPC` beyond the user's limit of watches.
    pub fn add(&self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, token, interest)
    }

    /// Changes what a watched descriptor is watched for.
    ///
    /// # Errors
    /// `NotFound` when it is not watched.
    pub fn change(&self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, token, interest)
    }

    /// Stops watching `fd`.
    ///
    /// # Errors
    /// `NotFound` when it is not watched.
    pub fn remove(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, Interest::Neither)
    }

    /// Waits until something is ready, at most `timeout` (`None` = for ever), and returns what is. An interrupted wait
    /// returns nothing. Timeouts are rounded up to whole milliseconds.
    ///
    /// # Errors
    /// What the kernel says; none is expected while the poller lives.
    pub fn wait(
        &mut self,
        timeout: Option<Duration>,
    ) -> io::Result<impl Iterator<Item = Event> + use<'_>> {
        let milliseconds = timeout.map_or(-1, |timeout| {
            i32::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX)
        });
        let capacity = i32::try_from(self.buffer.len()).unwrap_or(i32::MAX);
        // SAFETY:
        // - the descriptor is ours and open;
        // - pointer and capacity describe `buffer`, which is exclusively ours for the call.
        let returned = unsafe {
            libc::epoll_wait(
                self.epoll.as_raw_fd(),
                self.buffer.as_mut_ptr(),
                capacity,
                milliseconds,
            )
        };
        let ready = match errno::check_size(returned as libc::ssize_t) {
            Ok(ready) => ready,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
        };
        Ok(self.buffer.iter().take(ready).map(event))
    }

    fn control(
        &self,
        operation: libc::c_int,
        fd: BorrowedFd<'_>,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        let mut wanted = libc::epoll_event {
            events: mask(interest),
            u64: token,
        };
        // SAFETY:
        // - both descriptors are borrowed, so they stay open for the call;
        // - the pointer is to a live event the kernel only reads.
        let returned = unsafe {
            libc::epoll_ctl(
                self.epoll.as_raw_fd(),
                operation,
                fd.as_raw_fd(),
                &raw mut wanted,
            )
        };
        errno::check(returned).map(drop)
    }
}

impl Watch for Poller {
    fn add(&mut self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()> {
        Poller::add(self, fd, token, interest)
    }

    fn change(&mut self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()> {
        Poller::change(self, fd, token, interest)
    }

    fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Poller::remove(self, fd)
    }

    fn wait(&mut self, timeout: Option<Duration>, tell: &mut dyn FnMut(Event)) -> io::Result<()> {
        Poller::wait(self, timeout).map(|events| events.for_each(tell))
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// Wakes a thread that waits in a [`Poller`] the waker's descriptor was added to. Share it through an `Arc`.
#[derive(Debug)]
pub struct Waker {
    event: OwnedFd,
}

impl Waker {
    /// A waker that has not been rung.
    ///
    /// # Errors
    /// When the process or the system has no descriptor left.
    pub fn new() -> io::Result<Self> {
        // SAFETY: the call takes two numbers and touches no memory of ours.
        let raw =
            errno::check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
        // SAFETY: the kernel just gave us this descriptor and nobody else owns it.
        let event = unsafe { OwnedFd::from_raw_fd(raw) };
        Ok(Self { event })
    }

    /// Makes the descriptor readable until [`Waker::drain`]. Rings add up to one wake-up.
    pub fn wake(&self) {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: the descriptor is ours and open; pointer and length describe eight live bytes the kernel reads.
        // The only failure possible, a counter at its maximum, means that a wake-up is pending anyway.
        let _ = unsafe { libc::write(self.event.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Takes back all rings so far and tells whether there were any.
    #[expect(
        clippy::must_use_candidate,
        reason = "called for its effect as often as for its answer"
    )]
    pub fn drain(&self) -> bool {
        let mut count = [0_u8; 8];
        // SAFETY: the descriptor is ours and open; pointer and length describe eight bytes exclusively ours.
        let returned = unsafe {
            libc::read(
                self.event.as_raw_fd(),
                count.as_mut_ptr().cast(),
                count.len(),
            )
        };
        returned > 0
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

fn event(raw: &libc::epoll_event) -> Event {
    // On x86-64 the kernel's struct is packed, so the fields are copied, never borrowed.
    let (events, token) = (raw.events, raw.u64);
    let failed = events & FAILED != 0;
    Event {
        token,
        readable: failed || events & READABLE != 0,
        writable: failed || events & WRITABLE != 0,
    }
}

fn mask(interest: Interest) -> u32 {
    match interest {
        Interest::Readable => READABLE,
        Interest::Writable => WRITABLE,
        Interest::Both => READABLE | WRITABLE,
        Interest::Neither => 0,
    }
}

const READABLE: u32 = libc::EPOLLIN.cast_unsigned();
const WRITABLE: u32 = libc::EPOLLOUT.cast_unsigned();
const FAILED: u32 = (libc::EPOLLERR | libc::EPOLLHUP).cast_unsigned();

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_ring_from_another_thread_ends_the_wait() {
        let mut poller = Poller::new(4).unwrap();
        let waker = Arc::new(Waker::new().unwrap());
        poller.add(waker.as_fd(), 7, Interest::Readable).unwrap();

        let other = Arc::clone(&waker);
        let ringer = std::thread::spawn(move || other.wake());
        let events: Vec<Event> = poller.wait(Some(Duration::from_secs(5))).unwrap().collect();
        ringer.join().unwrap();

        assert_eq!(
            events,
            [Event {
                token: 7,
                readable: true,
                writable: false
            }]
        );
    }

    #[test]
    fn many_rings_are_one_wake_up_and_draining_ends_it() {
        let mut poller = Poller::new(4).unwrap();
        let waker = Waker::new().unwrap();
        poller.add(waker.as_fd(), 1, Interest::Readable).unwrap();

        (0..1_000).for_each(|_| waker.wake());

        assert!(waker.drain());
        assert!(!waker.drain());
        assert_eq!(poller.wait(Some(Duration::ZERO)).unwrap().count(), 0);
    }

    #[test]
    fn interest_can_be_changed_and_taken_back() {
        let mut poller = Poller::new(4).unwrap();
        let waker = Waker::new().unwrap();
        poller.add(waker.as_fd(), 1, Interest::Readable).unwrap();
        assert_eq!(
            poller
                .add(waker.as_fd(), 1, Interest::Readable)
                .unwrap_err()
                .kind(),
            io::ErrorKind::AlreadyExists
        );

        poller.change(waker.as_fd(), 2, Interest::Both).unwrap();
        let events: Vec<Event> = poller.wait(Some(Duration::ZERO)).unwrap().collect();
        assert_eq!(
            events,
            [Event {
                token: 2,
                readable: false,
                writable: true
            }]
        );

        poller.remove(waker.as_fd()).unwrap();
        assert_eq!(poller.wait(Some(Duration::ZERO)).unwrap().count(), 0);
        assert_eq!(
            poller.remove(waker.as_fd()).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn a_wait_without_events_ends_after_its_timeout() {
        let mut poller = Poller::new(1).unwrap();

        assert_eq!(
            poller.wait(Some(Duration::from_micros(1))).unwrap().count(),
            0
        );
    }
}
