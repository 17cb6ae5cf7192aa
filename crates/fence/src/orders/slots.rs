//! What may be changed: the accesses and fences of a program with the orders that each may have, and places for new fences.

use palisade_lang::{
    Op, Order, OrderChange, OrderSite, Ordered, PlaceId, PointId, Program, Span, Thread, Transition,
};
use rustc_hash::FxHashMap;

use super::Freedom;
use crate::execution::Strength;
use crate::prices::OrderCosts;

/// What has an order that is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// Something that stands in the text.
    Site(OrderSite),
    /// A fence that may be put there.
    Place(PlaceId),
}

/// An order that a slot may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub strength: Strength,
    pub cost: u64,
}

/// A slot with the orders that it may have.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub slot: Slot,
    /// As the text has it.
    pub written: Strength,
    /// The weakest first; what is written is among them.
    pub levels: Vec<Level>,
}

impl Choice {
    pub fn strengths(&self) -> Vec<Strength> {
        self.levels.iter().map(|l| l.strength).collect()
    }

    pub fn cost(&self, strength: Strength) -> u64 {
        let level = self.levels.iter().find(|l| l.strength == strength);
        level.map_or(0, |level| level.cost)
    }

    /// The next weaker orders.
    pub fn weaker(&self, than: Strength) -> Vec<Strength> {
        let below: Vec<Strength> = self
            .strengths()
            .into_iter()
            .filter(|s| than.contains(*s) && *s != than)
            .collect();
        let is_next = |s: &Strength| {
            let between = |other: &Strength| other != s && other.contains(*s);
            !below.iter().any(between)
        };
        below.iter().copied().filter(is_next).collect()
    }
}

/// Everything that may be changed in a program.
#[derive(Clone, Debug)]
pub struct Choices {
    pub(crate) program: Program,
    pub(crate) all: Vec<Choice>,
    sites: FxHashMap<(Span, Ordered), usize>,
    places: FxHashMap<PlaceId, usize>,
}

impl Choices {
    /// The choices that `freedom` leaves for a program, with what each costs.
    pub fn new(program: &Program, freedom: &Freedom, costs: &OrderCosts) -> Choices {
        let mut choices = Choices {
            program: program.clone(),
            all: Vec::new(),
            sites: FxHashMap::default(),
            places: FxHashMap::default(),
        };
        for site in program.order_sites() {
            let line = program.source.line_column(site.span.start).line;
            let written = mask(site.what, Strength::of(site.order));
            let slot = Slot::Site(site);
            let all = levels(site.what);
            // Where one other order can be written, all can: they differ in a word. An exchange is another thing.
            let can = |exchange: bool| {
                let mut others = all
                    .iter()
                    .filter(|s| **s != written && s.contains(Strength::EXCHANGE) == exchange);
                let other = others.next_back();
                other.is_some_and(|s| program.order_can_be_written(&change(slot, written, *s)))
            };
            let is_free = !freedom.keep.contains(&line);
            let can_change = is_free && can(false);
            let can_exchange = is_free && freedom.exchanges && can(true);
            let can_go = is_free
                && site.what == Ordered::Fence
                && program.order_can_be_written(&change(slot, written, Strength::NONE));
            let allowed = |strength: Strength| {
                let is_written = strength == written;
                let may_be = (freedom.weaken && written.contains(strength))
                    || (freedom.strengthen && strength.contains(written))
                    || (freedom.weaken && freedom.strengthen);
                let can_be_written = match strength {
                    s if s.contains(Strength::EXCHANGE) => can_exchange,
                    Strength::NONE if site.what == Ordered::Fence => can_go,
                    _ => can_change,
                };
                is_written || may_be && can_be_written
            };
            let levels = all.iter().copied().filter(|s| allowed(*s));
            choices.add(slot, written, levels.collect(), costs);
        }
        if freedom.fences && freedom.strengthen {
            for place in useful_places(program, costs) {
                let span = program.places[place.index()].span;
                let line = program.source.line_column(span.start).line;
                let slot = Slot::Place(place);
                let strongest = change(slot, Strength::NONE, Strength::FULL);
                let can_be =
                    !freedom.keep.contains(&line) && program.order_can_be_written(&strongest);
                let allowed = |strength: &Strength| *strength == Strength::NONE || can_be;
                let levels = levels(Ordered::Fence).into_iter().filter(allowed);
                choices.add(slot, Strength::NONE, levels.collect(), costs);
            }
        }
        choices
    }

