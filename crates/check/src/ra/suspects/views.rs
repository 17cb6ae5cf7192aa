//! What threads, messages and locations know of one write ŵ of one location x, a bit for each view.
//!
//! A view of the C++20 monitor says how much of each location's modification order is already behind a thread. For one guessed write ŵ of x,
//! all that matters of a view is whether its x-component has reached ŵ: one bit, and the join of two views is `|`.
//!
//! There are four kinds of views. `V` is what coherence forbids a thread to read, with what sc fences before it know; `LF` is what sc fences
//! before it know; `EF` is what its next sc fence must learn; `SH` is what sc accesses know that happen before it in the sense of `shb`. A thread has each of
//! them three times: as it is (*current*), with what an acquire fence would add (*pending*), and as it was at the last release fence (*released*). A
//! location carries the views of its last write (*message*). Beside these, a thread has what its own sc accesses know, and a location has what an
//! sc event learns that comes behind all accesses (`EM`) or behind the last write (`EW`).
//!
//! Release/acquire is the special case in which every read acquires and every write releases: only the current `V` and the message's `V` matter then.

use palisade_lang::Order;

/// The kinds of views, by number.
const V: u32 = 0;
const LF: u32 = 1;
const EF: u32 = 2;
const SH: u32 = 3;
const KINDS: [u32; 4] = [V, LF, EF, SH];

/// The lowest of a thread's bits that belong to its views; those below it are not looked at here.
pub const THREAD_BASE: u32 = 4;
/// The same for a location.
pub const LOCATION_BASE: u32 = 2;

const CURRENT: u32 = THREAD_BASE;
const PENDING: u32 = THREAD_BASE + 4;
const RELEASED: u32 = THREAD_BASE + 8;

/// Of a thread: ŵ is in its current view, so nothing before ŵ can be read any more.
pub const SEEN: u32 = 1 << (CURRENT + V);
/// Of a thread: ŵ stands for an event of its own.
pub const HAPPENED: u32 = SEEN | 1 << (PENDING + V);
/// Of a thread: ŵ is known to one of its own sc accesses.
const OWN_SC: u32 = 1 << (THREAD_BASE + 12);
/// Of a thread: all that only acquire fences look at.
pub const PENDING_VIEWS: u32 = 0b1111 << PENDING;
/// Of a thread: all that only writes look at that do not release.
pub const RELEASED_VIEWS: u32 = 0b1111 << RELEASED;
/// Of a thread: all views.
pub const THREAD_VIEWS: u32 = 0b1_1111_1111_1111 << THREAD_BASE;

/// Of a location: ŵ comes with its last write to whatever acquires it.
pub const SEEN_IN_MESSAGE: u32 = 1 << (LOCATION_BASE + V);
const BEHIND_ALL: u32 = 1 << (LOCATION_BASE + 4);
const BEHIND_LAST_WRITE: u32 = 1 << (LOCATION_BASE + 5);
/// Of a location: all views.
pub const LOCATION_VIEWS: u32 = 0b11_1111 << LOCATION_BASE;

/// An access as the views see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sync {
    /// It reads.
    pub reads: bool,
    /// It writes.
    pub writes: bool,
    /// Its order.
    pub order: Order,
}

/// Whether a thread with this status may still access x before ŵ with an access of this order.
pub fn may_be_stale(thread: u32, order: Order) -> bool {
    let forbidding = match order {
        Order::SeqCst => SEEN | OWN_SC | 1 << (CURRENT + SH),
        _ => SEEN,
    };
    thread & forbidding == 0
}

/// Executes an access; `own`: it is one of x, at ŵ or behind it.
pub fn access(thread: &mut u32, location: &mut u32, access: Sync, own: bool) {
    let bit = |set: u32, number: u32| set >> number & 1;
    let own = u32::from(own);
    let atomic = access.order != Order::NonAtomic;
    let sc = access.order == Order::SeqCst;
    let behind = match access.writes {
        true => BEHIND_ALL,
        false => BEHIND_LAST_WRITE,
    };
    let incoming = u32::from(*location & behind != 0);
    let own_sc = u32::from(*thread & OWN_SC != 0);
    let learned = own | incoming | own_sc | bit(*thread, CURRENT + SH) | bit(*thread, CURRENT + LF);
    let message = *location >> LOCATION_BASE & 0b1111;
    if access.reads && atomic {
        *thread |= message << PENDING;
        if access.order.acquires() {
            *thread |= message << CURRENT;
        }
    }
    *thread |= own << (CURRENT + V) | incoming << (CURRENT + EF);
    *thread |= (*thread >> CURRENT & 0b1111) << PENDING;
    if access.writes {
        let mut sent = match access.order.releases() {
            true => *thread >> CURRENT & 0b1111 | own_sc << SH,
            false if atomic => *thread >> RELEASED & 0b1111,
            false => 0,
        };
        if access.reads {
            sent |= message;
        }
        *location = *location & !(0b1111 << LOCATION_BASE) | sent << LOCATION_BASE;
    }
    if bit(*thread, CURRENT + LF) == 1 || sc && learned == 1 {
        *location |= BEHIND_ALL;
    }
    if sc && learned == 1 {
        *thread |= OWN_SC;
    }
    if access.writes {
        *location &= !BEHIND_LAST_WRITE;
        if *location & BEHIND_ALL != 0 {
            *location |= BEHIND_LAST_WRITE;
        }
    }
}

/// Executes a fence.
pub fn fence(thread: &mut u32, order: Order) {
    let own_sc = u32::from(*thread & OWN_SC != 0);
    if order.acquires() {
        *thread |= (*thread >> PENDING & 0b1111) << CURRENT;
    }
    if order == Order::SeqCst {
        let known = KINDS
            .iter()
            .any(|&k| k != SH && *thread >> (CURRENT + k) & 1 == 1);
        if known || own_sc == 1 {
            *thread |= 1 << (CURRENT + V) | 1 << (CURRENT + LF);
        }
    }
    *thread |= (*thread >> CURRENT & 0b1111) << PENDING;
    if order.releases() {
        let current = *thread >> CURRENT & 0b1111 | own_sc << SH;
        *thread = *thread & !RELEASED_VIEWS | current << RELEASED;
    }
}

/// Executes a fence where ŵ stands for an event of which only happens-before is followed: nothing is learned from the order of sc fences.
pub fn fence_by_happens_before(thread: &mut u32, order: Order) {
    let order = match order {
        Order::SeqCst => Order::AcqRel,
        weaker => weaker,
    };
    fence(thread, order);
}
