//! States that differ in which copy of a thread is which count once, also where numbers of threads are values.
//!
//! Which copies those are, and what is exchanged along with them, [`Named`] says. Here is which state stands for all that come from it by exchanges. A state is seen as a picture:
//! each copy is a node that has content of its own, and an arrow to each copy whose number it holds. Nodes get colours from what they have and from what is around them, again and again;
//! copies come in the order of their colours. Where two of the same colour cannot simply be exchanged, each of them is tried as the first one.
//!
//! Colours are made from what states mean, so which state stands for others does not depend on when numbers were given.

use palisade_explore::{Quotient, StandIns};
use palisade_lang::{PointId, Program, Value};
use palisade_threads::{Named, Numbering, View};
use rustc_hash::FxHashMap;

use crate::checkpoint::Kept;
use crate::sc::StepLabel;
use crate::state::Frame;

/// With more copies than this in a group, exchanges are not looked at.
pub(crate) const MOST_MEMBERS: usize = 32;
/// So many orders are tried for a state. If there are more, one of those that were tried stands for it, and some states count more than once.
const MOST_TRIED: usize = 4096;

/// What stands in a row behind threads and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// For each thread a number that speaks of nothing else.
    OfEachThread,
    /// The same for each location.
    OfEachLocation,
    /// For each location 0, or one more than the number of a value that could stand there.
    ValueOfEachLocation,
    /// 0, or one more than the number of a location.
    Location,
    /// So many numbers that speak of no thread and no location.
    Plain(usize),
}

/// So many local states are remembered: more would take memory that is not counted.
const REMEMBERED: usize = 1 << 19;

/// What the number in a component is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// A local state of a code.
    Local(usize),
    /// The number of a value that stands in this location.
    Value(usize),
    /// 0, or one more than such a number.
    MaybeValue(usize),
    /// 0, or one more than the number of a location.
    Location,
    /// Nothing that is exchanged.
    Plain,
}

/// The exchanges of a space, and which state stands for others.
pub(crate) struct Symmetry<'f, 'p> {
    frame: &'f Frame<'p>,
    named: &'f Named,
    /// For each component what it holds, and the member that it belongs to, with its place there.
    components: Vec<(Content, Option<(usize, usize)>)>,
    /// For each member the components that belong to it, and its group.
    members: Vec<Member>,
    /// For each code and copy the member that it is.
    member_of: Vec<Vec<Option<usize>>>,
    /// For each location the member that it belongs to, and its family.
    owner_of: Vec<Option<(usize, usize)>>,
    /// For each member its group.
    groups: Vec<usize>,
    /// The kinds of findings are numbers of locations; otherwise they speak of nothing that is exchanged.
    pub kinds_are_locations: bool,
}

struct Member {
    group: usize,
    copy: u32,
    components: Vec<usize>,
}

/// What a walking thread remembers.
pub(crate) struct Worker<'t> {
    view: View<'t>,
    /// For each code and local state.
    locals: Vec<Vec<Option<Local>>>,
    /// How many of them are known.
    known: usize,
    renamed: FxHashMap<(u32, u32, u128), u32>,
    picture: Picture,
    row: Vec<u32>,
}

/// What is known about a local state.
#[derive(Clone)]
struct Local {
    /// What it has beside numbers of members.
    key: u64,
    /// Those: where they stand in what is spelled, and how.
    held: Box<[(usize, Numbering, usize)]>,
}

/// A state as nodes and arrows.
#[derive(Clone, Default)]
struct Picture {
    /// Of what each node has.
    plain: Vec<u64>,
    /// From where, by what, to where.
    arrows: Vec<(usize, u64, usize)>,
}

fn mix(a: u64, b: u64) -> u64 {
    let mut hash = (a ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 31)).wrapping_add(b);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 29)
}

