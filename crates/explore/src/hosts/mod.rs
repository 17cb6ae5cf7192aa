//! One walk by several processes, on the machines of a list.
//!
//! What they say to each other is in *rounds*: in each, every process may send batches of numbers to the others, and the round is over for a process when it has
//! all that the others have sent in it. The [dataflow engine](https://docs.rs/timely) carries the batches, and its tracking of progress says when a round is
//! over. Processes do the same rounds in the same order, because they ask the same question and decide alike about what all of them know.
//!
//! A connection that breaks, or a process that ends, is told to the walk as [`Lost`]: from then on there are no rounds, and every walk ends with
//! [`Reason::Hosts`](crate::Reason::Hosts).

#[cfg(feature = "hosts")]
mod link;
#[cfg(feature = "hosts")]
mod meet;
#[cfg(feature = "hosts")]
mod network;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The processes that walk together.
pub struct Hosts {
    addresses: Vec<String>,
    process: usize,
    state: Mutex<State>,
}

/// How it stands with the others.
enum State {
    /// They were not asked for yet.
    Apart,
    #[cfg(feature = "hosts")]
    Together(network::Network),
    /// There is no more to be had from them, for this reason.
    Lost(String),
}

/// What one process sends to another in a round.
#[derive(Debug)]
#[cfg_attr(feature = "hosts", derive(Clone, serde::Serialize, serde::Deserialize))]
pub(crate) struct Batch {
    // Only a network looks at it.
    #[cfg_attr(not(feature = "hosts"), allow(dead_code))]
    pub(crate) to: usize,
    pub(crate) from: usize,
    /// What it is about: a number of the walk's own.
    pub(crate) kind: u64,
    pub(crate) words: Vec<u64>,
}

/// Another process is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost;

/// When waiting for the others has an end.
#[derive(Clone, Copy, Default)]
pub(crate) struct WaitLimit<'a> {
    pub(crate) cancel: Option<&'a AtomicBool>,
    pub(crate) deadline: Option<Instant>,
}

impl WaitLimit<'_> {
    /// Why there is no more waiting.
    #[cfg_attr(not(feature = "hosts"), allow(dead_code))]
    pub(crate) fn is_over(&self) -> Option<&'static str> {
        if self.cancel.is_some_and(|cancel| cancel.load(Relaxed)) {
            return Some("it was interrupted while it waited for another process");
        }
        match self.deadline.is_some_and(|end| Instant::now() >= end) {
            true => Some("another process did not answer before the time limit"),
            false => None,
        }
    }
}

impl std::fmt::Debug for Hosts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} of {:?}", self.process, self.addresses)
    }
}

impl Hosts {
    /// The processes at these addresses (`host:port`), of which this one has the number `process`. They are looked for when the first walk begins.
    pub fn new(addresses: Vec<String>, process: usize) -> Hosts {
        Hosts {
            addresses,
            process,
            state: Mutex::new(State::Apart),
        }
    }

    /// The number of this process.
    pub fn process(&self) -> usize {
        self.process
    }

    /// How many processes there are.
    pub fn processes(&self) -> usize {
        self.addresses.len()
    }

    /// What went wrong with another process, if something did.
    pub fn trouble(&self) -> Option<String> {
        match &*self.lock() {
            State::Lost(why) => Some(why.clone()),
            _ => None,
        }
    }

    /// There is nothing more to do together.
    pub fn leave(&self) {
        *self.lock() = State::Lost("this process has left".into());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, the others are not asked any more.
    pub(crate) fn give_up(&self, why: String) {
        let mut state = self.lock();
        if !matches!(*state, State::Lost(_)) {
            *state = State::Lost(why);
        }
    }

    /// Sends something to another process, in the round that is under way.
    #[cfg(feature = "hosts")]
    pub(crate) fn send(&self, to: usize, kind: u64, words: Vec<u64>) {
        if let State::Together(network) = &*self.lock() {
            network.send(Batch {
                to,
                from: self.process,
                kind,
                words,
            });
        }
    }

    /// Meets the others, unless that is done.
    #[cfg(feature = "hosts")]
    pub(crate) fn join(&self, question: u64, wait_limit: WaitLimit<'_>) -> Result<(), Lost> {
        if let State::Together(_) = &*self.lock() {
            return Ok(());
        }
        if self.trouble().is_some() {
            return Err(Lost);
        }
        let met = meet::meet(&self.addresses, self.process, question, wait_limit);
        let joined = met.and_then(|sockets| {
            network::Network::new(sockets, self.process, &self.addresses)
                .map_err(|error| error.to_string())
        });
        match joined {
            Ok(network) => {
                *self.lock() = State::Together(network);
                Ok(())
            }
            Err(why) => {
                self.give_up(why);
                Err(Lost)
            }
        }
    }

    /// Ends the round: what the others have sent in it, by the number of the sender, and of each sender in the order of sending.
    #[cfg(feature = "hosts")]
    pub(crate) fn round(&self, wait_limit: WaitLimit<'_>) -> Result<Vec<Batch>, Lost> {
        let ended = match &*self.lock() {
            State::Together(network) => network.round(wait_limit),
            _ => return Err(Lost),
        };
        ended.map_err(|why| {
            self.give_up(why);
            Lost
        })
    }

    #[cfg(not(feature = "hosts"))]
    pub(crate) fn send(&self, _: usize, _: u64, _: Vec<u64>) {}

    #[cfg(not(feature = "hosts"))]
    pub(crate) fn join(&self, _: u64, _: WaitLimit<'_>) -> Result<(), Lost> {
        self.give_up("this build has no `--hosts`".into());
        Err(Lost)
    }

    #[cfg(not(feature = "hosts"))]
    pub(crate) fn round(&self, _: WaitLimit<'_>) -> Result<Vec<Batch>, Lost> {
        Err(Lost)
    }
}

#[cfg(all(test, feature = "hosts"))]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn everything_arrives_in_its_round() {
        let free: Vec<TcpListener> = (0..3)
            .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
            .collect();
        let addresses: Vec<String> = free
            .iter()
            .map(|listener| listener.local_addr().unwrap().to_string())
            .collect();
        drop(free);
        std::thread::scope(|scope| {
            for process in 0..3 {
                let addresses = addresses.clone();
                scope.spawn(move || {
                    let hosts = Hosts::new(addresses, process);
                    let joined = hosts.join(7, WaitLimit::default());
                    assert!(joined.is_ok(), "{:?}", hosts.trouble());
                    for round in 0..200 {
                        for to in (0..3).filter(|&to| to != process) {
                            for part in 0..round % 3 + 1 {
                                hosts.send(to, round, vec![part]);
                            }
                        }
                        let batches = hosts.round(WaitLimit::default());
                        let batches = batches.unwrap_or_else(|_| panic!("{:?}", hosts.trouble()));
                        let heard: Vec<(usize, u64, u64)> = batches
                            .iter()
                            .map(|batch| (batch.from, batch.kind, batch.words[0]))
                            .collect();
                        let others = (0..3).filter(|&from| from != process);
                        let said = |from| (0..round % 3 + 1).map(move |part| (from, round, part));
                        assert_eq!(heard, others.flat_map(said).collect::<Vec<_>>());
                    }
                });
            }
        });
    }
}
