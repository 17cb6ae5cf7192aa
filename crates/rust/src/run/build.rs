//! Executing all threads from the root, until nothing new is learned; each thread becomes an automaton.

use super::arith::{Term, stored};
use super::knowledge::{Kind, ObjectKey, ThreadKey};
use super::machine::Machine;
use super::need::{Need, Refusal, Run};
use super::state::State;
use super::value::{Loc, Val};
use super::widen::{Widening, replace};
use crate::index::Index;
use crate::mir::{IntTy, SourceSpan, Ty};
use palisade_lang::{BinaryOp, Expr, Order, RegisterId, Relation, RmwAction};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::rc::Rc;

/// Rounds of learning.
const MAX_ROUNDS: usize = 200;
/// Control points of one thread.
const MAX_POINTS: usize = 20_000;
/// Where a thread has more than this, another way is tried first.
const FEW_POINTS: usize = 4_000;
/// How that limit is called.
const LONG: &str = "a thread with more than";
/// Statements between two instructions.
const MAX_SILENT: usize = 400_000;
/// From this many on, it is asked whether a state was there before.
const SUSPICIOUS: usize = 20_000;

/// An instruction over cells.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    /// Reads.
    Load(RegisterId, Loc, Order),
    /// Writes.
    Store(Loc, Term, Order),
    /// Reads and writes.
    Rmw(RegisterId, Loc, RmwAction, Order),
    /// Waits.
    Wait(Loc, Relation, Term, Order),
    /// A fence.
    Fence(Order),
    /// Computes.
    Assign(RegisterId, Term),
    /// Goes on where this holds.
    Assume(Term),
    /// Nothing.
    Skip,
    /// Fails, for this reason.
    Fail(String),
}

/// An edge of a thread's automaton.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// From this point …
    pub from: usize,
    /// … to this one.
    pub to: usize,
    /// What is done.
    pub instruction: Instruction,
    /// The places in the source, innermost first.
    pub spans: Rc<Vec<SourceSpan>>,
}

/// A thread's automaton. It begins at point 0.
#[derive(Clone, Debug, Default)]
pub struct Automaton {
    /// The thread's number.
    pub thread: u32,
    /// How many points there are.
    pub points: usize,
    /// The edges.
    pub edges: Vec<Edge>,
    /// Points where a limit is met, with its name.
    pub bounds: Vec<(usize, String, Rc<Vec<SourceSpan>>)>,
    /// Points where everything is done but for a look at what is left.
    pub ended: Vec<usize>,
    /// Where it was spawned.
    pub spawned_at: Rc<Vec<SourceSpan>>,
}

/// What came of the execution of a program.
pub struct Execution<'a> {
    /// The threads.
    pub automata: Vec<Automaton>,
    /// What was learned.
    pub machine: Machine<'a>,
}

/// Why there is no program, and where.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// What is not supported.
    pub refusal: Refusal,
    /// Where, innermost first.
    pub spans: Vec<SourceSpan>,
}

/// Which states of a thread are one control point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merging {
    /// Those that differ only in which register holds which number, or in memory of the thread's own that nothing points to.
    #[default]
    Alike,
    /// Only those that are equal. There are more points then, and nothing else may come of it: tests compare the two.
    Equal,
}

/// What the caller wants of an execution.
#[derive(Clone, Copy, Default)]
pub struct Wanted {
    /// Which states of a thread are one control point.
    pub merging: Merging,
    /// Whether memory that is never freed is an error.
    pub leaks: bool,
    /// Whether vectors that threads share have room for a few elements only.
    pub few_elements: bool,
}

/// The number that a constant is, where it is known.
pub fn constant_of(index: &Index, body: usize) -> Option<i128> {
    let mut machine = Machine::new(index);
    machine.evaluate(body, Rc::default()).ok()?.known()
}

