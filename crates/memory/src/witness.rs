//! Witnesses: runs that show a violation, in the fixed JSON form.

use palisade_lang::Order;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// Total store order.
    Tso,
    /// Release/acquire.
    Ra,
    /// The atomics of C++20 and Rust, without load buffering.
    C20,
    /// The same with the rule that RC11 has for sequentially consistent accesses.
    Rc11,
}

/// A criterion that can be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// Assertions, `never`, no errors.
    Safe,
    /// Data-race freedom.
    Drf,
    /// Triangular-race freedom.
    Trf,
    /// The same happens-before (TSO) or execution graphs (RA, C++20) as under SC.
    Robust,
    /// The same program orders and store orders as under SC.
    Persistent,
    /// Nothing that is used differs from what SC shows: a stale value that is read and not used does no harm (Margalit and Lahav 2021).
    Observational,
    /// Under a fair scheduler no thread is stuck for ever in a loop or a wait.
    Live,
}

impl Model {
    /// Whether its runs say for each read what it reads, and for each write where it comes in modification order.
    pub fn has_messages(self) -> bool {
        matches!(self, Model::Ra | Model::C20 | Model::Rc11)
    }

    /// All models, in the order in which they are listed for people.
    pub const ALL: [Model; 5] = [Model::Sc, Model::Tso, Model::Ra, Model::C20, Model::Rc11];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Ra => "ra",
            Model::C20 => "c20",
            Model::Rc11 => "rc11",
        }
    }
}

impl Criterion {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Criterion::Safe => "safe",
            Criterion::Drf => "drf",
            Criterion::Trf => "trf",
            Criterion::Robust => "robust",
            Criterion::Persistent => "persistent",
            Criterion::Observational => "observational",
            Criterion::Live => "live",
        }
    }
}

/// A run of the program and what is wrong with it.
///
/// The run starts in the initial state. It lists every access to memory; local steps, errors that are not what the witness is about, the
/// borders of `atomic` blocks and (but for RA, C++20 and RC11, where they are events) fences may be left out. Which run shows what:
///
/// | criterion | `model` | shown by |
/// |---|---|---|
/// | robust, TSO | `tso` | a cycle; the run ends with all buffers empty |
/// | robust, RA | `ra` | a cycle, or the pattern `race` on a `nonatomic` location |
/// | robust, C++20 or RC11 | `c20`, `rc11` | a cycle of the graph, or the pattern `race` |
/// | observational | `c20`, `rc11` | a cycle without loads of stale values that are not used, or the pattern `race` |
/// | persistent | `tso` | the pattern `fragile`; the run ends with all buffers empty |
/// | trf | `sc`; `tso` where a block overtakes stores that it does not see | the pattern `triangular-race` |
/// | drf | `sc`, `c20`, `rc11` | the pattern `race` |
/// | live | `sc` | the pattern `stuck`; every step is listed, and what comes from `loop_start` on is repeated for ever |
/// | safe | the model | the pattern `error` or `never`; `race` but for `sc` and `tso` |
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// The model whose rules the run follows.
    pub model: Model,
    /// The criterion that it violates.
    pub criterion: Criterion,
    /// The run, in order.
    pub events: Vec<Event>,
    /// The happens-before cycle: events by index, in order; empty where there is a pattern instead. An issue and its flush name the same
    /// node, and so do all events of one `atomic` block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<usize>,
    /// The edges of the cycle, in order: edge k leads from the node of `cycle[k]` to the node of the next one. `from` and `to` are the
    /// events that are related, which inside a block may be others than the one in `cycle`. `po` and `co` need not be immediate; inside
    /// a block `po` holds both ways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<Edge>,
    /// What makes the run a violation, where that is not a cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// For a run without end: the events from this one on are repeated for ever. Where there are none, the run ends because no thread can move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_start: Option<usize>,
    /// For a parameterised program: how many copies run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<u32>,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The name of the thread's copy, as `Instance::name`.
    pub thread: String,
    /// What kind of step it is.
    pub kind: EventKind,
    /// The location's name, where one is touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The value read (load, also `wait` and a `cas` that fails) or written (store, issue, flush, rmw).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<i64>,
    /// For `rmw`: the value read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<i64>,
    /// The file that the instruction stands in, where the program has several and it is not the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where the instruction stands in the source: line from 1 …
    pub line: u32,
    /// … and column from 1.
    pub column: u32,
    /// For `flush`: the event that issued the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<usize>,
    /// Under RA, C++20 and RC11, for `load` and `rmw`: where the value was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rf: Option<EventRef>,
    /// Under RA, C++20 and RC11, for `store` and `rmw`: the predecessor in modification order at the moment of the step (later stores may come between).
    /// An `rmw` has the same in `rf`. A later store of the same block changes what the first one wrote, and has the same predecessor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<EventRef>,
    /// Under C++20 and RC11, for accesses and fences: the order that counts. (Of a load's order that is the acquiring part, of a store's the releasing
    /// one; a block is `acqrel` where it has stored.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderName>,
    /// Whether the event is inside an `atomic` block. Consecutive events of a thread from its beginning to its end are one node of happens-before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub atomic: bool,
    /// How values of the location are shown. Not written down.
    #[serde(skip)]
    pub addresses: Addresses,
}