impl<'f, 'p> Symmetry<'f, 'p> {
    /// The exchanges of rows that have a component for each thread and each location, and behind them these parts.
    pub fn new(frame: &'f Frame<'p>, parts: &[Part]) -> Option<Self> {
        let named = frame.named.as_ref()?;
        let threads = frame.thread_count();
        let locations = frame.program().locations.len();
        let mut contents: Vec<Content> = frame.codes.iter().map(|&c| Content::Local(c)).collect();
        contents.extend((0..locations).map(Content::Value));
        // Where something begins of which each thread, or each location, has one.
        let (mut of_threads, mut of_locations) = (vec![0], vec![threads]);
        for part in parts {
            let at = contents.len();
            match *part {
                Part::OfEachThread => {
                    of_threads.push(at);
                    contents.resize(at + threads, Content::Plain);
                }
                Part::OfEachLocation => {
                    of_locations.push(at);
                    contents.resize(at + locations, Content::Plain);
                }
                Part::ValueOfEachLocation => {
                    of_locations.push(at);
                    contents.extend((0..locations).map(Content::MaybeValue));
                }
                Part::Location => contents.push(Content::Location),
                Part::Plain(count) => contents.resize(at + count, Content::Plain),
            }
        }
        let mut components: Vec<(Content, Option<(usize, usize)>)> = contents
            .into_iter()
            .map(|content| (content, None))
            .collect();
        let mut members = Vec::new();
        let mut member_of = vec![Vec::new(); frame.program().threads.len()];
        let mut owner_of = vec![None; locations];
        for (number, group) in named.groups.iter().enumerate() {
            let of_copies: &mut Vec<Option<usize>> = &mut member_of[group.code];
            let most = group.copies.iter().max();
            of_copies.resize(most.map_or(0, |&copy| copy as usize + 1), None);
            for (&copy, &instance) in group.copies.iter().zip(&group.instances) {
                let mut own: Vec<usize> = of_threads.iter().map(|at| at + instance).collect();
                for (family, (code, locations)) in named.families.iter().enumerate() {
                    if *code == group.code {
                        let location = locations[copy as usize].index();
                        owner_of[location] = Some((members.len(), family));
                        own.extend(of_locations.iter().map(|at| at + location));
                    }
                }
                for (place, &component) in own.iter().enumerate() {
                    components[component].1 = Some((members.len(), place));
                }
                of_copies[copy as usize] = Some(members.len());
                members.push(Member {
                    group: number,
                    copy,
                    components: own,
                });
            }
        }
        Some(Symmetry {
            frame,
            named,
            components,
            groups: members.iter().map(|member| member.group).collect(),
            members,
            member_of,
            owner_of,
            kinds_are_locations: false,
        })
    }

    /// The member that a value stands for.
    fn member(&self, name: Numbering, value: Value) -> Option<usize> {
        let copy = name.copy(value)? as usize;
        *self.member_of[name.code].get(copy)?
    }

    /// The member that a value stands for in a location.
    fn held_by(&self, location: usize, value: Value) -> Option<usize> {
        self.named.locations[location].and_then(|name| self.member(name, value))
    }

    /// The member that a location belongs to, and the family, where the number is one more than that of the location.
    fn owner(&self, number: u32) -> Option<(usize, usize)> {
        *self.owner_of.get((number as usize).checked_sub(1)?)?
    }

    fn remember(&self, worker: &mut Worker<'_>, code: usize, local: u32) {
        let known = &mut worker.locals[code];
        if known.len() <= local as usize {
            known.resize(local as usize + 1, None);
        }
        if known[local as usize].is_some() {
            return;
        }
        let threads = &self.frame.threads;
        let mut spelled = Vec::new();
        threads.spell_local(code, local, &mut spelled);
        let point = PointId(spelled[0] as u32);
        let live = threads.live_at(code, point);
        let mut key = mix(1, spelled[0] as u64);
        let mut held = Vec::new();
        for (at, &value) in spelled.iter().enumerate().skip(1) {
            let register = live.get(at - 1);
            let name = register.and_then(|r| self.named.registers[code][r.index()]);
            let member = name.and_then(|name| Some((name, self.member(name, value)?)));
            match member {
                Some((name, member)) => held.push((at, name, member)),
                None => key = mix(mix(key, at as u64), value as u64),
            }
        }
        known[local as usize] = Some(Local {
            key,
            held: held.into(),
        });
        worker.known += 1;
    }