/// Executes a program from this body. Numbers that are known stay so, but for threads that would be too large then: there, those that take ever new values
/// go into registers.
pub fn execute(index: &Index, root: usize, wanted: Wanted) -> Result<Execution<'_>, Trouble> {
    let usual = Way {
        wanted,
        ..Way::default()
    };
    let first = execute_with(index, root, usual, FEW_POINTS)?;
    if !first.is_long() {
        return Ok(first);
    }
    // Where a loop counts up to a number that only a run knows, it comes to an end if such numbers are told apart.
    let apart = Way {
        tells_apart: true,
        ..usual
    };
    // Where it counts for as long as another thread likes, it comes back to where it was if the number is in a register.
    let widens = Way {
        widens: true,
        ..usual
    };
    for way in [apart, widens] {
        match execute_with(index, root, way, MAX_POINTS) {
            Ok(found) if !found.is_long() => return Ok(found),
            _ => {}
        }
    }
    execute_with(index, root, usual, MAX_POINTS)
}

/// How numbers are followed.
#[derive(Clone, Copy, Default)]
struct Way {
    tells_apart: bool,
    widens: bool,
    wanted: Wanted,
}

impl Execution<'_> {
    /// Whether a thread has too many control points.
    fn is_long(&self) -> bool {
        let mut bounds = self.automata.iter().flat_map(|a| &a.bounds);
        bounds.any(|(_, message, _)| message.starts_with(LONG))
    }
}

fn execute_with(
    index: &Index,
    root: usize,
    way: Way,
    max_points: usize,
) -> Result<Execution<'_>, Trouble> {
    let mut machine = Machine::new(index);
    machine.tells_apart = way.tells_apart;
    machine.widens = way.widens;
    machine.merging = way.wanted.merging;
    machine.leaks = way.wanted.leaks;
    machine.few_elements = way.wanted.few_elements;
    machine.max_points = max_points;
    machine.know.threads.push(None);
    for _ in 0..MAX_ROUNDS {
        machine.know.grew = false;
        machine.begin_round();
        let automata = round(&mut machine, root)?;
        if machine.know.grew {
            continue;
        }
        // What was refused may have been so only because too little was known.
        if let Some(trouble) = machine.trouble.take() {
            return Err(trouble);
        }
        if let Some(automata) = automata {
            return Ok(Execution { automata, machine });
        }
    }
    Err(Trouble {
        refusal: Refusal {
            message:
                "the pointers of this program reach more places in every round that follows them"
                    .to_owned(),
            help: None,
        },
        spans: Vec::new(),
    })
}

/// One round; `None` where it has to begin again.
fn round(machine: &mut Machine<'_>, root: usize) -> Result<Option<Vec<Automaton>>, Trouble> {
    let mut automata = Vec::new();
    let mut done = FxHashSet::default();
    let mut todo = vec![0];
    let mut anonymous: FxHashMap<ThreadKey, Automaton> = FxHashMap::default();
    while let Some(thread) = todo.pop() {
        if !done.insert(thread) {
            continue;
        }
        // Threads that run the same and have nothing of their own are executed once.
        let key = machine.know.threads[thread as usize].clone();
        let key = key.map(|key| ThreadKey { count: 0, ..key });
        let may = machine.at_once.contains(&thread) && machine.know.is_anonymous(thread);
        let key = key.filter(|_| may);
        if let Some(same) = key.as_ref().and_then(|key| anonymous.get(key)) {
            automata.push(Automaton {
                thread,
                ..same.clone()
            });
            continue;
        }
        machine.personal = false;
        match build(machine, thread, root)? {
            Some(automaton) => automata.push(automaton),
            None => return Ok(None),
        }
        if let (Some(key), Some(automaton)) = (key, automata.last())
            && !machine.personal
            && machine.know.is_anonymous(thread)
        {
            anonymous.insert(key, automaton.clone());
        }
        let mut started: Vec<u32> = machine.started.iter().copied().collect();
        started.sort_unstable_by(|a, b| b.cmp(a));
        todo.extend(started.into_iter().filter(|t| !done.contains(t)));
    }
    automata.sort_by_key(|a| a.thread);
    Ok(Some(automata))
}

