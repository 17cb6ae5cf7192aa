//! Repairs: what can be changed in a program to make it hold, as the program sees it. How they are written into its text is in `fenced`.

use crate::equal::same_program;
use crate::expr::{BinaryOp, Expr};
use crate::fenced::repaired_text;
use crate::parse::{ParseOptions, parse};
use crate::program::{
    Language, Op, Order, PlaceId, Point, PointId, Program, RmwAction, Thread, ThreadId, Transition,
};
use crate::source::Span;

/// A change of the program.
///
/// What stands once in the text is one repair, however many copies of a thread or calls of a function execute it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Repair {
    /// A fence at a place.
    Fence(PlaceId),
    /// The store with this span becomes an exchange, or the load an atomic no-op: it adds 0. In automata it is put between `lock` and `unlock`.
    Rmw(Span),
    /// The store with this span becomes `seqcst`. In automata an `mfence` is put behind it.
    SeqCst(Span),
    /// The fence with this span, which [`Program::without_fences`] has taken away, comes back.
    Keep(Span),
}

/// Where in the text a repair is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The thread; `None` in a function that several threads call.
    pub thread: Option<ThreadId>,
    /// The name of the state, or the label of the statement.
    pub name: Option<String>,
    /// The statement or access.
    pub span: Span,
}

impl Repair {
    /// Whether executing this instruction (of the program before or after the repair) is where the repair shows.
    pub fn changes(self, transition: &Transition) -> bool {
        match self {
            Repair::Fence(_) => false,
            Repair::Rmw(span) => {
                transition.span == span
                    && matches!(
                        transition.op,
                        Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. }
                    )
            }
            Repair::SeqCst(span) => {
                transition.span == span && matches!(transition.op, Op::Store { .. })
            }
            Repair::Keep(span) => {
                transition.span == span && matches!(transition.op, Op::Skip | Op::Fence(_))
            }
        }
    }
}

impl Program {
    /// The same program with these repairs.
    pub fn repaired(&self, repairs: &[Repair]) -> Program {
        let mut program = self.clone();
        let is_automaton = self.language == Language::Trencher;
        for thread in &mut program.threads {
            for transition in &mut thread.transitions {
                for repair in repairs {
                    let is_wrapped = matches!(repair, Repair::Rmw(_) | Repair::SeqCst(_));
                    if repair.changes(transition) && !(is_automaton && is_wrapped) {
                        repair_op(*repair, &mut transition.op);
                    }
                }
            }
            if is_automaton {
                wrap_accesses(thread, repairs);
            }
        }
        let places: Vec<PlaceId> = repairs
            .iter()
            .filter_map(|repair| match repair {
                Repair::Fence(place) => Some(*place),
                _ => None,
            })
            .collect();
        if places.is_empty() {
            return program;
        }
        program.with_fences(&places)
    }

    /// The fences that stand in the text and do something, in its order.
    pub fn existing_fences(&self) -> Vec<Span> {
        self.spans_of(|_, op| *op == Op::Fence(Order::SeqCst))
    }

    /// The same program with these fences taken away. See [`Repair::Keep`].
    pub fn without_fences(&self, fences: &[Span]) -> Program {
        let mut program = self.clone();
        for thread in &mut program.threads {
            for transition in &mut thread.transitions {
                if transition.op == Op::Fence(Order::SeqCst) && fences.contains(&transition.span) {
                    transition.op = Op::Skip;
                }
            }
        }
        program
    }

    /// The accesses that can become read-modify-writes, each in the user's own text.
    pub fn rmw_repairs(&self) -> Vec<Repair> {
        let spans = self.spans_of(|_, op| {
            matches!(
                op,
                Op::Load {
                    order: Order::Acquire,
                    ..
                } | Op::Store {
                    order: Order::Release,
                    ..
                }
            )
        });
        let repairs = spans.into_iter().map(Repair::Rmw);
        repairs.filter(|r| self.can_be_written(*r)).collect()
    }

    /// The stores that can become `seqcst`, each in the user's own text.
    pub fn order_repairs(&self) -> Vec<Repair> {
        let spans = self.spans_of(|_, op| {
            matches!(
                op,
                Op::Store {
                    order: Order::Release,
                    ..
                }
            )
        });
        let repairs = spans.into_iter().map(Repair::SeqCst);
        repairs.filter(|r| self.can_be_written(*r)).collect()
    }

