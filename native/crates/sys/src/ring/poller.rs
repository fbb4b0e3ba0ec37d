use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};

use super::RingHealth;
use crate::errno;
use crate::poll::{Event, Interest, Poller, Watch};

/// Waits for descriptors through a ring: one question per descriptor is with the kernel, and one call asks again what was
/// answered and waits. When a call fails, the same descriptors are waited for with epoll from then on.
pub struct RingPoller {
    means: Means,
    watched: Vec<Watched>,
    /// Number of the last question.
    asked: u64,
    health: Arc<RingHealth>,
}

enum Means {
    Ring(Box<IoUring>),
    Epoll(Poller),
}

struct Watched {
    fd: OwnedFd,
    /// The number it was added under.
    name: RawFd,
    token: u64,
    interest: Interest,
    /// The number of the question that the kernel has not answered yet.
    question: Option<u64>,
}

impl RingPoller {
    /// A poller on a ring of its own. Failures later on are noted in `health`.
    ///
    /// # Errors
    /// `EPERM` when the system's settings or a filter of the process forbid rings, `ENOSYS` when the kernel has none that
    /// can wait with a timeout (before 5.11), `ENOMEM` beyond the limit of locked memory of old kernels.
    pub fn open(health: Arc<RingHealth>) -> io::Result<Self> {
        let ring = super::open(ENTRIES)?;
        if !ring.params().is_feature_ext_arg() {
            return Err(io::Error::from_raw_os_error(libc::ENOSYS));
        }
        // A filter may let rings be made and not be used.
        ring.submit()?;
        Ok(Self {
            means: Means::Ring(Box::new(ring)),
            watched: Vec::new(),
            asked: NOBODY,
            health,
        })
    }

    fn position(&self, fd: BorrowedFd<'_>) -> Option<usize> {
        let name = fd.as_raw_fd();
        self.watched.iter().position(|watched| watched.name == name)
    }

    /// Takes a question back. Its answer, if it is under way, is passed over.
    fn withdraw(&mut self, question: Option<u64>) -> io::Result<()> {
        let (Some(question), Means::Ring(ring)) = (question, &mut self.means) else {
            return Ok(());
        };
        let entry = opcode::PollRemove::new(question).build().user_data(NOBODY);
        push(ring, &entry)
    }

    /// Goes on with epoll.
    fn fall_back(&mut self, error: &io::Error) -> io::Result<()> {
        let poller = Poller::new(self.watched.len().max(4))?;
        for watched in &mut self.watched {
            watched.question = None;
            poller.add(watched.fd.as_fd(), watched.token, watched.interest)?;
        }
        self.health.fail(error);
        self.means = Means::Epoll(poller);
        Ok(())
    }
}

impl Drop for RingPoller {
    /// Takes all questions back and waits for that: the kernel would hold their descriptors, and with them a TUN device, for
    /// a while after the ring is closed.
    fn drop(&mut self) {
        let open: Vec<_> = self
            .watched
            .iter()
            .map(|watched| watched.question)
            .collect();
        for question in open {
            if self.withdraw(question).is_err() {
                return;
            }
        }
        let Means::Ring(ring) = &mut self.means else {
            return;
        };
        for _ in 0..ROUNDS_MAX {
            if self
                .watched
                .iter()
                .all(|watched| watched.question.is_none())
            {
                return;
            }
            let timeout = Some(Duration::from_millis(100));
            let taken =
                wait(ring, timeout).and_then(|()| answers(ring, &mut self.watched, &mut |_| {}));
            if taken.is_err() {
                return;
            }
        }
    }
}

