//! The form of certificates: what is written where a criterion holds, so that an independent program can check it.
//!
//! A certificate is a set of states. It proves that a criterion holds if the initial state is in it, if it is closed under steps, and if no
//! state in it violates. (A state that covers another one stands for it.) This crate knows neither steps nor criteria, only the file:
//!
//! ```text
//! palisade certificate 3
//! model sc
//! criterion safe
//! locations declared
//! proof states
//! hash 2c26b46b68ffc68f…             of what is claimed above, and of the program
//!                                    an empty line, and then the states as bytes, strictly ascending:
//! SHARED LENGTH BYTES…               a state: as many bytes of the one before it, then these
//! 0 0 COUNT                          the end: how many states there were
//! ```
//!
//! A state is a list of numbers. Each is written in zigzag form with seven bits a byte, the lowest first; SHARED, LENGTH and COUNT likewise,
//! without the zigzag. The numbers of a state are first
//!
//! * for each running thread, in the order of the text, its control point and all its registers; those that are set before they are read again, or never
//!   read again, are 0 (for `safe`, those that a `never` reads are kept);
//! * for each location its value;
//!
//! and then what the proof needs ([`Proof`]):
//!
//! * `states`: nothing.
//! * `attacks`: the state of an attack: one number for the phase (0: no thread attacks, and nothing more follows that is not 0;
//!   1: the attacker goes on alone; 2: it has just loaded from memory; 3: it has stopped), the attacker, the location of the store that it
//!   has delayed; for each thread its role (0, 1: it has joined, 2: it is inside a block that has not joined so far, 3: it attacks); for
//!   each location two numbers for what the attacker has buffered (whether, and what), and one for its access level (0: none, 1: load, 2: store,
//!   3 and 4: the same for a block that has not joined so far). In phase 3 the attacker's point is -1, its registers are 0 and its buffer is
//!   empty: they do not matter any more.
//! * `buffers K`: for each thread its buffer. One of n ≤ K stores is the number 2n, or 2n + 1 where the thread waits until it is empty, and
//!   n pairs of location and value, oldest first. A longer one, in which n different stores are pending, is the number -n, these n pairs,
//!   how many locations they have, and pairs of each of these and the newest value for it, all ascending.
//! * `load-buffers`: first of all a number, 0 for a state without its buffers and 1 for a minimal configuration. Behind the memory, for each thread how
//!   many messages follow: those that its load buffer may hold, ascending, or those that it does hold, oldest first. A message is a location, a value, and 1 if the thread
//!   itself has stored it, otherwise 0.
//! * `monitors`: where places are the locations that are not `nonatomic`, and behind them the one of the fences: for each thread V_SC, for each
//!   place M_SC, for each place W_SC, as sets of places: a number for each 32 places, one bit a place. Then for each thread V, for each thread
//!   V_RMW, for each place W, for each place W_RMW. Each of these says which values could be old: how many places have some; for each of
//!   them the place, 2n + 1 if one of the values is not critical and otherwise 2n, and the n critical values, ascending. States inside
//!   `atomic` blocks are left out, and so are states whose sets another one with the same threads and memory includes: that one covers them.
//! * `suspects`: what is suspected, five numbers. 0, and four more: nothing, and nothing follows. 1: that a write is read, or followed, that is too old: its place,
//!   1 if a read-modify-write follows it, 1 and its value if that is critical and otherwise two zeros. 2: that an access races with one that was made: its location, 1 if that one
//!   writes, 1 if it is nonatomic, 0. Then for each thread its views, current, acquirable and released, four bits each, a bit for what its own `seqcst` accesses know, and a
//!   bit for whether it knows of the last write; for each place the message's views, and bits for what comes behind all its accesses and behind its last write, and for what some access and
//!   its last write know of the last write of the suspected place. Places are as in `monitors`, without the one of the fences. States inside `atomic` blocks are left out.
//!
//! Only for any number of threads, with the proof `basis`, it is not states but sets of states: ideals, in one of which is everything that can be reached, and
//! minimal states, the backward basis, above which is everything that could violate (see `palisade-validate` for what makes that a proof). The
//! numbers of each are then
//!
//! * 0 for an ideal, 1 for a minimal state;
//! * 1 if a copy is inside `atomic`, or else 0 (but not under RA, where no state is inside);
//! * for each thread that is there once its control point and all its registers, and for each location its value;
//! * for `robust` under RA, monitors: for each thread that is there once V_SC, V and V_RMW, for each place M_SC, W_SC, W and W_RMW, as in `monitors`;
//! * for `robust` under TSO, the state of an attack. For each thread with copies the control point and all registers of the copy that attacks, or -1 and zeros where none of
//!   its copies does. Then as in `attacks`, with roles for those threads only that are there once; the attacker is a number among them and two
//!   copies of each other thread, in the order of the text, of which only the first may attack;
//! * for each place where there are copies: the number of the thread in the text, the control point, all registers, for `robust` the role (TSO) or
//!   V_SC, V and V_RMW (RA), and how many copies there are, at most in an ideal (0: any number) and at least in a minimal state.
//!
//! With the proof `load-buffers` (`safe` under TSO), the numbers are
//!
//! * 0 for a node (what there is but for buffers), 1 for a minimal configuration;
//! * for each thread that is there once its control point and all its registers, and for each location its value;
//! * 0, or where a copy is inside `atomic` the number of its thread in the text plus 1, its control point and all its registers;
//! * for each thread that is there once its messages, as above;
//! * for each place where there may be copies, or for each copy: the number of the thread in the text, the control point, all registers, and the messages. Registers that
//!   are set before they are read again are 0 here.
//!
//! Sets that memory cannot hold are sorted and merged on disk ([`Sorter`]).

mod file;
mod numbers;
mod sorter;

pub use file::{Claim, Header, Locations, MAGIC, NAME, Proof, Reader, Unusable, write};
pub use numbers::{decode, encode};
pub use sorter::{Sorted, Sorter};
