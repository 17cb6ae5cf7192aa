//! Total store order: robustness by attacks, triangular races.
//!
//! # Attacks
//!
//! A program is robust iff no *attack* has a TSO witness (Bouajjani, Derevenetc, Meyer, Theorem 1): a run
//!
//! ```text
//! τ = τ1 · isu(st_A) · τ2 · ld_A · τ3 · st_A · τ4
//! ```
//!
//! in which one thread, the *attacker*, delays stores, the first of them being `st_A`, past a later load `ld_A`, and all others, the
//! *helpers*, run as under SC. Every action of `τ3` belongs to a helper and happens after `ld_A` (W3); `ld_A` did not read its value from the own
//! buffer (W5); and some action of `τ3` accesses the location of `st_A`, which closes the cycle `st_A → ld_A → … → st_A`.
//!
//! `attack.rs` looks for such runs directly. A row is a state under SC, and behind it the state of the attack, all 0 as long as no thread attacks. So
//! `τ1` is walked once for all attacks. Of equivalent runs (those with the same trace) it walks one, in this normal form:
//!
//! * The issue of a store is seen by no other thread, and so are local steps and loads from the own buffer. Helpers' steps between such a
//!   step and the attacker's next load from memory can be moved to the front of it. So after `isu(st_A)` the attacker runs alone
//!   until it loads from memory.
//! * A helper's action in `τ2` that does not happen after a load of the attacker in `τ2` can be moved to the front of `isu(st_A)`. So in `τ2`, as
//!   in `τ3`, helpers only take steps that happen after a load of the attacker, by Lemma 3: the thread has taken such a step before,
//!   or it accesses a location that such a step has accessed, one of both being a store. Hence one *role* per thread (original code, or
//!   helper's copy of the code) and one *access level* per location (none, load, store).
//! * In `τ3` the attacker does not move, so neither its local state nor its buffer matters any more, but for the location of `st_A`; and levels
//!   and roles begin anew with `ld_A` alone.
//!
//! The buffer is one value for each location (the attacker's loads see the most recent one, and no other thread sees any).
//!
//! # The whole language
//!
//! The paper has loads, stores, fences and local steps. The rest fits in like this:
//!
//! * **Read-modify-writes** and `cas` that fail wait for the empty buffer, like fences: an attacker that has delayed a store cannot execute
//!   one. For helpers, one that writes is a store (it also loads, but whatever comes after a load of a location comes after a store to it, and
//!   what a load has to come after, a store has to come after, too); a `cas` that fails is a load.
//! * **`wait`** is a load, and may be `ld_A`, or read from the own buffer; **`bcas`** is a read-modify-write. Both are events only when they go
//!   on. Moving an action past others that it does not conflict with changes no value that is read, so what went on still does.
//! * **`seqcst` stores** are followed by a fence: no load can overtake them.
//! * **`atomic` blocks** are one action that accesses several locations. All that the proofs use of an action is that neighbours that do not
//!   conflict can be swapped, which holds for blocks. The attacker cannot enter a block with a delayed store. A helper's block joins the path as
//!   a whole, as soon as one of its accesses does; the search walks through a block step by step, so until that access comes, the
//!   others are noted as levels that count only *if* it comes, and where the block ends without it, the step was not to be taken in `τ3`.
//!   A block that does not come to its end keeps every buffer from being emptied, so it is part of no complete TSO run; the cycle is looked for only where no
//!   thread is inside a block.
//! * **Errors** stop a thread: a run with the thread standing before the error has the same trace.
//! * **Addresses** are values in the row; nothing is assumed about them.
//!
//! # Reductions
//!
//! Local steps run with the step before them, dead registers are forgotten, and interchangeable threads are sorted, with their roles. Persistent sets
//! are used in `τ1` only. There, a thread's next action `a` that conflicts with no future access of the threads outside the set can be moved to the front of the
//! rest of the run; and where the run does not contain it, it can be put there. The one exception: if `a` is the store of an attack,
//! the steps that go before it in the normal form must still be possible; so a store that a load may overtake, to a location
//! that others may access, makes its thread unfit for such a set. (Where no other thread may access its location, no cycle is closed by it.)

pub(crate) mod alone;
pub(crate) mod attack;
pub(crate) mod delayed;
pub(crate) mod filter;
pub(crate) mod guide;
pub(crate) mod overtake;
pub(crate) mod robust;
pub(crate) mod trf;
pub(crate) mod witness;
