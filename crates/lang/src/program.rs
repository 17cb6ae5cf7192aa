//! The one form that every front end produces and every analysis reads: threads as automata over registers,
//! one flat memory of named locations.

use crate::expr::{BinaryOp, Domain, Expr, ProgramError, Relation, Value};
use crate::source::{Source, Span};

/// Index of a location in [`Program::locations`]. The location's *address* is something else: see [`Location::address`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub u32);

/// Index of a thread's code in [`Program::threads`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

/// Index of a register in [`Thread::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegisterId(pub u32);

/// Index of a control point in [`Thread::points`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PointId(pub u32);

/// Index of a label in [`Thread::labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

/// Index of a place for a fence in [`Program::places`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceId(pub u32);

macro_rules! index_type {
    ($($name:ident),*) => {$(
        impl $name {
            /// The index as `usize`.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
index_type!(LocationId, ThreadId, RegisterId, PointId, LabelId, PlaceId);

/// The language in which a program was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// `.pal`
    Pal,
    /// Trencher's and Persist's automata.
    Trencher,
    /// Rocker's toy language.
    Tpl,
    /// herd's litmus tests.
    Litmus,
    /// C11, which `palisade-c` reads.
    C,
    /// Rust, which has a front end of its own: see `palisade-rust`.
    Rust,
}

/// A concurrent program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The name that the program gives itself.
    pub name: Option<String>,
    /// Its text.
    pub source: Source,
    /// The language of the text.
    pub language: Language,
    /// The range of values.
    pub domain: Domain,
    /// The memory. Elements of an array stand together, in order.
    pub locations: Vec<Location>,
    /// The code of the threads, in the order of the text. One entry may stand for several copies.
    pub threads: Vec<Thread>,
    /// What must not happen.
    pub nevers: Vec<Never>,
    /// Where a fence can be put into the text.
    pub places: Vec<Place>,
    /// How far it follows what its language leaves unlimited. Nothing that holds for a program is said where a run meets one of these.
    pub bounds: Vec<Bound>,
    /// What goes wrong at assertions that the text does not have, in the words of its language.
    pub faults: Vec<Fault>,
}

/// An assertion that stands for something that the language of the text calls by another name: a use of freed memory, an index out of range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The thread …
    pub thread: ThreadId,
    /// … and the point where the assertion stands.
    pub from: PointId,
    /// What goes wrong.
    pub message: String,
}

/// Something that the language of the text does not limit and the program does: depth of calls, memory that is allocated, threads that are created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What is limited, and how to raise it.
    pub message: String,
    /// Threads that arrive at this label go no further: a run that gets there is longer in the language of the text.
    pub at: Vec<(ThreadId, LabelId)>,
    /// Where it is in the text.
    pub span: Span,
}

impl Bound {
    /// The message of a bound where the language goes on with a number that has wrapped around.
    pub const WRAPS: &str = "an atomic number wraps around here";
}

/// One location of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// As the user writes it: `x`, `flag[1]`, or an address such as `17` for automata.
    pub name: String,
    /// The number that stands for the location in pointers. Ascending in [`Program::locations`].
    pub address: Value,
    /// The value at the beginning.
    pub initial: Value,
    /// Takes plain loads and stores only; a data race on it is a violation under RA.
    pub nonatomic: bool,
    /// The array that it is an element of: the id of element 0, and the number of elements.
    pub array: Option<(LocationId, u32)>,
    /// Where it is declared.
    pub span: Span,
}

/// The code of a thread, and how many copies of it run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The name in the text.
    pub name: String,
    /// How many copies run.
    pub copies: Copies,
    /// How copies are called.
    pub copy_naming: CopyNaming,
    /// The registers; all start as 0, but for `me`.
    pub registers: Vec<Register>,
    /// The register that holds the copy's number from the beginning, where the code uses `me`.
    /// Copies of a thread without it are interchangeable.
    pub me: Option<RegisterId>,
    /// The control points.
    pub points: Vec<Point>,
    /// Where each copy begins.
    pub initial: PointId,
    /// The instructions, sorted by [`Transition::from`]; see [`Thread::outgoing`].
    pub transitions: Vec<Transition>,
    /// The labels of statements.
    pub labels: Vec<Label>,
    /// Where it is declared.
    pub span: Span,
}

