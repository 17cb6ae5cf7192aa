//! `robust` under C++20, and under RC11 where it holds even if `seqcst` accesses only acquire and release: SC with one suspicion at a time.
//!
//! A program is not robust exactly if some run under SC comes to a state in which
//!
//! * a thread is about to access x, one of its events is behind the last write of x by (po ∪ rf ∪ mo ∪ fr)⁺, and its access could be consistent with the model if it
//!   read, or stood right behind, an older write w of x; or
//! * a thread is about to access a location that a `nonatomic` access may be of, and an access that conflicts does not happen before it.
//!
//! States without a suspicion are those of SC. Any write of a place x may begin the suspicion that the write w before it is read, or followed, later: the write itself is
//! the first one behind w, so w is too old for whatever has it in its view. Views are those of the model's monitor, of which only one bit each matters then: whether
//! it has reached that write. Likewise any access of a location that a `nonatomic` access may be of begins the suspicion of a race with it; then a view says
//! whether that access happens before.
//!
//! Where every thread has the write, or the access, in its view, the suspicion is refuted, and is not followed any more.
//!
//! `safe` under these models is shown in the same way where the program is robust: then the states of SC must be safe as well.

use super::patterns::danger;
use super::places::{Access, Places, Seen};
use super::states::Taken;
use super::{Rules, states};
use palisade_lang::{Address, LocationId, Op, Order, Program, Transition};
use palisade_memory::c20::graph::event_order;
use palisade_memory::sc::State;
use palisade_memory::thread::{Outcome, Request};
use palisade_memory::{Machine, Model, Sc, Step, StepKind};

/// The rules of SC with suspicions.
pub struct Suspects<'p> {
    places: Places<'p>,
    /// For each location whether a `nonatomic` access may be of it.
    plain: Vec<bool>,
    /// `seqcst` accesses count as accesses that acquire and release: so it is for RC11, which then only has more graphs.
    weaker: bool,
    /// Whether the states of SC must be safe as well.
    safe: bool,
}

/// What is suspected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Suspicion {
    /// An access of the place reads w, or stands right behind it.
    Stale {
        x: usize,
        /// The value of w.
        value: Seen,
        /// A read-modify-write follows w: nothing else can be put behind it.
        followed: bool,
    },
    /// An access of the location races with one that was made.
    Race {
        location: usize,
        /// That one writes.
        writes: bool,
        /// That one is nonatomic.
        plain: bool,
    },
}

/// A view of each of the four kinds, a bit each: whether it has come as far as what is suspected.
type Views = u8;

/// What coherence forbids, and what `seqcst` fences before have learned.
const COHERENCE: Views = 1;
/// What `seqcst` fences before have learned.
const FENCES: Views = 2;
/// What the next `seqcst` fence has to learn.
const NEXT_FENCE: Views = 4;
/// What `seqcst` accesses have learned that come before by shb.
const ACCESSES: Views = 8;

/// What is known in a thread.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct OfThread {
    /// The last write of x is before one of its events.
    aware: bool,
    current: Views,
    /// With what an acquire fence would add.
    acquirable: Views,
    /// As it was at the last release fence.
    released: Views,
    /// What its own `seqcst` accesses have learned.
    own: bool,
}

/// What is known of a place.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct OfPlace {
    /// The last write of x is before some access of the place, …
    before_access: bool,
    /// … before its last write.
    before_write: bool,
    /// What comes with its last write to whatever acquires it.
    message: Views,
    /// What a `seqcst` event learns that comes behind all accesses, …
    behind_all: bool,
    /// … behind the last write.
    behind_write: bool,
}

/// A suspicion, and what is known.
#[derive(Clone, PartialEq, Eq)]
struct Suspected {
    suspicion: Suspicion,
    threads: Vec<OfThread>,
    places: Vec<OfPlace>,
}

/// An access as it is made.
#[derive(Clone, Copy)]
struct Made {
    location: LocationId,
    /// Its place, if it has one.
    x: Option<usize>,
    access: Access,
    order: Order,
}

/// What a step does, as far as it matters here.
#[derive(Clone, Copy)]
enum Event {
    Access(Made),
    Fence(Order),
    Nothing,
}

impl Suspected {
    fn new(suspicion: Suspicion, threads: usize, places: usize) -> Self {
        Suspected {
            suspicion,
            threads: vec![OfThread::default(); threads],
            places: vec![OfPlace::default(); places],
        }
    }

