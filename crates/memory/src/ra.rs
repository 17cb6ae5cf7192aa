//! Release/acquire as a machine of timestamped messages and views (Lahav and Margalit 2019, section 3, Fig. 3; `nonatomic` locations: section 6).
//!
//! Only the order of a location's timestamps and their adjacency matter, so timestamps are kept dense: a message's timestamp is its place in
//! the list of its location's messages, and where a new message goes between two others, the later ones (and the views of them) move up by
//! one. A read-modify-write's message has the timestamp just after the one that it read: no message ever goes between those two.
//!
//! A `fence` is a read-modify-write of one extra location. An `atomic` block is one read-modify-write (or, where it writes nothing, one
//! load): its first access chooses the message, its first store puts the new one just behind that, later stores change the new one.

use crate::machine::{At, Choosing, Machine, Step, StepKind};
use crate::ra_accepts::{Refused, refusal};
use crate::thread::{Action, Code, Local, Outcome};
use palisade_lang::{LocationId, Program, RegisterId, Relation, Value};

/// For each location, the timestamp of the newest message that is known; the initial one for locations that are left out at the end.
pub type View = Vec<usize>;

/// The release/acquire machine with timestamps and views.
#[derive(Clone, Debug)]
pub struct Ra<'p> {
    code: Code<'p>,
}

/// A state of [`Ra`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The threads.
    pub locals: Vec<Local>,
    /// The messages of each location by timestamp; the last list is the fences' own location.
    pub messages: Vec<Vec<Message>>,
    /// What each thread knows.
    pub views: Vec<View>,
    /// What the `atomic` block that some thread is in has done so far.
    pub block: Option<Block>,
    /// How many messages have been made, the initial ones not counted.
    pub made: u32,
    /// Whether a race on a `nonatomic` location has happened (⊥): nothing follows.
    pub raced: bool,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// What was written.
    pub value: Value,
    /// What the writer knew.
    pub view: View,
    /// Whether a read-modify-write wrote it: its predecessor is the message that was read.
    pub rmw: bool,
    /// Its number in the order in which messages were made, from 1; 0 for initial messages.
    pub id: u32,
}

/// The access of an `atomic` block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// Where: a block accesses one location.
    pub location: LocationId,
    /// The timestamp of the message whose value the block sees: the one that it read, or its own.
    pub time: usize,
    /// Whether it is its own.
    pub written: bool,
}

impl Block {
    fn has_written(&self, location: LocationId) -> bool {
        self.written && self.location == location
    }
}