    /// Draws the picture of a row.
    fn draw(&self, worker: &mut Worker<'_>, row: &[u32]) {
        let mut picture = std::mem::take(&mut worker.picture);
        picture.arrows.clear();
        picture.plain.clear();
        let groups = self.members.iter().map(|m| mix(2, m.group as u64));
        picture.plain.extend(groups);
        for (component, (&number, (content, owner))) in row.iter().zip(&self.components).enumerate()
        {
            // A copy's own places have the same names for all copies.
            let (node, place) = match *owner {
                Some((member, place)) => (Some(member), place as u64),
                None => (None, mix(3, component as u64)),
            };
            let point_at = |slot: u64, member: usize, picture: &mut Picture| match node {
                Some(node) => picture.arrows.push((node, mix(place, slot), member)),
                // From outside: the copy is told apart by it.
                None => {
                    let color = &mut picture.plain[member];
                    *color = color.wrapping_add(mix(place, slot));
                }
            };
            let key = match *content {
                Content::Local(code) => {
                    self.remember(worker, code, number);
                    let Some(local) = &worker.locals[code][number as usize] else {
                        continue;
                    };
                    for &(at, _, member) in &local.held {
                        point_at(at as u64, member, &mut picture);
                    }
                    local.key
                }
                Content::Value(location) => {
                    let value = worker.view.value(number);
                    match self.held_by(location, value) {
                        Some(member) => {
                            point_at(0, member, &mut picture);
                            4
                        }
                        None => mix(5, value as u64),
                    }
                }
                Content::MaybeValue(location) => {
                    let value = number.checked_sub(1).map(|id| worker.view.value(id));
                    match value.map(|value| (value, self.held_by(location, value))) {
                        None => 11,
                        Some((_, Some(member))) => {
                            point_at(1, member, &mut picture);
                            4
                        }
                        Some((value, None)) => mix(5, value as u64),
                    }
                }
                Content::Location => match self.owner(number) {
                    Some((member, family)) => {
                        point_at(mix(12, family as u64), member, &mut picture);
                        4
                    }
                    None => mix(13, number.into()),
                },
                Content::Plain => mix(14, number.into()),
            };
            if let Some(node) = node {
                let color = &mut picture.plain[node];
                *color = color.wrapping_add(mix(place, key));
            }
        }
        worker.picture = picture;
    }

    /// A number in a component, where members go to other places.
    fn rename(&self, worker: &mut Worker<'_>, content: Content, number: u32, to: &[usize]) -> u32 {
        match content {
            Content::Plain => number,
            Content::Value(location) => {
                let value = worker.view.value(number);
                match (
                    self.named.locations[location],
                    self.held_by(location, value),
                ) {
                    (Some(name), Some(member)) => {
                        let copy = self.members[to[member]].copy;
                        worker.view.value_id(name.value(copy))
                    }
                    _ => number,
                }
            }
            Content::MaybeValue(location) => match number.checked_sub(1) {
                Some(id) => 1 + self.rename(worker, Content::Value(location), id, to),
                None => number,
            },
            Content::Location => self.rename_location(number, to),
            Content::Local(code) => self.rename_local(worker, code, number, to),
        }
    }

    /// One more than the number of a location, where members go to other places.
    fn rename_location(&self, number: u32, to: &[usize]) -> u32 {
        match self.owner(number) {
            Some((member, family)) => {
                let copy = self.members[to[member]].copy;
                self.named.families[family].1[copy as usize].0 + 1
            }
            None => number,
        }
    }