impl Event {
    /// One of its values as people read it: `&a` where it is an address.
    pub fn shown(&self, value: i64) -> String {
        match self.addresses.0.as_ref().and_then(|all| all.get(&value)) {
            Some(name) => format!("&{name}"),
            None => palisade_lang::value_in_words(value),
        }
    }
}

/// For a location that holds addresses: the names of all locations by their addresses. It is no part of what an event is, so all are equal.
#[derive(Clone, Default)]
pub struct Addresses(pub Option<Arc<BTreeMap<i64, String>>>);

impl PartialEq for Addresses {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Addresses {}

impl std::fmt::Debug for Addresses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.0.is_some() {
            "addresses"
        } else {
            "values"
        };
        f.write_str(what)
    }
}

/// The order of an access or a fence, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum OrderName {
    /// A plain access.
    NonAtomic,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl OrderName {
    /// How it is written.
    pub fn name(self) -> &'static str {
        Order::from(self).name()
    }
}

impl From<Order> for OrderName {
    fn from(order: Order) -> Self {
        match order {
            Order::NonAtomic => OrderName::NonAtomic,
            Order::Relaxed => OrderName::Relaxed,
            Order::Acquire => OrderName::Acquire,
            Order::Release => OrderName::Release,
            Order::AcqRel => OrderName::AcqRel,
            Order::SeqCst => OrderName::SeqCst,
        }
    }
}

impl From<OrderName> for Order {
    fn from(name: OrderName) -> Self {
        match name {
            OrderName::NonAtomic => Order::NonAtomic,
            OrderName::Relaxed => Order::Relaxed,
            OrderName::Acquire => Order::Acquire,
            OrderName::Release => Order::Release,
            OrderName::AcqRel => Order::AcqRel,
            OrderName::SeqCst => Order::SeqCst,
        }
    }
}

/// The kinds of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// A load; also a `wait` that goes on and a `cas` that fails.
    Load,
    /// A store that reaches memory at once (SC, RA, or inside `atomic`).
    Store,
    /// A store that enters the buffer (TSO).
    Issue,
    /// A store that leaves the buffer (TSO).
    Flush,
    /// A read-modify-write that writes.
    Rmw,
    /// A fence.
    Fence,
    /// A step that touches no memory, where it matters to the story: a failed assertion, say, or the beginning and end of `atomic`.
    Local,
}

/// An event, or the initial value of the location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EventRef {
    /// By index.
    Event(usize),
    /// `"init"`.
    Initial(InitialName),
}

/// Spells `"init"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InitialName {
    /// `"init"`
    #[serde(rename = "init")]
    Init,
}

/// An edge of happens-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// By index of the event.
    pub from: usize,
    /// By index of the event.
    pub to: usize,
    /// Which relation.
    pub relation: RelationName,
}

/// The relations that make up happens-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RelationName {
    /// Program order.
    Po,
    /// Reads-from.
    Rf,
    /// Coherence (store, modification) order.
    Co,
    /// From-reads.
    Fr,
}

/// What makes a run a violation where there is no cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// What kind it is.
    pub kind: PatternKind,
    /// The events that matter, by index, in the order that the kind says.
    pub events: Vec<usize>,
    /// The same in words.
    pub message: String,
}

/// The kinds of patterns, and what [`Pattern::events`] holds for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatternKind {
    /// `[a, b]`: accesses of different threads to the same location, one of them a write, not both of them locked (read-modify-writes or
    /// inside a block). `b` is the last event. Under C++20 and RC11: accesses of the run's graph, one of them nonatomic, that happens-before does
    /// not order. Otherwise both were enabled in the state before `a`, or would have been if `a`'s thread were not
    /// inside a block; `b` has the values that it would have there, or those that it has when it happens after `a` (and the rest of
    /// `a`'s block). Where `b` is inside a block, `a` is a load.
    Race,
    /// `[store, load, other]`: a plain store, a later plain load or `wait` of the same thread of another location, with nothing but plain
    /// loads of that thread between them, and then a store of another thread to the loaded location; only events of the
    /// block that `other` is in stand between `load` and `other`, and the block comes to its end. Under `tso`: `store` is an issue; up to
    /// the first store that is pending at `load` every store is flushed at once, from there to `load` there are only loads and issues
    /// of the thread, then the block, then flushes.
    TriangularRace,
    /// `[e1, e, e2, u2, u1]`: the fragile run `π1·e1·π3·e·e2·u2·u1` of persistence. `e1` is the pivot's store (its issue), `e` its load of
    /// another location, `e2` the issue of another thread's store to that location and `u2` its flush, or both the same event where it is
    /// a read-modify-write or inside a block, and `u1` the flush of `e1`. What makes the run fragile is that no SC run has the same
    /// program orders with values and the same store order.
    Fragile,
    /// `[last]`: the last event, of kind `local`, is an assertion that fails or an error of the program.
    Error,
    /// In the state after the last event (and local steps) a `never` is true; under TSO all buffers are empty there. The events that
    /// matter to it, if any.
    Never,
    /// The events of one thread in the cycle of a fair run ([`Witness::loop_start`]) in which that thread is stuck: it has not ended, and either stays in one
    /// loop that has a way out, or does not move.
    Stuck,
}