/// How many copies of a thread's code run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Copies {
    /// Just one, without a number.
    One,
    /// `thread t[n]`: that many.
    Fixed(u32),
    /// `thread t[*]`: any number.
    Any,
}

/// How the copies of a thread are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyNaming {
    /// `t[0]`, `t[1]`, …
    Bracket,
    /// `t`, `t_1`, … as Persist calls them.
    Underscore,
}

/// A register of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The user's name; `None` for a register that only holds a value within a statement.
    pub name: Option<String>,
    /// Where it is declared, or the expression whose value it holds.
    pub span: Span,
}

/// A control point. A point without outgoing transitions is the thread's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The state's name, in automata.
    pub name: Option<String>,
    /// Whether a thread that stands here is inside an `atomic` block. Points are made so that this is known.
    pub atomic: bool,
    /// Where a fence would be written to stand just before everything that leaves this point.
    pub place: Option<PlaceId>,
    /// The statement that begins here.
    pub span: Span,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Where it can be executed.
    pub from: PointId,
    /// Where the thread is afterwards.
    pub to: PointId,
    /// What it does.
    pub op: Op,
    /// The text that it comes from.
    pub span: Span,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Nothing, as a step: the user's `skip`, `goto`, `break`, `noop`.
    Skip,
    /// Nothing, and no step: it only joins the pieces that a front end makes of a text (a block's end and what follows it, say).
    ///
    /// A thread that stands before a jump stands behind it already: every interpreter follows jumps at once, so labels and `end`
    /// behind it count. A jump is the only transition that leaves its point, and jumps form no cycle (the way back of an empty
    /// `loop { }` is a [`Op::Skip`]).
    Jump,
    /// Sets a register (the value is taken into the domain).
    Assign(RegisterId, RegisterExpr),
    /// Goes on only where the condition is not 0.
    Assume(RegisterExpr),
    /// Goes on where the condition is not 0; otherwise the thread stops, and that is an error of the program.
    Assert(RegisterExpr),
    /// Reads memory into a register.
    Load {
        /// Gets the value.
        register: RegisterId,
        /// Which location.
        address: Address<RegisterId>,
        /// As written, or `Acquire`.
        order: Order,
    },
    /// Writes memory (the value is taken into the domain).
    Store {
        /// Which location.
        address: Address<RegisterId>,
        /// What is written.
        value: RegisterExpr,
        /// As written, or `Release`.
        order: Order,
    },
    /// Reads and writes memory in one step.
    Rmw {
        /// Gets the value that was read.
        register: Option<RegisterId>,
        /// Which location.
        address: Address<RegisterId>,
        /// What is done.
        action: RmwAction,
        /// As written, or `AcqRel`.
        order: Order,
    },
    /// Reads memory once it holds a value in the given relation to `value`; until then no event happens.
    Wait {
        /// Gets the value that was read.
        register: Option<RegisterId>,
        /// Which location.
        address: Address<RegisterId>,
        /// The relation that the value read must have …
        relation: Relation,
        /// … to this one.
        value: RegisterExpr,
        /// As written, or `Acquire`.
        order: Order,
    },
    /// A fence. Only `SeqCst` does anything in the models that we have.
    Fence(Order),
    /// From here to the matching end no other thread touches memory.
    AtomicBegin,
    /// The end of the block.
    AtomicEnd,
}