    /// Whether it is refuted, whatever happens.
    fn is_refuted(&self) -> bool {
        let seen = |thread: &OfThread| thread.current & COHERENCE != 0;
        self.threads.iter().all(seen)
    }

    fn apply(&mut self, tau: usize, event: Event) {
        match event {
            Event::Nothing => {}
            Event::Fence(order) => self.fence(tau, order),
            Event::Access(made) => {
                if let Some(x) = made.x {
                    self.learn(tau, x, made.access);
                    self.access(tau, x, made.access, made.order);
                }
            }
        }
    }

    /// What becomes known of the last write (Lahav and Margalit 2019, Figure 5).
    fn learn(&mut self, tau: usize, y: usize, access: Access) {
        let Suspicion::Stale { x, .. } = self.suspicion else {
            return;
        };
        let Suspected {
            threads, places, ..
        } = self;
        if access == Access::Read {
            places[y].before_access |= threads[tau].aware;
            threads[tau].aware |= places[y].before_write;
            return;
        }
        let known = if y == x {
            // From now on it is this one that is the last.
            threads.iter_mut().for_each(|thread| thread.aware = false);
            for place in places.iter_mut() {
                (place.before_access, place.before_write) = (false, false);
            }
            true
        } else {
            threads[tau].aware || places[y].before_access
        };
        threads[tau].aware = known;
        (places[y].before_access, places[y].before_write) = (known, known);
    }

    fn access(&mut self, tau: usize, y: usize, access: Access, order: Order) {
        let own = matches!(self.suspicion, Suspicion::Stale { x, .. } if x == y);
        let (thread, place) = (&mut self.threads[tau], &mut self.places[y]);
        let (reads, writes) = (access != Access::Write, access != Access::Read);
        let (atomic, seqcst) = (order != Order::NonAtomic, order == Order::SeqCst);
        let incoming = match writes {
            true => place.behind_all,
            false => place.behind_write,
        };
        // (Before what it acquires.)
        let learned = own || incoming || thread.own || thread.current & (ACCESSES | FENCES) != 0;
        if reads && atomic {
            thread.acquirable |= place.message;
            if order.acquires() {
                thread.current |= place.message;
            }
        }
        thread.current |= if own { COHERENCE } else { 0 };
        thread.current |= if incoming { NEXT_FENCE } else { 0 };
        thread.acquirable |= thread.current;
        if writes {
            let sent = match order {
                Order::NonAtomic => 0,
                order if order.releases() => thread.current | if thread.own { ACCESSES } else { 0 },
                _ => thread.released,
            };
            // A read-modify-write goes on with the release sequence.
            place.message = sent | if reads { place.message } else { 0 };
        }
        place.behind_all |= thread.current & FENCES != 0 || seqcst && learned;
        thread.own |= seqcst && learned;
        if writes {
            place.behind_write = place.behind_all;
        }
    }

    fn fence(&mut self, tau: usize, order: Order) {
        let thread = &mut self.threads[tau];
        if order.acquires() {
            thread.current |= thread.acquirable;
        }
        let stale = matches!(self.suspicion, Suspicion::Stale { .. });
        if order == Order::SeqCst
            && stale
            && (thread.own || thread.current & (COHERENCE | FENCES | NEXT_FENCE) != 0)
        {
            thread.current |= COHERENCE | FENCES;
        }
        thread.acquirable |= thread.current;
        if order.releases() {
            thread.released = thread.current | if thread.own { ACCESSES } else { 0 };
        }
    }

    /// Whether an access of this order by a thread may still come before what its suspicion is about.
    fn may_be_stale(&self, tau: usize, order: Order) -> bool {
        let thread = &self.threads[tau];
        let forbidden = thread.current & COHERENCE != 0
            || order == Order::SeqCst && (thread.own || thread.current & ACCESSES != 0);
        thread.aware && !forbidden
    }

    /// What is known, as numbers.
    fn put(&self, numbers: &mut Vec<i64>) {
        for thread in &self.threads {
            let views = [thread.current, thread.acquirable, thread.released];
            let views = views.iter().fold(0, |all, &v| all << 4 | i64::from(v));
            let flags = i64::from(thread.own) << 1 | i64::from(thread.aware);
            numbers.push(views << 2 | flags);
        }
        for place in &self.places {
            let flags = [
                place.behind_all,
                place.behind_write,
                place.before_access,
                place.before_write,
            ];
            let flags = flags.iter().fold(0, |all, &f| all << 1 | i64::from(f));
            numbers.push(i64::from(place.message) << 4 | flags);
        }
    }

