//! The middle form: functions of basic blocks over registers, and memory made of cells.

use palisade_lang::{BinaryOp, Expr, Language, Order, Relation, Source, Span, Value};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The index as `usize`.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
ids! {
    /// Index of an object in [`Unit::objects`].
    ObjectId,
    /// Index of a function in [`Unit::functions`].
    FunctionId,
    /// Index of a variable in [`Function::locals`].
    LocalId,
    /// Index of a block in [`Function::blocks`].
    BlockId,
}

/// A whole program of a language with functions.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The name that the program gives itself.
    pub name: Option<String>,
    /// Its text.
    pub source: Source,
    /// The language of the text.
    pub language: Language,
    /// What has static storage.
    pub objects: Vec<Object>,
    /// All functions that can be called.
    pub functions: Vec<Function>,
    /// Where the program begins. Its parameters are 0.
    pub entry: FunctionId,
    /// How far what C and Rust leave unlimited is followed.
    pub limits: Limits,
}

/// How far what the languages leave unlimited is followed. A run that would go beyond meets a bound ([`palisade_lang::program::Bound`]).
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How often a function may occur in a chain of calls.
    pub recursion: u32,
    /// How many threads one place in a loop may create.
    pub instances: u32,
    /// How many blocks of memory one place in a loop may allocate, for each thread.
    pub slots: u32,
    /// How far apart the addresses of neighbouring cells are: 1, or more where a program uses the low bits of pointers. The front end multiplies
    /// every offset by it.
    pub stride: Value,
    /// How many cells behind an address a pointer to it may be followed: the largest thing that one points at. No location lies so near to null.
    pub reach: Value,
    /// How many cells from where it was a computed pointer may come to be; 0 where none is computed. So many addresses are left out between objects.
    pub leap: Value,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            recursion: 4,
            instances: 4,
            slots: 4,
            stride: 1,
            reach: 1,
            leap: 0,
        }
    }
}

/// An object with static storage.
#[derive(Clone, Debug)]
pub struct Object {
    /// The user's name.
    pub name: String,
    /// Its scalars, in order.
    pub cells: Vec<Cell>,
    /// Each thread has its own.
    pub thread_local: bool,
    /// Where it is declared.
    pub span: Span,
}

/// One scalar of an object: it becomes one location.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What follows the object's name: nothing, `.next`, `[1].key`.
    pub name: String,
    /// The value at the beginning: a constant, or the address of an object or a function.
    pub initial: ValueExpr,
    /// If it is an element of an array of scalars: the number of the array's first cell in the object, and how many there are.
    pub array: Option<(u32, u32)>,
}

/// A block of memory that ends in an array of any length.
#[derive(Clone, Debug, Default)]
pub struct ArrayBlock {
    /// What comes before the array.
    pub head: Vec<Cell>,
    /// How the array is called: nothing, or `.buffer`.
    pub array: String,
    /// The cells of one element.
    pub element: Vec<Cell>,
}

impl Cell {
    /// A cell that starts as 0 and is no element of an array of scalars.
    pub fn new(name: impl Into<String>) -> Self {
        Cell {
            name: name.into(),
            initial: Expr::Const(0),
            array: None,
        }
    }
}

/// What an expression can mention. Expressions have no effects and read no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// The value of a variable that is a register.
    Local(LocalId),
    /// The address of the first cell of a variable that is in memory.
    AddressOf(LocalId),
    /// The address of the first cell of an object.
    Object(ObjectId),
    /// The number that stands for a function in pointers.
    Function(FunctionId),
}

/// An expression. Values are 64-bit; narrower types wrap where the front end says so ([`crate::wrap`]).
///
/// An address is the number of a cell; the cells of an object have consecutive numbers, and 0 is no cell. [`Expr::Element`] with `first: 0`
/// is its index, checked: `Object(a) + Element { first: 0, length, index }` is the address of an element.
pub type ValueExpr = Expr<Atom>;

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The user's name.
    pub name: String,
    /// Which variables get the arguments; all of them registers.
    pub parameters: Vec<LocalId>,
    /// Parameters and variables.
    pub locals: Vec<Local>,
    /// The code; it begins with block 0.
    pub blocks: Vec<Block>,
    /// Where it is defined.
    pub span: Span,
    /// It is none of the user's: what it does is shown where it is called.
    pub library: bool,
}

/// A variable of a function.
#[derive(Clone, Debug)]
pub struct Local {
    /// The user's name; `None` for a value within a statement.
    pub name: Option<String>,
    /// A register, or the cells that it has in memory.
    pub storage: Storage,
    /// Where it is declared.
    pub span: Span,
}

/// Where a variable lives.
#[derive(Clone, Debug)]
pub enum Storage {
    /// Its address is never taken.
    Register,
    /// These cells. Their initial values are those at the program's beginning: a declaration with a value is a store.
    Memory(Vec<Cell>),
}

/// Steps one after the other, and where they lead.
#[derive(Clone, Debug)]
pub struct Block {
    /// The steps.
    pub steps: Vec<Step>,
    /// What comes then.
    pub end: End,
    /// The text of the end.
    pub span: Span,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done.
    pub action: Action,
    /// The text that it comes from.
    pub span: Span,
}