impl Op {
    /// The expressions that are evaluated, those of the address included.
    pub fn operands(&self) -> Vec<&RegisterExpr> {
        let mut operands = Vec::new();
        match self.address() {
            Some(Address::Element { index, .. }) => operands.push(index),
            Some(Address::Pointer(pointer)) => operands.push(pointer),
            Some(Address::Direct(_)) | None => {}
        }
        match self {
            Op::Assign(_, value) | Op::Assume(value) | Op::Assert(value) => operands.push(value),
            Op::Store { value, .. } | Op::Wait { value, .. } => operands.push(value),
            Op::Rmw { action, .. } => match action {
                RmwAction::CompareAndSwap {
                    expected, desired, ..
                }
                | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                    operands.extend([expected, desired]);
                }
                RmwAction::Fetch(_, operand) | RmwAction::Exchange(operand) => {
                    operands.push(operand);
                }
            },
            _ => {}
        }
        operands
    }

    /// The location that is accessed.
    pub fn address(&self) -> Option<&Address<RegisterId>> {
        match self {
            Op::Load { address, .. }
            | Op::Store { address, .. }
            | Op::Rmw { address, .. }
            | Op::Wait { address, .. } => Some(address),
            _ => None,
        }
    }

    /// Whether it is a load or a store such as a `nonatomic` location takes: one without an order of its own.
    pub fn is_plain(&self) -> bool {
        match self {
            Op::Load { order, .. } => order.is_plain(Order::Acquire),
            Op::Store { order, .. } => order.is_plain(Order::Release),
            _ => false,
        }
    }

    /// Calls `visit` for every register that is read.
    pub fn for_each_register(&self, visit: &mut impl FnMut(RegisterId)) {
        for operand in self.operands() {
            operand.for_each_atom(&mut |register| visit(*register));
        }
    }

    /// The register that gets a value.
    pub fn target(&self) -> Option<RegisterId> {
        match self {
            Op::Assign(register, _) | Op::Load { register, .. } => Some(*register),
            Op::Rmw { register, .. } | Op::Wait { register, .. } => *register,
            _ => None,
        }
    }
}

/// What a read-modify-write does. Operands are evaluated before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RmwAction {
    /// `cas`: writes `desired` if `expected` was read, and is a load otherwise.
    ///
    /// One that may fail for no reason (`compare_exchange_weak`) is a choice between this and a load with the order `failure`.
    CompareAndSwap {
        /// What must be there.
        expected: RegisterExpr,
        /// What is written.
        desired: RegisterExpr,
        /// The order of the load that it is where it fails: as written, or [`Order::without_release`] of its order.
        failure: Order,
    },
    /// `bcas`: waits for `expected` and writes `desired`.
    BlockingCompareAndSwap {
        /// What must be there.
        expected: RegisterExpr,
        /// What is written.
        desired: RegisterExpr,
    },
    /// `fadd` and its relatives: writes `old OP operand`.
    Fetch(BinaryOp, RegisterExpr),
    /// `xchg`.
    Exchange(RegisterExpr),
}

/// An expression in a thread's code.
pub type RegisterExpr = Expr<RegisterId>;

/// Which location an access touches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address<A> {
    /// A location by its name.
    Direct(LocationId),
    /// An element of an array; a program error where the index is out of range.
    Element {
        /// Element 0.
        first: LocationId,
        /// How many elements there are.
        length: u32,
        /// Which one.
        index: Expr<A>,
    },
    /// The location whose address is the value; a program error where there is none.
    Pointer(Expr<A>),
}

impl<A> Address<A> {
    /// The expression that says which location; none where its name does.
    pub fn expr(&self) -> Option<&Expr<A>> {
        match self {
            Address::Direct(_) => None,
            Address::Element { index, .. } => Some(index),
            Address::Pointer(pointer) => Some(pointer),
        }
    }

    /// The same address with another expression in it.
    pub fn map<B>(&self, change: impl FnOnce(&Expr<A>) -> Expr<B>) -> Address<B> {
        match self {
            Address::Direct(location) => Address::Direct(*location),
            Address::Element {
                first,
                length,
                index,
            } => Address::Element {
                first: *first,
                length: *length,
                index: change(index),
            },
            Address::Pointer(pointer) => Address::Pointer(change(pointer)),
        }
    }