impl Machine<'_> {
    fn begin_round(&mut self) {
        self.initial = true;
        self.trouble = None;
        self.spawned = false;
        self.constant = false;
        self.fresh.clear();
        self.touched.clear();
        self.init.clear();
        self.statics.clear();
        self.at_once.clear();
        self.started.clear();
    }

    fn first_state(&mut self, thread: u32, root: usize) -> Run<State> {
        let mut state = State::default();
        let none = SourceSpan::default();
        let Some(key) = self.know.threads[thread as usize].clone() else {
            self.push(&mut state, root, Rc::default(), Vec::new(), None, &none)?;
            return Ok(state);
        };
        let Val::Agg(agg) = &key.closure else {
            return super::need::refuse("a thread that runs something that is no closure");
        };
        let Ty::Closure(place, generic) = &agg.ty else {
            return super::need::refuse("a thread that runs something that is no closure");
        };
        let Some(&number) = self.index.closures.get(place) else {
            return super::need::refuse(format!("the closure at {place} has no body"));
        };
        let generic = generic.clone();
        self.push(
            &mut state,
            number,
            generic,
            vec![key.closure.clone()],
            None,
            &none,
        )?;
        Ok(state)
    }

    /// Goes on until an instruction is needed.
    fn advance(&mut self, state: &mut State) -> Need {
        let mut seen: FxHashSet<State> = FxHashSet::default();
        for count in 0..MAX_SILENT {
            if count > SUSPICIOUS && count % 7 == 0 && !seen.insert(state.clone()) {
                return Need::Choose(Vec::new());
            }
            match self.step(state) {
                Ok(()) => {}
                Err(Need::Concurrent) if self.initial => self.initial = false,
                Err(need) => return need,
            }
        }
        Need::Bound(format!(
            "a loop that does more than {MAX_SILENT} steps of its own"
        ))
    }
}

struct Builder {
    /// By the state with its registers in the order in which it names them: which register holds a number makes no difference. Beside the point, the
    /// registers that its own state names, in that order.
    points: FxHashMap<State, (usize, Vec<RegisterId>)>,
    /// Where registers are moved on the way to a point: from these to those.
    moves: FxHashMap<(usize, Vec<Move>), usize>,
    /// In the order in which they were found: where there are too many points, those near the beginning are there.
    todo: VecDeque<(usize, State, Need)>,
    automaton: Automaton,
    end: Option<usize>,
    widening: Widening,
}

impl Builder {
    fn fresh(&mut self) -> usize {
        self.automaton.points += 1;
        self.automaton.points - 1
    }

    /// The point of a state, where execution goes on until the next instruction.
    fn arrive(
        &mut self,
        machine: &mut Machine<'_>,
        mut state: State,
        spans: &Rc<Vec<SourceSpan>>,
    ) -> Result<usize, Need> {
        let need = machine.advance(&mut state);
        match &need {
            Need::Restart => return Err(need),
            Need::Finished => {
                if machine.thread == 0 || !machine.is_joined() {
                    let fresh = self.end.is_none();
                    let end = match self.end {
                        Some(end) => end,
                        None => self.fresh(),
                    };
                    self.end = Some(end);
                    let _ = fresh;
                    return Ok(end);
                }
                state = State::default();
            }
            _ => {}
        }
        let (registers, named_anew) = match machine.merging {
            Merging::Alike => {
                state.collect(
                    |object| machine.is_watched(object),
                    |object| machine.is_thread_local(object),
                );
                let registers = state.registers();
                let named_anew = state.with_registers_in_order(&registers);
                (registers, named_anew)
            }
            Merging::Equal => (Vec::new(), None),
        };
        let found = self.points.get(named_anew.as_ref().unwrap_or(&state));
        if let Some((point, theirs)) = found {
            let (point, theirs) = (*point, theirs.clone());
            return Ok(self.moved(point, &registers, &theirs, spans));
        }
        let point = self.fresh();
        let key = named_anew.unwrap_or_else(|| state.clone());
        self.points.insert(key, (point, registers));
        if machine.ending {
            self.automaton.ended.push(point);
        }
        let ends = matches!(
            need,
            Need::Finished
                | Need::Fail(_)
                | Need::Leak(_)
                | Need::Refuse(_)
                | Need::Bound(_)
                | Need::Skip
        );
        let wanted = match machine.widens && !ends {
            true => self.widening.wanted(&state, self.automaton.points),
            false => None,
        };
        let need = wanted.map_or(need, Need::Widen);
        self.todo.push_back((point, state, need));
        Ok(point)
    }
}