    fn rename_local(&self, worker: &mut Worker<'_>, code: usize, number: u32, to: &[usize]) -> u32 {
        self.remember(worker, code, number);
        let Some(local) = &worker.locals[code][number as usize] else {
            return number;
        };
        if local.held.iter().all(|held| to[held.2] == held.2) {
            return number;
        }
        let packed =
            (local.held.iter()).fold(1u128, |packed, held| packed << 8 | to[held.2] as u128);
        // More do not fit, and are asked for each time.
        let key = (local.held.len() < 16 && self.members.len() < 256).then_some((
            code as u32,
            number,
            packed,
        ));
        if let Some(&known) = key.and_then(|key| worker.renamed.get(&key)) {
            return known;
        }
        let threads = &self.frame.threads;
        let mut spelled = Vec::new();
        threads.spell_local(code, number, &mut spelled);
        for &(at, name, member) in &local.held {
            spelled[at] = name.value(self.members[to[member]].copy);
        }
        let renamed = threads.local_spelled(code, &spelled).unwrap_or(number);
        if let Some(key) = key {
            worker.renamed.insert(key, renamed);
        }
        renamed
    }
}

/// How many different colours there are.
fn count(colors: &[u64], sorted: &mut Vec<u64>) -> usize {
    sorted.clear();
    sorted.extend_from_slice(colors);
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

/// What a picture looks like in an order of its nodes: the nodes, and the arrows between their places.
type Drawn = (Vec<u64>, Vec<(usize, u64, usize)>);

impl Picture {
    /// Colours nodes by what is around them, until no more are told apart.
    fn refine(&self, colors: &mut Vec<u64>) {
        let mut sorted = Vec::new();
        let mut different = count(colors, &mut sorted);
        while different < colors.len() {
            let mut new: Vec<u64> = colors.iter().map(|&color| mix(6, color)).collect();
            for &(from, by, to) in &self.arrows {
                if from == to {
                    new[from] = new[from].wrapping_add(mix(7, by));
                } else {
                    new[from] = new[from].wrapping_add(mix(mix(8, by), colors[to]));
                    new[to] = new[to].wrapping_add(mix(mix(9, by), colors[from]));
                }
            }
            let now = count(&new, &mut sorted);
            if now <= different {
                return;
            }
            different = now;
            *colors = new;
        }
    }

    /// Whether two nodes of the same colour can be exchanged without a change of the picture.
    fn are_twins(&self, a: usize, b: usize) -> bool {
        let exchanged = |node: usize| match node {
            _ if node == a => b,
            _ if node == b => a,
            other => other,
        };
        let touches = |&&(from, _, to): &&(usize, u64, usize)| {
            [from, to].iter().any(|node| [a, b].contains(node))
        };
        (self.arrows.iter().filter(touches))
            .all(|&(from, by, to)| self.arrows.contains(&(exchanged(from), by, exchanged(to))))
    }

    /// The picture with its nodes in another order, to compare it.
    fn in_order(&self, order: &[usize]) -> Drawn {
        let mut place = vec![0; order.len()];
        for (at, &node) in order.iter().enumerate() {
            place[node] = at;
        }
        let mut arrows: Vec<(usize, u64, usize)> = (self.arrows.iter())
            .map(|&(from, by, to)| (place[from], by, place[to]))
            .collect();
        arrows.sort_unstable();
        (order.iter().map(|&node| self.plain[node]).collect(), arrows)
    }

    /// The nodes in an order that is the same for all pictures that differ only by exchanges. `group` says which nodes may be exchanged.
    fn order(&self, group: &[usize]) -> Vec<usize> {
        let mut best: Option<(Drawn, Vec<usize>)> = None;
        let mut work = vec![self.plain.clone()];
        let mut tried = 0;
        while let Some(mut colors) = work.pop() {
            tried += 1;
            self.refine(&mut colors);
            let mut order: Vec<usize> = (0..colors.len()).collect();
            order.sort_by_key(|&node| (group[node], colors[node]));
            let alike = |a: usize, b: usize| group[a] == group[b] && colors[a] == colors[b];
            let mut undecided = None;
            for pair in order.windows(2) {
                if alike(pair[0], pair[1]) && !self.are_twins(pair[0], pair[1]) {
                    undecided = Some(pair[0]);
                    break;
                }
            }
            if let (Some(node), true) = (undecided, tried < MOST_TRIED) {
                for &other in order.iter().filter(|&&other| alike(node, other)) {
                    let mut colors = colors.clone();
                    colors[other] = mix(10, colors[other]);
                    work.push(colors);
                }
                continue;
            }
            if best.is_none() && work.is_empty() {
                return order;
            }
            let drawn = self.in_order(&order);
            if best.as_ref().is_none_or(|best| drawn < best.0) {
                best = Some((drawn, order));
            }
            if tried >= MOST_TRIED {
                break;
            }
        }
        best.map_or_else(Vec::new, |best| best.1)
    }
}

impl<'f> StandIns for Symmetry<'f, '_> {
    type Worker = Worker<'f>;

    fn worker(&self) -> Worker<'f> {
        let frame: &'f Frame<'_> = self.frame;
        Worker {
            view: frame.threads.view(),
            locals: vec![Vec::new(); frame.program().threads.len()],
            known: 0,
            renamed: FxHashMap::default(),
            picture: Picture::default(),
            row: Vec::new(),
        }
    }

    fn exchange_for(&self, worker: &mut Worker<'f>, row: &[u32]) -> Vec<usize> {
        if worker.known.max(worker.renamed.len()) >= REMEMBERED {
            worker.known = 0;
            worker
                .locals
                .iter_mut()
                .for_each(|known| *known = Vec::new());
            worker.renamed = FxHashMap::default();
        }
        self.draw(worker, row);
        let order = worker.picture.order(&self.groups);
        // Members of a group stand together, and so they do in the order: a node goes to the member with its place.
        let mut to = vec![0; order.len()];
        for (member, &node) in order.iter().enumerate() {
            to[node] = member;
        }
        to
    }

    fn exchange(&self, worker: &mut Worker<'f>, to: &[usize], row: &mut [u32]) {
        let mut old = std::mem::take(&mut worker.row);
        old.clear();
        old.extend_from_slice(row);
        for (component, (&number, (content, owner))) in old.iter().zip(&self.components).enumerate()
        {
            let new = match *owner {
                Some((member, place)) => self.members[to[member]].components[place],
                None => component,
            };
            row[new] = self.rename(worker, *content, number, to);
        }
        worker.row = old;
    }

    fn label(&self, to: &[usize], label: u64) -> u64 {
        let component = StepLabel::decode(label).component;
        match self.components.get(component) {
            Some((_, Some((member, place)))) => {
                StepLabel::moved(label, self.members[to[*member]].components[*place])
            }
            _ => label,
        }
    }

    fn kind(&self, to: &[usize], kind: u64) -> u64 {
        match self.kinds_are_locations {
            true => u64::from(self.rename_location(kind as u32 + 1, to) - 1),
            false => kind,
        }
    }
}

/// A space without what differs by exchanges only can be kept like the space behind it.
impl<S: Kept> Kept for Quotient<'_, S, Symmetry<'_, '_>> {
    fn program(&self) -> &Program {
        self.space().program()
    }

    fn keep(&self, out: &mut Vec<i64>) {
        self.space().keep(out);
    }

    fn recall(&self, numbers: &mut dyn Iterator<Item = i64>) -> Option<()> {
        self.space().recall(numbers)
    }

    fn doubt(&self) -> Option<&'static str> {
        self.space().doubt()
    }
}