    /// The location that it means, given what its expression evaluates to.
    pub fn locate(
        &self,
        program: &Program,
        evaluate: impl FnOnce(&Expr<A>) -> Result<Value, ProgramError>,
    ) -> Result<LocationId, ProgramError> {
        match self {
            Address::Direct(location) => Ok(*location),
            Address::Element {
                first,
                length,
                index,
            } => {
                let index = evaluate(index)?;
                match (0..Value::from(*length)).contains(&index) {
                    true => Ok(LocationId(first.0 + index as u32)),
                    false => Err(ProgramError::IndexOutOfRange(index, *length)),
                }
            }
            Address::Pointer(pointer) => {
                let address = evaluate(pointer)?;
                let location = program.location_at(address);
                location.ok_or(ProgramError::NoSuchLocation(address))
            }
        }
    }

    /// The locations that it may mean, given the values that its expression may have (`None` where nothing is known of them). `None` for all.
    pub fn may_mean(
        &self,
        program: &Program,
        values: impl FnOnce(&Expr<A>) -> Option<Vec<Value>>,
    ) -> Option<Vec<LocationId>> {
        match self {
            Address::Direct(location) => Some(vec![*location]),
            Address::Element {
                first,
                length,
                index,
            } => Some(match values(index) {
                Some(values) => values
                    .into_iter()
                    .filter(|v| (0..Value::from(*length)).contains(v))
                    .map(|v| LocationId(first.0 + v as u32))
                    .collect(),
                None => (0..*length).map(|i| LocationId(first.0 + i)).collect(),
            }),
            Address::Pointer(pointer) => {
                let addresses = values(pointer)?.into_iter();
                Some(addresses.filter_map(|a| program.location_at(a)).collect())
            }
        }
    }
}

/// The order of an access or a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Order {
    /// A plain access, which races with every other one that it is not ordered with. Accesses of a [`Location::nonatomic`] location are plain, whatever their order says.
    NonAtomic,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    /// How it is written.
    pub fn name(self) -> &'static str {
        match self {
            Order::NonAtomic => "nonatomic",
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acqrel",
            Order::SeqCst => "seqcst",
        }
    }

    /// Whether a read or a fence with this order acquires.
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Whether a write or a fence with this order releases.
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }

    /// Whether it says no more than nothing would, where `default` stands for an order that was not written: then the access may go to a
    /// [`Location::nonatomic`] location.
    pub fn is_plain(self, default: Order) -> bool {
        self == default || self == Order::NonAtomic
    }

    /// The order of the load that a failed `cas` with this order is, where nothing else is said.
    pub fn without_release(self) -> Order {
        match self {
            Order::Release => Order::Relaxed,
            Order::AcqRel => Order::Acquire,
            order => order,
        }
    }
}

/// A label of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The name.
    pub name: String,
    /// The points at which the labelled statement is about to be executed: one for each inlined copy.
    pub points: Vec<PointId>,
    /// Where it is written.
    pub span: Span,
}

/// `never e;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Never {
    /// Each must be 0 in every reachable state; where it runs into an error, it is. One as written, and one for each choice of copies where they are
    /// chosen freely.
    pub conditions: Vec<Expr<StateAtom>>,
    /// Where it is written.
    pub span: Span,
}

/// What a `never` can speak of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StateAtom {
    /// 1 if the thread is about to execute the labelled statement.
    At(CopyRef, LabelRef),
    /// A register.
    Register(CopyRef, RegisterId),
    /// The content of memory. A program error in the address makes the `never` false in that state.
    Memory(Box<Address<StateAtom>>),
    /// 1 where no thread can move and not all have ended.
    Deadlock,
}

/// One copy of a thread, or some copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopyRef {
    /// The code.
    pub thread: ThreadId,
    /// The copy's number. `None`: the only copy, or (for [`StateAtom::At`]) some copy.
    /// For [`Copies::Any`], different numbers stand for any distinct copies.
    pub copy: Option<u32>,
}