/// How a block ends.
#[derive(Clone, Debug)]
pub enum End {
    /// Goes on there.
    Goto(BlockId),
    /// Goes on at the first block where the condition is not 0, else at the second.
    Branch(ValueExpr, BlockId, BlockId),
    /// Returns from the function.
    Return(Option<ValueExpr>),
    /// The thread's function returns at once, from however deep (`pthread_exit`).
    Finish(Option<ValueExpr>),
    /// The program ends here (`exit`, `abort`).
    Stop,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Sets a register.
    Assign(LocalId, ValueExpr),
    /// Sets a register to any one of these values.
    Choose(LocalId, Vec<Value>),
    /// Reads a cell.
    Load {
        /// Gets the value.
        to: LocalId,
        /// Which cell.
        address: ValueExpr,
        /// [`Order::NonAtomic`] for plain accesses.
        order: Order,
    },
    /// Reads a cell that may hold nothing yet, to copy it: a plain access.
    Peek {
        /// Gets the value.
        to: LocalId,
        /// Which cell.
        address: ValueExpr,
    },
    /// It is an error of the program if a cell holds a value in this relation to `value` here. Nothing else can tell that it was looked at.
    Never {
        /// Which cell.
        address: ValueExpr,
        /// The relation.
        relation: Relation,
        /// Compared with what.
        value: ValueExpr,
    },
    /// Sets a register to the handle of the thread that executes it.
    ThisThread(LocalId),
    /// Writes a cell.
    Store {
        /// Which cell.
        address: ValueExpr,
        /// What is written.
        value: ValueExpr,
        /// [`Order::NonAtomic`] for plain accesses.
        order: Order,
    },
    /// Reads a cell and writes `old OP operand`.
    Fetch {
        /// Gets the old value.
        to: Option<LocalId>,
        /// Which cell.
        address: ValueExpr,
        /// What is done.
        op: BinaryOp,
        /// With what.
        operand: ValueExpr,
        /// The order.
        order: Order,
    },
    /// Reads a cell and writes another value.
    Exchange {
        /// Gets the old value.
        to: Option<LocalId>,
        /// Which cell.
        address: ValueExpr,
        /// What is written.
        value: ValueExpr,
        /// The order.
        order: Order,
    },
    /// Writes `desired` where `expected` is read.
    CompareExchange {
        /// Gets the value that was read.
        old: LocalId,
        /// Gets 1 where it wrote, else 0.
        success: LocalId,
        /// Which cell.
        address: ValueExpr,
        /// What must be there.
        expected: ValueExpr,
        /// What is written.
        desired: ValueExpr,
        /// The order of a success.
        order: Order,
        /// The order of the load that a failure is.
        failure: Order,
        /// It may also fail where it would succeed.
        weak: bool,
    },
    /// Waits until a cell holds `expected`, and writes `desired` in the same step.
    BlockingCompareExchange {
        /// Which cell.
        address: ValueExpr,
        /// What must be there.
        expected: ValueExpr,
        /// What is written.
        desired: ValueExpr,
        /// The order.
        order: Order,
    },
    /// Waits until a cell holds a value in this relation to `value`, and reads it.
    Wait {
        /// Gets the value that was read.
        to: Option<LocalId>,
        /// Which cell.
        address: ValueExpr,
        /// The relation.
        relation: Relation,
        /// Compared with what.
        value: ValueExpr,
        /// The order of the read.
        order: Order,
    },
    /// A fence.
    Fence(Order),
    /// Goes on only where the value is not 0.
    Assume(ValueExpr),
    /// An error of the program where the value is 0.
    Assert(ValueExpr),
    /// Calls a function, which is inlined.
    Call {
        /// Gets what it returns.
        to: Option<LocalId>,
        /// The function's number: `Expr::Atom(Atom::Function(f))`, or any value that is one of them.
        callee: ValueExpr,
        /// The arguments. Missing ones are 0.
        arguments: Vec<ValueExpr>,
    },
    /// Creates a thread.
    Spawn {
        /// Gets the thread's handle, which is not 0.
        handle: Option<LocalId>,
        /// The function's number, as for a call.
        callee: ValueExpr,
        /// The arguments.
        arguments: Vec<ValueExpr>,
    },
    /// Waits for a thread's end.
    Join {
        /// Its handle.
        handle: ValueExpr,
        /// Gets what the thread's function returned.
        to: Option<LocalId>,
    },
    /// Takes a block of memory that is not in use. Its cells hold what they held before.
    Allocate {
        /// Gets the address of the first cell.
        to: LocalId,
        /// What the block is called in witnesses.
        name: String,
        /// The cells.
        cells: Vec<Cell>,
    },
    /// Takes a block that ends in an array. How long that is should be known before the program is searched: from constants, or from what comes
    /// before the first thread is created. Elsewhere a few lengths are tried.
    AllocateArray {
        /// Gets the address of the first cell.
        to: LocalId,
        /// What the block is called in witnesses.
        name: String,
        /// What is in it.
        block: ArrayBlock,
        /// How many elements.
        count: ValueExpr,
        /// Whether every cell is 0, as `calloc` has it.
        zeroed: bool,
    },
    /// Gives a block of memory back. Nothing happens for address 0.
    Free(ValueExpr),
    /// Nothing else touches memory from here to the matching end.
    AtomicBegin,
    /// The end of such a block.
    AtomicEnd,
    /// A run that comes here goes beyond what is followed, for this reason.
    Bound(String),
    /// Here a statement of the user begins (its text is the step's span): a fence can be put before it.
    Statement,
}