impl Watch for RingPoller {
    fn add(&mut self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()> {
        if self.position(fd).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let own = fd.try_clone_to_owned()?;
        if let Means::Epoll(poller) = &self.means {
            poller.add(own.as_fd(), token, interest)?;
        }
        self.watched.push(Watched {
            fd: own,
            name: fd.as_raw_fd(),
            token,
            interest,
            question: None,
        });
        Ok(())
    }

    fn change(&mut self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()> {
        let at = self.position(fd);
        let Some(watched) = at.and_then(|at| self.watched.get_mut(at)) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        watched.token = token;
        watched.interest = interest;
        if let Means::Epoll(poller) = &self.means {
            return poller.change(watched.fd.as_fd(), token, interest);
        }
        let question = watched.question.take();
        self.withdraw(question)
    }

    fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let Some(at) = self.position(fd) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let watched = self.watched.swap_remove(at);
        if let Means::Epoll(poller) = &self.means {
            return poller.remove(watched.fd.as_fd());
        }
        self.withdraw(watched.question)
    }

    fn wait(&mut self, timeout: Option<Duration>, tell: &mut dyn FnMut(Event)) -> io::Result<()> {
        if let Means::Ring(ring) = &mut self.means {
            let waited = ask(ring, &mut self.watched, &mut self.asked)
                .and_then(|()| wait(ring, timeout))
                .and_then(|()| answers(ring, &mut self.watched, tell));
            if let Err(error) = waited {
                self.fall_back(&error)?;
            }
        }
        // Also right after the fall: nothing was told yet, or it is told again.
        match &mut self.means {
            Means::Epoll(poller) => Watch::wait(poller, timeout, tell),
            Means::Ring(_) => Ok(()),
        }
    }
}

/// Asks about every descriptor that no question is open for.
fn ask(ring: &mut IoUring, watched: &mut [Watched], asked: &mut u64) -> io::Result<()> {
    for watched in watched {
        if watched.question.is_some() {
            continue;
        }
        *asked += 1;
        let mask = mask(watched.interest);
        let entry = opcode::PollAdd::new(Fd(watched.fd.as_raw_fd()), mask)
            .build()
            .user_data(*asked);
        push(ring, &entry)?;
        watched.question = Some(*asked);
    }
    Ok(())
}

fn push(ring: &mut IoUring, entry: &squeue::Entry) -> io::Result<()> {
    loop {
        // SAFETY: questions about readiness, and taking them back, refer to no memory of ours.
        if unsafe { ring.submission().push(entry) }.is_ok() {
            return Ok(());
        }
        ring.submit()?;
    }
}

/// Hands over the questions and waits for an answer.
fn wait(ring: &IoUring, timeout: Option<Duration>) -> io::Result<()> {
    let waited = match timeout {
        None => ring.submit_and_wait(1),
        Some(Duration::ZERO) => ring.submit(),
        Some(timeout) => {
            let timeout = Timespec::from(timeout);
            let arguments = SubmitArgs::new().timespec(&timeout);
            ring.submitter().submit_with_args(1, &arguments)
        }
    };
    match waited {
        Ok(_) => Ok(()),
        Err(error) => match errno::of(&error) {
            // Time is over, a signal came, or there are answers to take first.
            libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN => Ok(()),
            _ => Err(error),
        },
    }
}

/// Tells what was answered.
fn answers(
    ring: &mut IoUring,
    watched: &mut [Watched],
    tell: &mut dyn FnMut(Event),
) -> io::Result<()> {
    for answer in ring.completion() {
        let question = Some(answer.user_data());
        let Some(watched) = watched
            .iter_mut()
            .find(|watched| watched.question == question)
        else {
            continue;
        };
        watched.question = None;
        match u32::try_from(answer.result()) {
            Ok(mask) => {
                let event = event(watched.token, mask);
                if event.readable || event.writable {
                    tell(event);
                }
            }
            Err(_) if answer.result() == -libc::ECANCELED => {}
            Err(_) => return Err(io::Error::from_raw_os_error(-answer.result())),
        }
    }
    Ok(())
}

fn event(token: u64, mask: u32) -> Event {
    let failed = mask & FAILED != 0;
    Event {
        token,
        readable: failed || mask & READABLE != 0,
        writable: failed || mask & WRITABLE != 0,
    }
}

fn mask(interest: Interest) -> u32 {
    match interest {
        Interest::Readable => READABLE,
        Interest::Writable => WRITABLE,
        Interest::Both => READABLE | WRITABLE,
        // Errors and hang-ups are always told.
        Interest::Neither => 0,
    }
}

/// Questions on their way to the kernel at once; more are handed over in between.
const ENTRIES: u32 = 16;
/// Waits for answers to questions taken back, each of which comes at once.
const ROUNDS_MAX: usize = 16;
/// The number of no question.
const NOBODY: u64 = 0;
const READABLE: u32 = libc::POLLIN.cast_unsigned() as u32;
const WRITABLE: u32 = libc::POLLOUT.cast_unsigned() as u32;
const FAILED: u32 = (libc::POLLERR | libc::POLLHUP).cast_unsigned() as u32;