/// A label in a `never`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LabelRef {
    /// A label of the thread.
    Label(LabelId),
    /// The thread's end.
    End,
}

/// A place in the source text where a fence can be put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The thread it belongs to; `None` in a function that several threads call.
    pub thread: Option<ThreadId>,
    /// What kind of place it is.
    pub kind: PlaceKind,
    /// The name of the state, or the label of the statement.
    pub name: Option<String>,
    /// The statement (for [`PlaceKind::BeforeStatement`]), the closing brace, or the first transition that leaves the state.
    pub span: Span,
}

/// What kind of place a [`Place`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaceKind {
    /// Before a statement.
    BeforeStatement,
    /// At the closing brace of a block.
    BlockEnd,
    /// In an automaton: before everything that leaves a state.
    State,
}

/// A running copy of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its code.
    pub thread: ThreadId,
    /// Its number among the copies of that code; also the value of `me`.
    pub copy: u32,
    /// What it is called.
    pub name: String,
}

impl Thread {
    /// The instructions that leave a point.
    pub fn outgoing(&self, point: PointId) -> &[Transition] {
        let begin = self.transitions.partition_point(|t| t.from < point);
        let length = self.transitions[begin..].partition_point(|t| t.from == point);
        &self.transitions[begin..begin + length]
    }

    /// The point where a thread that arrives at `point` really stands: behind all jumps.
    pub fn behind_jumps(&self, mut point: PointId) -> PointId {
        while let [
            Transition {
                op: Op::Jump, to, ..
            },
        ] = self.outgoing(point)
        {
            point = *to;
        }
        point
    }

    /// Whether a thread that stands here has ended.
    pub fn is_end(&self, point: PointId) -> bool {
        self.outgoing(point).is_empty()
    }

    /// The name of a copy.
    pub fn copy_name(&self, copy: u32) -> String {
        match (self.copies, self.copy_naming) {
            (Copies::One, _) => self.name.clone(),
            (_, CopyNaming::Bracket) => format!("{}[{copy}]", self.name),
            (_, CopyNaming::Underscore) if copy == 0 => self.name.clone(),
            (_, CopyNaming::Underscore) => format!("{}_{copy}", self.name),
        }
    }

    /// Puts the transitions into the order that [`Thread::outgoing`] needs. The order among the transitions of one point stays.
    pub fn sort_transitions(&mut self) {
        // Transitions are large: their places are sorted, and each is moved once.
        self.transitions.sort_by_cached_key(|t| t.from);
    }
}

impl Program {
    /// Whether some thread has any number of copies.
    pub fn is_parameterised(&self) -> bool {
        self.threads.iter().any(|t| t.copies == Copies::Any)
    }

    /// The same program with `copies` copies of each thread that has any number of them.
    pub fn with_copies(&self, copies: u32) -> Program {
        let mut program = self.clone();
        let mut chosen_freely = vec![None; program.threads.len()];
        for (thread, chosen) in program.threads.iter_mut().zip(&mut chosen_freely) {
            if thread.copies == Copies::Any {
                thread.copies = Copies::Fixed(copies);
                *chosen = Some(copies);
            }
        }
        program.nevers = crate::never::for_distinct_copies(&program.nevers, &chosen_freely);
        program
    }

    /// The running copies, in the order of the text. A thread with any number of copies counts as none.
    pub fn instances(&self) -> Vec<Instance> {
        let mut instances = Vec::new();
        for (index, thread) in self.threads.iter().enumerate() {
            let copies = match thread.copies {
                Copies::One => 1,
                Copies::Fixed(copies) => copies,
                Copies::Any => 0,
            };
            for copy in 0..copies {
                instances.push(Instance {
                    thread: ThreadId(index as u32),
                    copy,
                    name: thread.copy_name(copy),
                });
            }
        }
        instances
    }

    /// The code of a thread.
    pub fn thread(&self, thread: ThreadId) -> &Thread {
        &self.threads[thread.index()]
    }

