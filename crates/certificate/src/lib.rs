//! The form of certificates: what is written where a criterion holds, so that somebody else can check it.
//!
//! A certificate is a set of states. It proves that a criterion holds if the initial state is in it, if it is closed under steps, and if no
//! state in it violates. This crate knows neither steps nor criteria, only the file:
//!
//! ```text
//! palisade certificate 1
//! model sc
//! criterion safe
//! locations declared
//! program 2c26b46b68ffc68f…
//!                                    an empty line, and then the states as bytes, strictly ascending:
//! SHARED LENGTH BYTES…               a state: as many bytes of the one before it, then these
//! 0 0 COUNT                          the end: how many states there were
//! ```
//!
//! A state is a list of numbers. Each is written in zigzag form with seven bits a byte, the lowest first; SHARED, LENGTH and COUNT likewise,
//! without the zigzag. What the numbers of a state are:
//!
//! * for each running thread, in the order of the text, its control point and all its registers;
//! * for each location its value;
//! * for `robust` under TSO, the state of an attack: one number for the phase (0: nobody attacks, and nothing more follows that is not 0;
//!   1: the attacker goes on alone; 2: it has just loaded from memory; 3: it has stopped), the attacker, the location of the store that it
//!   has delayed; for each thread its role (0, 1: it has joined, 2: it is inside a block that has not joined so far, 3: it attacks); for
//!   each location two numbers for what the attacker has buffered (whether, and what), and one for its access level (0: none, 1: load, 2: store,
//!   3 and 4: the same for a block that has not joined so far). In phase 3 the attacker's point is -1, its registers are 0 and its buffer is
//!   empty: they do not matter any more.
//!
//! Sets that memory cannot hold are sorted and merged on disk ([`Sorter`]).

mod file;
mod numbers;
mod sorter;

pub use file::{Header, Locations, MAGIC, Reader, Unusable, write};
pub use numbers::{decode, encode};
pub use sorter::{Sorted, Sorter};