fn join(view: &mut View, other: &View) {
    for (mine, theirs) in view.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

impl State {
    /// Whether a message can be put directly after the one with this timestamp.
    fn has_gap(&self, location: usize, time: usize) -> bool {
        self.messages[location]
            .get(time + 1)
            .is_none_or(|next| !next.rmw)
    }

    /// The thread writes a message with the timestamp `time + 1`.
    fn write(
        &mut self,
        thread: usize,
        location: usize,
        time: usize,
        value: Value,
        rmw: bool,
    ) -> u32 {
        let new = time + 1;
        let stored = self.messages.iter_mut().flatten().map(|m| &mut m.view);
        for view in self.views.iter_mut().chain(stored) {
            if let Some(known) = view.get_mut(location).filter(|known| **known >= new) {
                *known += 1;
            }
        }
        self.views[thread][location] = new;
        self.made += 1;
        let message = Message {
            value,
            view: self.views[thread].clone(),
            rmw,
            id: self.made,
        };
        self.messages[location].insert(new, message);
        self.made
    }

    /// The thread reads the message with this timestamp.
    fn read(&mut self, thread: usize, location: usize, time: usize) {
        let view = self.messages[location][time].view.clone();
        join(&mut self.views[thread], &view);
    }
}

impl<'p> Ra<'p> {
    /// The machine for a program, unless the program uses what RA does not know.
    pub fn new(program: &'p Program) -> Result<Self, Refused> {
        match refusal(program) {
            Some(refused) => Err(refused),
            None => Ok(Ra {
                code: Code::new(program),
            }),
        }
    }

    /// Of each location of the program the value that is last in modification order.
    pub fn newest(state: &State) -> Vec<Value> {
        let of_program = &state.messages[..state.messages.len() - 1];
        let last = |messages: &Vec<Message>| messages.last().map_or(0, |m| m.value);
        of_program.iter().map(last).collect()
    }

    fn raced(
        &self,
        at: &At<'_, Self>,
        location: LocationId,
        written: Option<Value>,
    ) -> (Step, State) {
        let mut next = at.state.clone();
        next.raced = true;
        (
            at.step(StepKind::Race).access(location, None, written),
            next,
        )
    }

    /// Whether the thread knows the newest message of a `nonatomic` location.
    fn knows_newest(&self, state: &State, thread: usize, location: LocationId) -> bool {
        state.views[thread][location.index()] + 1 == state.messages[location.index()].len()
    }

    /// The timestamps that the thread may read (or overwrite).
    fn choices(&self, at: &At<'_, Self>, location: LocationId) -> Vec<usize> {
        match &at.state.block {
            Some(block) if at.atomic && block.location == location => vec![block.time],
            _ => {
                let first = at.state.views[at.thread][location.index()];
                (first..at.state.messages[location.index()].len()).collect()
            }
        }
    }

    /// Writes behind the message with this timestamp; in a block that has written, changes what it wrote.
    #[allow(clippy::too_many_arguments)]
    fn write(
        &self,
        mut next: State,
        at: &At<'_, Self>,
        mut step: Step,
        location: LocationId,
        time: usize,
        after_id: u32,
        value: Value,
    ) -> Option<(Step, State)> {
        step.message = Some(after_id);
        let place = location.index();
        let block = next.block.as_ref().filter(|_| at.atomic);
        if block.is_some_and(|block| block.has_written(location)) {
            next.messages[place][time].value = value;
            step.message = Some(next.messages[place][time - 1].id);
            step.made = Some(next.messages[place][time].id);
            return Some((step, next));
        }
        if !next.has_gap(place, time) {
            return None;
        }
        let is_rmw = at.atomic || step.kind == StepKind::Rmw;
        step.made = Some(next.write(at.thread, place, time, value, is_rmw));
        if at.atomic {
            next.block = Some(Block {
                location,
                time: time + 1,
                written: true,
            });
        }
        Some((step, next))
    }
}

impl Machine for Ra<'_> {
    type State = State;

    fn code(&self) -> &Code<'_> {
        &self.code
    }

    fn initial(&self) -> State {
        let mut values = self.code.initial_memory();
        values.push(0);
        let nothing = vec![0; values.len()];
        State {
            locals: self.code.initial_locals(),
            messages: values
                .iter()
                .map(|&value| {
                    vec![Message {
                        value,
                        // As many zeros as there are locations, for each of them, are too many in a large program.
                        view: View::new(),
                        rmw: false,
                        id: 0,
                    }]
                })
                .collect(),
            views: vec![nothing; self.code.instances.len()],
            block: None,
            made: 0,
            raced: false,
        }
    }

    fn seen_by_block(&self, state: &State) -> Option<(LocationId, Value)> {
        let block = state.block.as_ref()?;
        let place = block.location.index();
        Some((block.location, state.messages[place][block.time].value))
    }

    fn may_end_dead(&self, state: &State) -> bool {
        // No other thread moves, so where there is room for its store now, there will be.
        let safe = |b: &Block| b.written || state.has_gap(b.location.index(), b.time);
        !state.block.as_ref().is_some_and(safe)
    }

    fn is_dead_end(&self, state: &State) -> bool {
        let (Some(block), Some(thread)) = (&state.block, self.code.holder(&state.locals)) else {
            return false;
        };
        let place = block.location.index();
        if block.written || state.has_gap(place, block.time) {
            return false;
        }
        let local = &state.locals[thread];
        let value = state.messages[place][block.time].value;
        self.code.may_write(thread, local, value)
    }

    fn bytes_of_memory(&self, state: &State) -> usize {
        let messages = state.messages.iter().flatten();
        let views = messages.map(|m| &m.view).chain(&state.views);
        let of_views: usize = views.map(|v| size_of_val(v) + size_of_val(&v[..])).sum();
        let lists = state.messages.iter();
        let of_lists: usize = lists.map(|l| size_of_val(l) + size_of_val(&l[..])).sum();
        of_lists + of_views
    }

    fn locals<'s>(&self, state: &'s State) -> &'s [Local] {
        &state.locals
    }

    fn locals_mut<'s>(&self, state: &'s mut State) -> &'s mut [Local] {
        &mut state.locals
    }

    fn unhindered_steps_of(&self, state: &State, thread: usize) -> Vec<(Step, State)> {
        self.chosen_steps_of(state, thread)
    }
}