/// A register's number goes into another one.
type Move = (RegisterId, RegisterId);

impl Builder {
    /// A point from which `point` is reached with the numbers of the registers `from` in the registers `to`.
    fn moved(
        &mut self,
        point: usize,
        from: &[RegisterId],
        to: &[RegisterId],
        spans: &Rc<Vec<SourceSpan>>,
    ) -> usize {
        let moves = from.iter().copied().zip(to.iter().copied());
        let moves: Vec<Move> = moves.filter(|(from, to)| from != to).collect();
        if moves.is_empty() {
            return point;
        }
        if let Some(&first) = self.moves.get(&(point, moves.clone())) {
            return first;
        }
        let highest = from.iter().chain(to).map(|register| register.0).max();
        let spare = RegisterId(highest.unwrap_or(0) + 1);
        let steps = one_after_the_other(moves.clone(), spare);
        let first = self.fresh();
        let mut at = first;
        for (number, (from, to)) in steps.iter().enumerate() {
            let next = match number + 1 == steps.len() {
                true => point,
                false => self.fresh(),
            };
            self.automaton.edges.push(Edge {
                from: at,
                to: next,
                instruction: Instruction::Assign(*to, Expr::Atom(*from)),
                spans: spans.clone(),
            });
            at = next;
        }
        self.moves.insert((point, moves), first);
        first
    }
}

/// Moves that are meant to happen at once, as a sequence: none overwrites what a later one reads. No register occurs twice among the targets, and no
/// number that is still needed is in `spare`.
fn one_after_the_other(mut moves: Vec<Move>, spare: RegisterId) -> Vec<Move> {
    let mut steps = Vec::new();
    while !moves.is_empty() {
        let free = |(_, to): &Move| !moves.iter().any(|(from, _)| from == to);
        match moves.iter().position(free) {
            Some(at) => steps.push(moves.remove(at)),
            // Only circles are left: one of their numbers waits elsewhere.
            None => {
                let kept = moves[0].0;
                steps.push((kept, spare));
                for (from, _) in &mut moves {
                    if *from == kept {
                        *from = spare;
                    }
                }
            }
        }
    }
    steps
}

fn cell_type(kind: Kind) -> IntTy {
    match kind {
        Kind::Int(ty) => ty,
        Kind::Pointer => IntTy::ISIZE,
    }
}

fn symbol(register: RegisterId, ty: IntTy) -> Val {
    Val::Sym(Rc::new(Expr::Atom(register)), ty)
}