    /// Where a repair is.
    pub fn site(&self, repair: Repair) -> Site {
        let span = match repair {
            Repair::Fence(place) => {
                let place = &self.places[place.index()];
                return Site {
                    thread: place.thread,
                    name: place.name.clone(),
                    span: place.span,
                };
            }
            Repair::Rmw(span) | Repair::SeqCst(span) | Repair::Keep(span) => span,
        };
        let mut threads = (0..self.threads.len()).filter(|&thread| {
            let transitions = &self.threads[thread].transitions;
            transitions.iter().any(|t| t.span == span)
        });
        let (first, second) = (threads.next(), threads.next());
        let thread = first.filter(|_| second.is_none());
        let name = thread.and_then(|thread| {
            let thread = &self.threads[thread];
            let transition = thread.transitions.iter().find(|t| t.span == span)?;
            let label = thread
                .labels
                .iter()
                .find(|l| l.points.contains(&transition.from));
            let state = || thread.points[transition.from.index()].name.clone();
            label.map(|label| label.name.clone()).or_else(state)
        });
        Site {
            thread: thread.map(|thread| ThreadId(thread as u32)),
            name,
            span,
        }
    }

    /// The spans of the instructions outside `atomic` blocks that are wanted, each once, in the order of the text.
    fn spans_of(&self, wanted: impl Fn(&Program, &Op) -> bool) -> Vec<Span> {
        let mut spans: Vec<Span> = self
            .threads
            .iter()
            .flat_map(|thread| {
                let outside = |t: &&Transition| !thread.points[t.from.index()].atomic;
                thread.transitions.iter().filter(outside)
            })
            .filter(|transition| wanted(self, &transition.op))
            .map(|transition| transition.span)
            .collect();
        spans.sort();
        spans.dedup();
        spans
    }

    /// Whether the text with the repair says what the program with the repair does: every language has its limits.
    fn can_be_written(&self, repair: Repair) -> bool {
        let Ok(text) = repaired_text(self, &[repair]) else {
            return false;
        };
        let options = ParseOptions {
            language: Some(self.language),
            domain: self.domain.size(),
        };
        parse(&self.source.with_text(text), &options)
            .is_ok_and(|again| same_program(&self.repaired(&[repair]), &again.program).is_ok())
    }
}

/// Automata have neither read-modify-writes nor orders: a locked access stands for the one, an `mfence` behind a store for the other.
fn wrap_accesses(thread: &mut Thread, repairs: &[Repair]) {
    for index in 0..thread.transitions.len() {
        let transition = &thread.transitions[index];
        let (from, to, span) = (transition.from, transition.to, transition.span);
        let shows = || repairs.iter().filter(|r| r.changes(transition));
        let locked = shows().any(|r| matches!(r, Repair::Rmw(_)));
        let fenced = shows().any(|r| matches!(r, Repair::SeqCst(_)));
        if thread.points[from.index()].atomic || !(locked || fenced) {
            continue;
        }
        let mut new_point = || {
            thread.points.push(Point {
                name: None,
                atomic: locked,
                place: None,
                span,
            });
            PointId(thread.points.len() as u32 - 1)
        };
        let behind = new_point();
        let op = if locked {
            let inside = new_point();
            thread.transitions[index].from = inside;
            thread.transitions.push(Transition {
                from,
                to: inside,
                op: Op::AtomicBegin,
                span,
            });
            Op::AtomicEnd
        } else {
            Op::Fence(Order::SeqCst)
        };
        thread.transitions[index].to = behind;
        thread.transitions.push(Transition {
            from: behind,
            to,
            op,
            span,
        });
    }
    thread.sort_transitions();
}

fn repair_op(repair: Repair, op: &mut Op) {
    let repaired = match (repair, &*op) {
        (
            Repair::Rmw(_),
            Op::Load {
                register, address, ..
            },
        ) => Op::Rmw {
            register: Some(*register),
            address: address.clone(),
            action: RmwAction::Fetch(BinaryOp::Add, Expr::Const(0)),
            order: Order::AcqRel,
        },
        (Repair::Rmw(_), Op::Store { address, value, .. }) => Op::Rmw {
            register: None,
            address: address.clone(),
            action: RmwAction::Exchange(value.clone()),
            order: Order::AcqRel,
        },
        (Repair::SeqCst(_), Op::Store { address, value, .. }) => Op::Store {
            address: address.clone(),
            value: value.clone(),
            order: Order::SeqCst,
        },
        (Repair::Keep(_), Op::Skip) => Op::Fence(Order::SeqCst),
        _ => return,
    };
    *op = repaired;
}