    fn add(&mut self, slot: Slot, written: Strength, levels: Vec<Strength>, costs: &OrderCosts) {
        let priced = |strength: Strength| Level {
            strength,
            cost: costs.of(&self.program, slot, strength),
        };
        let levels: Vec<Level> = levels.into_iter().map(priced).collect();
        // What cannot be changed costs what it costs, and is a choice all the same: with one level.
        let index = self.all.len();
        match slot {
            Slot::Site(site) => {
                self.sites.insert((site.span, site.what), index);
            }
            Slot::Place(place) if levels.len() > 1 => {
                self.places.insert(place, index);
            }
            Slot::Place(_) => return,
        }
        self.all.push(Choice {
            slot,
            written,
            levels,
        });
    }

    /// Whether some store may become an exchange.
    pub(crate) fn may_exchange(&self) -> bool {
        let mut levels = self.all.iter().flat_map(|choice| &choice.levels);
        levels.any(|level| level.strength.contains(Strength::EXCHANGE))
    }

    /// What the text has.
    pub(crate) fn written(&self) -> Vec<Strength> {
        self.all.iter().map(|c| c.written).collect()
    }

    /// Everything as strong as it may be.
    pub(crate) fn strongest(&self) -> Vec<Strength> {
        let strongest = |choice: &Choice| {
            let all = choice.strengths().into_iter();
            all.fold(Strength::NONE, Strength::with)
        };
        // The union of all levels is a level: `seqcst`, or what is written where that cannot be.
        self.all
            .iter()
            .map(|choice| {
                let union = strongest(choice);
                match choice.strengths().contains(&union) {
                    true => union,
                    false => choice.written,
                }
            })
            .collect()
    }

    pub(crate) fn cost(&self, chosen: &[Strength]) -> u64 {
        let all = self.all.iter().zip(chosen);
        all.map(|(choice, strength)| choice.cost(*strength)).sum()
    }

    /// What differs from the text.
    pub(crate) fn changes(&self, chosen: &[Strength]) -> Vec<OrderChange> {
        let all = self.all.iter().zip(chosen);
        all.filter(|(choice, strength)| choice.written != **strength)
            .map(|(choice, strength)| change(choice.slot, choice.written, *strength))
            .collect()
    }

    /// The program with these orders.
    pub(crate) fn program(&self, chosen: &[Strength]) -> Program {
        self.program.with_orders(&self.changes(chosen))
    }

    pub(crate) fn at_place(&self, place: PlaceId) -> Option<usize> {
        self.places.get(&place).copied()
    }

    /// The choice of an instruction, and whether it is about a store.
    pub(crate) fn of_instruction(
        &self,
        program: &Program,
        thread: &Thread,
        transition: &Transition,
        writes: bool,
    ) -> Option<(usize, bool)> {
        let (span, what) = program.site_of(thread, transition, writes)?;
        let of = |what: Ordered| self.sites.get(&(span, what)).copied();
        let itself = of(what).map(|index| (index, false));
        // A store that has become an exchange.
        itself.or_else(|| match what {
            Ordered::Rmw => of(Ordered::Store).map(|index| (index, true)),
            _ => None,
        })
    }
}