fn build(
    machine: &mut Machine<'_>,
    thread: u32,
    root: usize,
) -> Result<Option<Automaton>, Trouble> {
    machine.thread = thread;
    if thread != 0 {
        machine.initial = false;
    }
    let mut builder = Builder {
        points: FxHashMap::default(),
        moves: FxHashMap::default(),
        todo: VecDeque::new(),
        automaton: Automaton {
            thread,
            ..Automaton::default()
        },
        end: None,
        widening: Widening::default(),
    };
    // Point 0 is where a thread that another starts waits for that.
    let waits = thread != 0 && !machine.at_once.contains(&thread);
    let first = match machine.first_state(thread, root) {
        Ok(state) => state,
        Err(Need::Refuse(refusal)) => {
            let spans = Vec::new();
            machine.trouble.get_or_insert(Trouble { refusal, spans });
            return Ok(None);
        }
        Err(_) => return Ok(None),
    };
    let begin = builder.fresh();
    let spans = Rc::new(Vec::new());
    let to = match builder.arrive(machine, first, &spans) {
        Ok(point) => point,
        Err(_) => return Ok(None),
    };
    let instruction = match waits {
        true => Instruction::Wait(
            machine.start_cell(thread),
            Relation::Equal,
            Expr::Const(1),
            Order::Acquire,
        ),
        false => Instruction::Skip,
    };
    builder.automaton.edges.push(Edge {
        from: begin,
        to,
        instruction,
        spans,
    });
    while let Some((point, state, need)) = builder.todo.pop_front() {
        let spans = Rc::new(machine.spans(&state));
        let need = match need {
            Need::Refuse(_) | Need::Bound(_) | Need::Fail(_) | Need::Leak(_) => need,
            _ if builder.automaton.points > machine.max_points => Need::Bound(format!(
                "{LONG} {MAX_POINTS} control points: a loop that does not come back to where it was, or many numbers that it tells apart"
            )),
            _ => need,
        };
        let need = match need {
            // What is not supported matters only if a run gets there; before threads run, every run does.
            Need::Refuse(refusal) if !machine.initial => {
                Need::Bound(format!("this is not supported: {}", refusal.message))
            }
            Need::Refuse(refusal) => {
                machine.trouble.get_or_insert(Trouble {
                    refusal,
                    spans: spans.to_vec(),
                });
                continue;
            }
            need => need,
        };
        if expand(machine, &mut builder, point, &state, need, &spans).is_err() {
            return Ok(None);
        }
    }
    Ok(Some(builder.automaton))
}

fn expand(
    machine: &mut Machine<'_>,
    builder: &mut Builder,
    point: usize,
    state: &State,
    need: Need,
    spans: &Rc<Vec<SourceSpan>>,
) -> Result<(), Need> {
    let go = |builder: &mut Builder, machine: &mut Machine<'_>, instruction, state: State| {
        let to = builder.arrive(machine, state, spans)?;
        builder.automaton.edges.push(Edge {
            from: point,
            to,
            instruction,
            spans: spans.clone(),
        });
        Ok::<(), Need>(())
    };
    let with = |value: Val| {
        let mut next = state.clone();
        next.replay.push(value);
        next
    };
    let register = state.free_register();
    match need {
        Need::Load { cell, kind, order } => {
            let next = with(symbol(register, cell_type(kind)));
            go(
                builder,
                machine,
                Instruction::Load(register, cell, order),
                next,
            )
        }
        Need::Store { cell, value, order } => go(
            builder,
            machine,
            Instruction::Store(cell, value, order),
            with(Val::unit()),
        ),
        Need::Rmw {
            cell,
            kind,
            action,
            order,
        } => {
            let next = with(symbol(register, cell_type(kind)));
            go(
                builder,
                machine,
                Instruction::Rmw(register, cell, action, order),
                next,
            )
        }
        Need::Wait {
            cell,
            relation,
            value,
            order,
        } => {
            let instruction = Instruction::Wait(cell, relation, value, order);
            go(builder, machine, instruction, with(Val::unit()))
        }
        Need::Fence(order) => go(
            builder,
            machine,
            Instruction::Fence(order),
            with(Val::unit()),
        ),
        Need::Assign(term, ty) => {
            let next = with(symbol(register, ty));
            go(builder, machine, Instruction::Assign(register, term), next)
        }
        Need::Widen(number) => {
            let mut next = state.clone();
            let value = replace(&mut next, number, |ty| symbol(register, ty)).unwrap_or(0);
            let value = Expr::Const(stored(value));
            go(builder, machine, Instruction::Assign(register, value), next)
        }
        Need::Fork(choices) => {
            for (condition, value) in choices {
                if condition == Expr::Const(0) {
                    continue;
                }
                let mut next = with(value);
                if let Expr::Binary(BinaryOp::Equal, left, right) = &condition
                    && let (Expr::Atom(register), Expr::Const(number)) = (&**left, &**right)
                {
                    next.found.push((*register, *number));
                }
                go(builder, machine, Instruction::Assume(condition), next)?;
            }
            Ok(())
        }
        // A loop without an instruction: the thread stays in it.
        Need::Choose(choices) if choices.is_empty() => {
            builder.automaton.edges.push(Edge {
                from: point,
                to: point,
                instruction: Instruction::Skip,
                spans: spans.clone(),
            });
            Ok(())
        }
        Need::Choose(choices) => {
            for value in choices {
                go(builder, machine, Instruction::Skip, with(value))?;
            }
            Ok(())
        }
        Need::Take(choices) => {
            for (taking, value) in choices {
                let instruction = match taking {
                    None => Instruction::Skip,
                    Some(taking) => {
                        let action = RmwAction::BlockingCompareAndSwap {
                            expected: Expr::Const(taking.expected),
                            desired: Expr::Const(taking.desired),
                        };
                        Instruction::Rmw(register, taking.cell, action, Order::Acquire)
                    }
                };
                go(builder, machine, instruction, with(value))?;
            }
            Ok(())
        }
        Need::Finished => {
            let end = match builder.end {
                Some(end) => end,
                None => builder.fresh(),
            };
            builder.end = Some(end);
            let cell = machine.end_cell(machine.thread);
            machine.know.write(&cell);
            builder.automaton.edges.push(Edge {
                from: point,
                to: end,
                instruction: Instruction::Store(cell, Expr::Const(1), Order::Release),
                spans: spans.clone(),
            });
            Ok(())
        }
        Need::Fail(message) => {
            let stuck = builder.fresh();
            builder.automaton.edges.push(Edge {
                from: point,
                to: stuck,
                instruction: Instruction::Fail(message),
                spans: spans.clone(),
            });
            Ok(())
        }
        Need::Leak(object) => {
            let stuck = builder.fresh();
            let made = machine.know.made_at.get(&object).cloned();
            builder.automaton.edges.push(Edge {
                from: point,
                to: stuck,
                instruction: Instruction::Fail(super::leaks::LEAK.to_owned()),
                spans: made.unwrap_or_else(|| spans.clone()),
            });
            Ok(())
        }
        Need::Bound(message) => {
            builder
                .automaton
                .bounds
                .push((point, message, spans.clone()));
            blocked(builder, point, spans);
            Ok(())
        }
        Need::Skip | Need::Concurrent => {
            blocked(builder, point, spans);
            Ok(())
        }
        Need::Restart | Need::Refuse(_) => Err(Need::Restart),
    }
}