    fn take(&mut self, taken: &mut Taken<'_>) -> Option<()> {
        let views = |bits: i64| (bits & 15) as Views;
        for thread in &mut self.threads {
            let bits = taken.next()?;
            *thread = OfThread {
                aware: bits & 1 != 0,
                own: bits & 2 != 0,
                released: views(bits >> 2),
                acquirable: views(bits >> 6),
                current: views(bits >> 10),
            };
        }
        for place in &mut self.places {
            let bits = taken.next()?;
            *place = OfPlace {
                before_write: bits & 1 != 0,
                before_access: bits & 2 != 0,
                behind_write: bits & 4 != 0,
                behind_all: bits & 8 != 0,
                message: views(bits >> 4),
            };
        }
        Some(())
    }
}

/// So many numbers say what is suspected.
const HEAD: usize = 5;

impl<'p> Suspects<'p> {
    pub fn new(machine: Sc<'p>, model: Model, safe: bool) -> Self {
        let program = machine.code().program;
        Suspects {
            plain: may_be_plain(program),
            places: Places::new(machine, 0),
            weaker: model == Model::Rc11,
            safe,
        }
    }

    fn machine(&self) -> &Sc<'p> {
        &self.places.machine
    }

    fn made(&self, transition: &Transition, location: LocationId, access: Access) -> Option<Made> {
        let program = self.machine().code().program;
        let writes = access != Access::Read;
        let order = event_order(program, transition, Some(location), writes)?;
        Some(Made {
            location,
            x: self.places.of(location),
            access,
            order: match order {
                Order::SeqCst if self.weaker => Order::AcqRel,
                order => order,
            },
        })
    }

    /// The one access that a way through a block is: in it, there are default orders only.
    fn of_block(&self, access: Option<(usize, Access)>) -> Event {
        access.map_or(Event::Nothing, |(x, access)| {
            Event::Access(Made {
                location: LocationId(self.places.location(x) as u32),
                x: Some(x),
                access,
                order: match access {
                    Access::Read => Order::Acquire,
                    _ => Order::AcqRel,
                },
            })
        })
    }

    /// Calls `next` with everything that a step under SC leads to, where no thread is inside a block: the thread, what it does, what is behind it (nothing where a block got
    /// stuck).
    fn steps(&self, state: &State, mut next: impl FnMut(usize, Event, Option<&State>)) {
        let code = self.machine().code();
        for (step, after) in self.machine().steps(state) {
            let tau = step.thread;
            let transition = &code.thread(tau).transitions[step.transition];
            let access = match step.kind {
                StepKind::Error(_) => continue,
                StepKind::AtomicBegin => {
                    for way in self.places.ways(after, tau) {
                        next(tau, self.of_block(way.access), way.end.as_ref());
                    }
                    continue;
                }
                StepKind::Load => Some(Access::Read),
                StepKind::Store => Some(Access::Write),
                StepKind::Rmw => Some(Access::Update),
                _ => None,
            };
            let made = access
                .zip(step.location)
                .and_then(|(access, location)| self.made(transition, location, access));
            let event = match (made, &transition.op) {
                (Some(made), _) => Event::Access(made),
                // (To SC, one that is not `seqcst` is a local step.)
                (None, Op::Fence(order)) => Event::Fence(*order),
                (None, _) => Event::Nothing,
            };
            next(tau, event, Some(&after));
        }
    }

    /// What is wrong with a state in which no thread is inside a block.
    /// What is dangerous in a state of SC, and inside the blocks that may begin there.
    fn danger(&self, state: &State) -> Option<String> {
        let machine = self.machine();
        let steps = machine.steps(state);
        let found = danger(machine, state, &steps);
        let begins = |(step, _): &&(Step, State)| matches!(step.kind, StepKind::AtomicBegin);
        let inside = |(step, begun): &(Step, State)| self.places.danger_inside(begun, step.thread);
        found.or_else(|| steps.iter().filter(begins).find_map(inside))
    }

    fn violation(&self, state: &State, suspected: Option<&Suspected>) -> Option<String> {
        let code = self.machine().code();
        let suspected = suspected?;
        match suspected.suspicion {
            Suspicion::Race {
                location,
                writes,
                plain,
            } => {
                let mut racing = false;
                self.steps(state, |tau, event, _| {
                    if let Event::Access(made) = event {
                        // What it reads may come with the first access: then they are in order.
                        let unordered = || {
                            let mut behind = suspected.clone();
                            behind.apply(tau, event);
                            behind.threads[tau].current & COHERENCE == 0
                        };
                        racing |= made.location.index() == location
                            && (writes || made.access != Access::Read)
                            && (plain || made.order == Order::NonAtomic)
                            && unordered();
                    }
                });
                let name = &code.program.locations[location].name;
                racing.then(|| format!("a race for `{name}`"))
            }
            Suspicion::Stale { x, value, followed } => {
                let value = self.places.value(x, value);
                for (tau, local) in state.locals.iter().enumerate() {
                    let stale = |transition: &Transition, location: LocationId, access| {
                        self.made(transition, location, access)
                            .is_some_and(|made| suspected.may_be_stale(tau, made.order))
                            && (access == Access::Read || !followed)
                    };
                    let is_stale = code.next(tau, local).any(|(_, transition)| {
                        let Ok(request) = code.request(tau, local, transition) else {
                            return false;
                        };
                        match request {
                            Request::Load {
                                location,
                                condition,
                                ..
                            } => {
                                self.places.of(location) == Some(x)
                                    && condition.is_none_or(|(relation, right)| {
                                        relation.holds(value, right)
                                    })
                                    && stale(transition, location, Access::Read)
                            }
                            Request::Store { location, .. } => {
                                self.places.of(location) == Some(x)
                                    && stale(transition, location, Access::Write)
                            }
                            Request::Rmw {
                                location, action, ..
                            } => {
                                self.places.of(location) == Some(x)
                                    && match code.outcome(action, value) {
                                        Outcome::Loads => stale(transition, location, Access::Read),
                                        Outcome::Writes(_) => {
                                            stale(transition, location, Access::Update)
                                        }
                                        Outcome::Waits | Outcome::Fails(_) => false,
                                    }
                            }
                            Request::Local(_)
                            | Request::Blocked
                            | Request::Fence
                            | Request::AtomicBegin
                            | Request::AtomicEnd => false,
                        }
                    });
                    let in_block = || {
                        self.begun(state, tau).into_iter().any(|mut begun| {
                            begun.memory[self.places.location(x)] = value;
                            self.places.ways(begun, tau).iter().any(|way| {
                                way.access.is_some_and(|(place, access)| {
                                    let event = self.of_block(way.access);
                                    let Event::Access(made) = event else {
                                        return false;
                                    };
                                    place == x
                                        && suspected.may_be_stale(tau, made.order)
                                        && (access == Access::Read || !followed)
                                })
                            })
                        })
                    };
                    if is_stale || in_block() {
                        let name = self.places.name(x);
                        return Some(format!("an access of `{name}` could be stale"));
                    }
                }
                None
            }
        }
    }

    /// The states behind the beginnings of blocks that a thread stands before.
    fn begun(&self, state: &State, tau: usize) -> Vec<State> {
        let code = self.machine().code();
        let local = &state.locals[tau];
        let mut begun = Vec::new();
        for (_, transition) in code.next(tau, local) {
            if let Ok(Request::AtomicBegin) = code.request(tau, local, transition) {
                let mut state = state.clone();
                state.locals[tau] = code.after(tau, local, transition, None);
                begun.push(state);
            }
        }
        begun
    }

    /// The suspicions that an access begins, where it is made in this state.
    fn begins(&self, state: &State, tau: usize, made: Made) -> Vec<Suspected> {
        let new = |suspicion| {
            let mut suspected = Suspected::new(suspicion, state.locals.len(), self.places.count());
            suspected.apply(tau, Event::Access(made));
            suspected
        };
        let mut begun = Vec::new();
        let writes = made.access != Access::Read;
        if let Some(x) = made.x.filter(|_| writes) {
            let value = self.places.seen(x, state.memory[made.location.index()]);
            let followed = made.access == Access::Update;
            begun.push(new(Suspicion::Stale { x, value, followed }));
        }
        if self.plain[made.location.index()] {
            let race = Suspicion::Race {
                location: made.location.index(),
                writes,
                plain: made.order == Order::NonAtomic,
            };
            let mut suspected = Suspected::new(race, state.locals.len(), self.places.count());
            let thread = &mut suspected.threads[tau];
            (thread.current, thread.acquirable) = (COHERENCE, COHERENCE);
            suspected.apply(tau, Event::Access(made));
            begun.push(suspected);
        }
        begun
    }

    fn put(&self, state: &State, suspected: Option<&Suspected>, numbers: &mut Vec<i64>) {
        numbers.clear();
        states::put(state, numbers);
        let head: [i64; HEAD] = match suspected.map(|s| s.suspicion) {
            None => [0; HEAD],
            Some(Suspicion::Stale { x, value, followed }) => [
                1,
                x as i64,
                i64::from(followed),
                i64::from(value.is_some()),
                value.unwrap_or(0),
            ],
            Some(Suspicion::Race {
                location,
                writes,
                plain,
            }) => [2, location as i64, i64::from(writes), i64::from(plain), 0],
        };
        numbers.extend(head);
        if let Some(suspected) = suspected {
            suspected.put(numbers);
        }
    }

    fn take(&self, numbers: &[i64]) -> Option<(State, Option<Suspected>)> {
        let code = self.machine().code();
        let (state, rest) = states::take(code, numbers, None)?;
        if code.holder(&state.locals).is_some() {
            return None;
        }
        let mut taken = Taken(rest);
        let head = taken.several(HEAD)?;
        let at = |most: usize| usize::try_from(head[1]).ok().filter(|&at| at < most);
        let suspicion = match head[0] {
            0 => None,
            1 => Some(Suspicion::Stale {
                x: at(self.places.count())?,
                followed: head[2] != 0,
                value: (head[3] != 0).then_some(head[4]),
            }),
            2 => Some(Suspicion::Race {
                location: at(self.plain.len())?,
                writes: head[2] != 0,
                plain: head[3] != 0,
            }),
            _ => return None,
        };
        let suspected = match suspicion {
            None => None,
            Some(suspicion) => {
                let (threads, places) = (state.locals.len(), self.places.count());
                let mut suspected = Suspected::new(suspicion, threads, places);
                suspected.take(&mut taken)?;
                Some(suspected)
            }
        };
        // Whatever else the numbers could have been, they are what would be written.
        let mut again = Vec::new();
        self.put(&state, suspected.as_ref(), &mut again);
        (again == numbers).then_some((state, suspected))
    }
}