    /// A location.
    pub fn location(&self, location: LocationId) -> &Location {
        &self.locations[location.index()]
    }

    /// The location with this address, if there is one.
    pub fn location_at(&self, address: Value) -> Option<LocationId> {
        let first = self.locations.first()?.address;
        // Addresses are consecutive in nearly every program.
        if let Ok(guess) = usize::try_from(address.wrapping_sub(first))
            && self
                .locations
                .get(guess)
                .is_some_and(|l| l.address == address)
        {
            return Some(LocationId(guess as u32));
        }
        self.locations
            .binary_search_by_key(&address, |l| l.address)
            .ok()
            .map(|index| LocationId(index as u32))
    }

    /// What goes wrong where an instruction is an error of the program, with the text of the instruction.
    pub fn error_in_words(&self, thread: usize, transition: usize, error: ProgramError) -> String {
        let transition = &self.threads[thread].transitions[transition];
        let here = |fault: &&Fault| fault.thread.index() == thread && fault.from == transition.from;
        let fault = match error {
            ProgramError::AssertionFailed => self.faults.iter().find(here),
            _ => None,
        };
        let what = match (fault, error) {
            (Some(fault), _) => fault.message.clone(),
            (None, ProgramError::NoSuchLocation(address)) if self.language == Language::C => {
                self.nowhere_in_words(address)
            }
            (None, error) => error.to_string(),
        };
        format!("{what}: `{}`", self.source.slice(transition.span).trim())
    }

    /// What a pointer of a C program is that points at nothing.
    fn nowhere_in_words(&self, address: Value) -> String {
        let before = self.locations.partition_point(|l| l.address < address);
        match before.checked_sub(1) {
            _ if address == 0 => "a null pointer is followed".to_owned(),
            None if address > 0 => format!(
                "there is nothing at the address {address}, to which this goes, as from a null pointer to a member or from an object to what is beside it"
            ),
            Some(last) => format!(
                "there is nothing at the address {address}, to which this goes: the last that there is before it is `{}`",
                self.locations[last].name
            ),
            None => ProgramError::NoSuchLocation(address).to_string(),
        }
    }

    /// The same program with a fence (`SeqCst`) at each of these places.
    ///
    /// Every point at such a place becomes two, with the fence between them: a thread that was to arrive at the point executes the fence
    /// first. Labels stay with the statement, behind the fence.
    pub fn with_fences(&self, places: &[PlaceId]) -> Program {
        let fences: Vec<_> = places.iter().map(|p| (*p, Order::SeqCst)).collect();
        self.with_ordered_fences(&fences)
    }

    /// The same with fences of any orders.
    pub fn with_ordered_fences(&self, fences: &[(PlaceId, Order)]) -> Program {
        let mut program = self.clone();
        for (number, thread) in program.threads.iter_mut().enumerate() {
            for index in 0..thread.points.len() {
                let point = &thread.points[index];
                let wanted = |place: PlaceId| fences.iter().find(|(p, _)| *p == place);
                let Some(&(place, order)) = point.place.and_then(wanted) else {
                    continue;
                };
                let before = PointId(index as u32);
                let after = PointId(thread.points.len() as u32);
                let moved = Point {
                    place: None,
                    ..point.clone()
                };
                let span = program.places[place.index()].span;
                thread.points.push(moved);
                for transition in &mut thread.transitions {
                    if transition.from == before {
                        transition.from = after;
                    }
                }
                let here = ThreadId(number as u32);
                for fault in &mut program.faults {
                    if (fault.thread, fault.from) == (here, before) {
                        fault.from = after;
                    }
                }
                for label in &mut thread.labels {
                    for point in &mut label.points {
                        if *point == before {
                            *point = after;
                        }
                    }
                }
                thread.transitions.push(Transition {
                    from: before,
                    to: after,
                    op: Op::Fence(order),
                    span,
                });
            }
            thread.sort_transitions();
        }
        program
    }
}