/// A thread that gets here goes no further, and has not ended.
fn blocked(builder: &mut Builder, point: usize, spans: &Rc<Vec<SourceSpan>>) {
    builder.automaton.edges.push(Edge {
        from: point,
        to: point,
        instruction: Instruction::Assume(Expr::Const(0)),
        spans: spans.clone(),
    });
}

impl Machine<'_> {
    fn is_joined(&mut self) -> bool {
        self.know.is_known(&ObjectKey::Thread(self.thread, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way to move up to four registers gives each target what its source held before.
    #[test]
    fn moves_happen_as_if_at_once() {
        let sources = |code: usize| (0..4).map(move |at| (code >> (2 * at)) & 3);
        for code in 0..256 {
            for kept in 0..16 {
                let moves = sources(code)
                    .enumerate()
                    .filter(|(to, _)| kept >> to & 1 == 1);
                let moves: Vec<Move> = moves
                    .map(|(to, from)| (RegisterId(from as u32), RegisterId(to as u32)))
                    .filter(|(from, to)| from != to)
                    .collect();
                let mut registers: Vec<i64> = (0..8).collect();
                for (from, to) in one_after_the_other(moves.clone(), RegisterId(4)) {
                    registers[to.0 as usize] = registers[from.0 as usize];
                }
                for (to, number) in registers.iter().enumerate().take(4) {
                    let source = moves.iter().find(|(_, target)| target.0 == to as u32);
                    let expected = source.map_or(to as i64, |(from, _)| i64::from(from.0));
                    assert_eq!(*number, expected, "{moves:?}");
                }
            }
        }
    }
}