impl Choosing for Ra<'_> {
    fn has_raced(&self, state: &State) -> bool {
        state.raced
    }

    fn load(
        &self,
        at: &At<'_, Self>,
        location: LocationId,
        register: Option<RegisterId>,
        condition: Option<(Relation, Value)>,
    ) -> Vec<(Step, State)> {
        let nonatomic = self.code.program.location(location).nonatomic;
        if nonatomic && !self.knows_newest(at.state, at.thread, location) {
            return vec![self.raced(at, location, None)];
        }
        let mut steps = Vec::new();
        for time in self.choices(at, location) {
            let Message { value, id, .. } = at.state.messages[location.index()][time];
            if condition.is_some_and(|(relation, right)| !relation.holds(value, right)) {
                continue;
            }
            let mut next = at.after(register.map(|r| (r, value)));
            if !nonatomic {
                next.read(at.thread, location.index(), time);
            }
            if at.atomic && next.block.is_none() {
                next.block = Some(Block {
                    location,
                    time,
                    written: false,
                });
            }
            let mut step = at.step(StepKind::Load).access(location, Some(value), None);
            step.message = Some(id);
            steps.push((step, next));
        }
        steps
    }

    fn store(&self, at: &At<'_, Self>, location: LocationId, value: Value) -> Vec<(Step, State)> {
        let nonatomic = self.code.program.location(location).nonatomic;
        if nonatomic && !self.knows_newest(at.state, at.thread, location) {
            return vec![self.raced(at, location, Some(value))];
        }
        let mut steps = Vec::new();
        for time in self.choices(at, location) {
            let after_id = at.state.messages[location.index()][time].id;
            let next = at.after(None);
            let step = at.step(StepKind::Store).access(location, None, Some(value));
            steps.extend(self.write(next, at, step, location, time, after_id, value));
        }
        steps
    }

    fn rmw(
        &self,
        at: &At<'_, Self>,
        location: LocationId,
        register: Option<RegisterId>,
        action: Action,
    ) -> Vec<(Step, State)> {
        let mut steps = Vec::new();
        for time in self.choices(at, location) {
            let Message { value: old, id, .. } = at.state.messages[location.index()][time];
            let mut next = at.after(register.map(|r| (r, old)));
            next.read(at.thread, location.index(), time);
            match self.code.outcome(action, old) {
                Outcome::Waits => {}
                Outcome::Fails(error) => steps.push(at.stopped(error)),
                Outcome::Loads => {
                    if at.atomic && next.block.is_none() {
                        next.block = Some(Block {
                            location,
                            time,
                            written: false,
                        });
                    }
                    let mut step = at.step(StepKind::Load).access(location, Some(old), None);
                    step.message = Some(id);
                    steps.push((step, next));
                }
                Outcome::Writes(new) => {
                    let step = at
                        .step(StepKind::Rmw)
                        .access(location, Some(old), Some(new));
                    steps.extend(self.write(next, at, step, location, time, id, new));
                }
            }
        }
        steps
    }

    fn fence(&self, at: &At<'_, Self>) -> Option<(Step, State)> {
        let location = self.code.program.locations.len();
        let time = at.state.messages[location].len() - 1;
        let mut next = at.after(None);
        next.read(at.thread, location, time);
        let mut step = at.step(StepKind::Fence);
        step.message = Some(next.messages[location][time].id);
        step.made = Some(next.write(at.thread, location, time, 0, true));
        Some((step, next))
    }

    fn leave_block(&self, state: &mut State) {
        state.block = None;
    }
}