/// For each location whether it is `nonatomic`, or a plain access may be of it, whatever its index or pointer is.
fn may_be_plain(program: &Program) -> Vec<bool> {
    let mut plain: Vec<bool> = program.locations.iter().map(|l| l.nonatomic).collect();
    for transition in program.threads.iter().flat_map(|t| &t.transitions) {
        let (address, order) = match &transition.op {
            Op::Load { address, order, .. }
            | Op::Store { address, order, .. }
            | Op::Wait { address, order, .. }
            | Op::Rmw { address, order, .. } => (address, *order),
            _ => continue,
        };
        if order != Order::NonAtomic {
            continue;
        }
        for (location, plain) in plain.iter_mut().enumerate() {
            *plain |= match address {
                Address::Direct(direct) => direct.index() == location,
                Address::Element { first, length, .. } => {
                    (first.index()..first.index() + *length as usize).contains(&location)
                }
                Address::Pointer(_) => true,
            };
        }
    }
    plain
}

impl Rules for Suspects<'_> {
    fn initial(&self) -> Vec<i64> {
        let mut numbers = Vec::new();
        self.put(&self.machine().initial(), None, &mut numbers);
        numbers
    }

    fn visit(&self, numbers: &[i64], next: &mut dyn FnMut(&[i64])) -> Result<(), String> {
        let Some((state, suspected)) = self.take(numbers) else {
            return Err("it is none of this program".to_owned());
        };
        if let Some(violation) = self.violation(&state, suspected.as_ref()) {
            return Err(violation);
        }
        // Every state of SC is there without a suspicion, too.
        if self.safe
            && suspected.is_none()
            && let Some(danger) = self.danger(&state)
        {
            return Err(danger);
        }
        let mut numbers = Vec::new();
        self.steps(&state, |tau, event, after| {
            let Some(after) = after else {
                return;
            };
            let mut arrive = |suspected: Option<&Suspected>| {
                if suspected.is_none_or(|s| !s.is_refuted()) {
                    self.put(after, suspected, &mut numbers);
                    next(&numbers);
                }
            };
            match (&suspected, event) {
                (Some(suspected), event) => {
                    let mut suspected = suspected.clone();
                    suspected.apply(tau, event);
                    arrive(Some(&suspected));
                }
                (None, event) => {
                    arrive(None);
                    if let Event::Access(made) = event {
                        for begun in self.begins(&state, tau, made) {
                            arrive(Some(&begun));
                        }
                    }
                }
            }
        });
        match self.places.gave_up() {
            true => Err("there is too much to look at behind it".to_owned()),
            false => Ok(()),
        }
    }
}