/// What an order can say of a thing of this kind.
fn mask(what: Ordered, strength: Strength) -> Strength {
    let relevant = match what {
        Ordered::Load | Ordered::Failure => Strength::ACQUIRE.with(Strength::SEQCST),
        Ordered::Store => Strength::RELEASE.with(Strength::SEQCST),
        Ordered::Rmw | Ordered::Fence => Strength::FULL,
    };
    Strength(strength.0 & relevant.0)
}

fn levels(what: Ordered) -> Vec<Strength> {
    let all = [
        Strength::NONE,
        Strength::ACQUIRE,
        Strength::RELEASE,
        Strength::ACQREL,
        Strength::FULL,
    ];
    let mut levels: Vec<Strength> = all.into_iter().map(|s| mask(what, s)).collect();
    levels.sort();
    levels.dedup();
    if what == Ordered::Store {
        levels.extend(all.map(|s| s.with(Strength::EXCHANGE)));
    }
    levels
}

/// What makes a slot with one order one with another.
pub(crate) fn change(slot: Slot, written: Strength, strength: Strength) -> OrderChange {
    match slot {
        Slot::Place(place) => OrderChange::Fence(place, strength.order(true, true)),
        Slot::Site(site) => {
            let order = order_of(site.what, strength);
            match site.what {
                Ordered::Fence if strength == Strength::NONE && written != strength => {
                    OrderChange::NoFence(site)
                }
                Ordered::Store if strength.contains(Strength::EXCHANGE) => {
                    OrderChange::Exchange(site, order)
                }
                _ => OrderChange::Order(site, order),
            }
        }
    }
}

/// The order of a slot of this kind.
pub(crate) fn order_of(what: Ordered, strength: Strength) -> Order {
    match what {
        Ordered::Load | Ordered::Failure => strength.order(true, false),
        Ordered::Store if !strength.contains(Strength::EXCHANGE) => strength.order(false, true),
        Ordered::Store | Ordered::Rmw | Ordered::Fence => strength.order(true, true),
    }
}

/// The places at which a fence can be of use: not where nothing follows, nor where a place that costs no more comes behind it with nothing between them that
/// touches memory. A fence there does all that one here does.
fn useful_places(program: &Program, costs: &OrderCosts) -> Vec<PlaceId> {
    let cost = |place: PlaceId| costs.of(program, Slot::Place(place), Strength::FULL);
    let mut points: FxHashMap<PlaceId, Vec<(usize, PointId)>> = FxHashMap::default();
    for (thread, code) in program.threads.iter().enumerate() {
        for (index, point) in code.points.iter().enumerate() {
            if let Some(place) = point.place.filter(|_| !point.atomic) {
                let point = PointId(index as u32);
                points.entry(place).or_default().push((thread, point));
            }
        }
    }
    let all = (0..program.places.len() as u32).map(PlaceId);
    all.filter(|place| {
        let Some(points) = points.get(place) else {
            return false;
        };
        let mut next: Option<Option<PlaceId>> = None;
        for &(thread, point) in points {
            match place_behind(&program.threads[thread], point, *place) {
                // Something touches memory first.
                None => return true,
                Some(behind) if next.is_none_or(|next| next == behind) => next = Some(behind),
                Some(_) => return true,
            }
        }
        match next.flatten() {
            None => false,
            Some(behind) => cost(behind) > cost(*place),
        }
    })
    .collect()
}

/// The next place behind a point with only one way there, on which nothing touches memory: `Some(None)` is the thread's end.
fn place_behind(thread: &Thread, mut point: PointId, place: PlaceId) -> Option<Option<PlaceId>> {
    for _ in 0..thread.points.len() {
        match thread.outgoing(point) {
            [] => return Some(None),
            [only] => {
                let is_local = matches!(
                    only.op,
                    Op::Skip | Op::Jump | Op::Assign(..) | Op::Assume(_) | Op::Assert(_)
                );
                if !is_local {
                    return None;
                }
                point = only.to;
            }
            _ => return None,
        }
        match thread.points[point.index()].place {
            Some(other) if other != place => return Some(Some(other)),
            _ => {}
        }
    }
    None
}
