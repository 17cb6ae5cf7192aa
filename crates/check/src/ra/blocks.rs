//! `atomic` blocks that are read-modify-writes of one location (`palisade_memory::ra_accepts` has checked that): each is taken as one
//! step. All that a block does follows from the value that its first access reads.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use palisade_lang::{Domain, LocationId, Order, Value};
use palisade_threads::{ActionKind, Effect, LocalId, View};

use crate::sc::Access;

/// A block: the action of a local state that enters it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// The thread's code.
    pub code: usize,
    /// The local state before the block.
    pub local: LocalId,
    /// The action.
    pub action: usize,
}

/// One way through a block.
#[derive(Clone, Debug)]
pub struct Way {
    /// Whether it accesses memory at all.
    pub reads: bool,
    /// What it leaves in memory, if it writes.
    pub written: Option<Value>,
    /// Where the thread is then. It is inside the block only if it got stuck there, or stopped with an error.
    pub local: LocalId,
    /// An error of the program ended it.
    pub error: bool,
    /// The steps, from the entry to the exit: instruction, what it was, what it did to memory.
    pub steps: Vec<(u32, ActionKind, Access)>,
}

impl Way {
    /// The order of the access that this way is: inside a block there are default orders only.
    pub fn order(&self) -> Order {
        match self.written {
            Some(_) => Order::AcqRel,
            None => Order::Acquire,
        }
    }
}

/// The blocks that were entered so far.
#[derive(Debug, Default)]
pub struct Blocks {
    ways: FxHashMap<(Block, Value), Arc<Vec<Way>>>,
    locations: FxHashMap<Block, Option<LocationId>>,
}

/// A block with more local states than this inside (it loops over values) is cut off; its way then counts as stuck.
const MOST_STATES: usize = 1 << 16;

impl Blocks {
    /// The location that the block accesses; `None` if it accesses none.
    pub fn location(
        &mut self,
        view: &mut View<'_>,
        code: usize,
        local: LocalId,
        action: usize,
    ) -> Option<LocationId> {
        let block = Block {
            code,
            local,
            action,
        };
        if let Some(known) = self.locations.get(&block) {
            return *known;
        }
        // The first access on any way: all of them have the same address.
        let mut found = None;
        let mut seen = Vec::new();
        let mut work = view.next(code, local, action).to_vec();
        while let Some(local) = work.pop() {
            if found.is_some() || seen.contains(&local) || !view.is_atomic(code, local) {
                continue;
            }
            seen.push(local);
            for action in 0..view.actions(code, local) {
                let kind = view.action(code, local, action).kind;
                found = found.or(kind.location());
                if kind.location().is_none() {
                    work.extend_from_slice(view.next(code, local, action));
                }
            }
        }
        self.locations.insert(block, found);
        found
    }

    /// The ways through a block that finds `value` in its location.
    pub fn ways(
        &mut self,
        view: &mut View<'_>,
        domain: Domain,
        block: Block,
        value: Value,
    ) -> Arc<Vec<Way>> {
        if let Some(known) = self.ways.get(&(block, value)) {
            return known.clone();
        }
        let ways = Arc::new(find_ways(view, domain, block, value));
        self.ways.insert((block, value), ways.clone());
        ways
    }
}

fn find_ways(view: &mut View<'_>, domain: Domain, block: Block, value: Value) -> Vec<Way> {
    let code = block.code;
    let nothing = Access {
        read: None,
        written: None,
    };
    let entry = view.action(code, block.local, block.action);
    let mut ways: Vec<Way> = Vec::new();
    let mut seen: Vec<(LocalId, Option<Value>, bool)> = Vec::new();
    let mut work: Vec<Way> = view
        .next(code, block.local, block.action)
        .iter()
        .map(|&local| Way {
            reads: false,
            written: None,
            local,
            error: false,
            steps: vec![(entry.transition, entry.kind, nothing)],
        })
        .collect();
    while let Some(way) = work.pop() {
        let state = (way.local, way.written, way.reads);
        if seen.contains(&state) || seen.len() > MOST_STATES {
            continue;
        }
        seen.push(state);
        if !view.is_atomic(code, way.local) {
            ways.push(way);
            continue;
        }
        let mut stuck = true;
        for action in 0..view.actions(code, way.local) {
            let taken = view.action(code, way.local, action);
            let current = way.written.unwrap_or(value);
            let mut access = nothing;
            let mut next = way.clone();
            match taken.kind {
                ActionKind::Load { .. } => access.read = Some(current),
                ActionKind::Wait {
                    relation, value, ..
                } => {
                    if !relation.holds(current, value) {
                        continue;
                    }
                    access.read = Some(current);
                }
                ActionKind::Store {
                    location, value, ..
                } => access.written = Some((location, value)),
                ActionKind::Rmw {
                    location, update, ..
                } => {
                    access.read = Some(current);
                    match update.effect(domain, current) {
                        Ok(Effect::Blocks) => continue,
                        Ok(Effect::Fails) => {}
                        Ok(Effect::Writes(value)) => access.written = Some((location, value)),
                        Err(_) => {
                            next.error = true;
                            stuck = false;
                            ways.push(next);
                            continue;
                        }
                    }
                }
                ActionKind::Error(_) => next.error = true,
                ActionKind::Local
                | ActionKind::Fence(_)
                | ActionKind::AtomicBegin
                | ActionKind::AtomicEnd => {}
            }
            stuck = false;
            next.reads |= access.read.is_some() || access.written.is_some();
            next.written = access.written.map(|(_, value)| value).or(next.written);
            next.steps.push((taken.transition, taken.kind, access));
            let read = access.read.unwrap_or(0);
            for &local in view.resume(code, way.local, action, read) {
                work.push(Way {
                    local,
                    ..next.clone()
                });
            }
        }
        if stuck {
            ways.push(way);
        }
    }
    ways
}
