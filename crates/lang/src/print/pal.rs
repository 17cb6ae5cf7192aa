//! A program as `.pal` text that means the same when it is read again ([`crate::same_program`]).
//!
//! The automaton of each thread is written as structured code where its shape allows it: what a point dominates stands behind it, two
//! complementary `assume`s are an `if` (or a `while`, where the branch leads back), a load whose value is used once, in the next
//! instruction, stands in it as in the user's text, and every other way is a `goto`. Labels stand only at the targets of jumps, or where
//! the program had them.
//!
//! # Addresses
//! Locations in `.pal` have the addresses 1, 2, 3, … in the order of declaration. Where the program's addresses are just these, or
//! nothing in it computes an address, locations are declared one by one. Otherwise (automata, whose addresses are arbitrary numbers) the
//! memory becomes one array `mem`, whose element `i` is the location with the address `lowest + i`, and the access to a computed address
//! `e` is `mem[e - lowest]`. So the program's pointers keep their values, 0 included, and an address below the lowest or above the
//! highest is an index out of range: an error of the program as before. Gaps between the addresses become elements that start as 0.

mod code;
mod expr;
mod flow;
mod names;

use std::collections::HashMap;

use crate::expr::{Expr, Value};
use crate::program::{
    Address, Copies, CopyRef, LabelRef, Location, LocationId, Op, Order, Program, RegisterId,
    RmwAction, StateAtom,
};

use self::expr::{Piece, write_expr};
use self::names::{Names, legal};

/// Above this many elements, the gaps between addresses are too large for one array.
const MAX_MEMORY: Value = 1 << 20;

/// Prints the program.
pub fn to_pal(program: &Program) -> String {
    let printer = Printer::new(program);
    let mut text = String::new();
    if let Some(name) = &program.name {
        text += &format!("program {};\n", legal(name, "p"));
    }
    if let Some(size) = program.domain.size() {
        text += &format!("domain {size};\n");
    }
    printer.declarations(&mut text);
    let mut labels = Vec::new();
    for (index, thread) in program.threads.iter().enumerate() {
        let copies = match thread.copies {
            Copies::One => String::new(),
            Copies::Fixed(copies) => format!("[{copies}]"),
            Copies::Any => "[*]".to_string(),
        };
        text += &format!("\nthread {}{copies} {{\n", printer.threads[index]);
        labels.push(code::thread(&printer, index, &mut text));
        text += "}\n";
    }
    if !program.nevers.is_empty() {
        text.push('\n');
    }
    for condition in program.nevers.iter().flat_map(|n| &n.conditions) {
        let condition = printer.state_expr(condition, &labels, 0);
        text += &format!("never {condition};\n");
    }
    text
}

/// How memory is declared.
enum Memory {
    /// One by one.
    Names,
    /// As one array, whose element 0 has this address.
    Array { lowest: Value },
}

/// Registers that stand for a load within the same statement, and how that load is written.
type Loads = HashMap<RegisterId, Piece>;

/// The names of everything.
struct Printer<'p> {
    program: &'p Program,
    memory: Memory,
    /// Of each location, as it is written in an access; of an array's element without the index.
    locations: Vec<String>,
    threads: Vec<String>,
    /// Of each thread's registers.
    registers: Vec<Vec<String>>,
}

impl<'p> Printer<'p> {
    fn new(program: &'p Program) -> Self {
        let by_address = program
            .locations
            .iter()
            .zip(1..)
            .all(|(location, address)| location.address == address);
        let lowest = program.locations.first().map_or(0, |l| l.address);
        let memory = match by_address || !computes_addresses(program) {
            true => Memory::Names,
            false => Memory::Array { lowest },
        };
        let mut values = Names::default();
        let mut locations: Vec<String> = Vec::with_capacity(program.locations.len());
        match memory {
            Memory::Array { .. } => {
                let mem = values.fresh("mem", "mem");
                locations.resize(program.locations.len(), mem);
            }
            Memory::Names => {
                for (index, location) in program.locations.iter().enumerate() {
                    let name = match location.array {
                        Some((first, _)) if first.index() < index => {
                            locations[first.index()].clone()
                        }
                        Some(_) => {
                            let base = location.name.rsplit_once('[').map_or("", |(base, _)| base);
                            values.fresh(base, "a")
                        }
                        None => values.fresh(&location.name, "m"),
                    };
                    locations.push(name);
                }
            }
        }
        let mut thread_names = Names::default();
        let mut threads = Vec::new();
        let mut registers = Vec::new();
        for thread in &program.threads {
            threads.push(thread_names.fresh(&thread.name, "t"));
            // Registers must not hide the locations.
            let mut own = values.clone();
            let mut names = vec![String::new(); thread.registers.len()];
            // The user's names first, so that they stay as they are.
            for named in [true, false] {
                for (index, register) in thread.registers.iter().enumerate() {
                    if register.name.is_some() != named {
                        continue;
                    }
                    let me = thread.me.is_some_and(|me| me.index() == index);
                    names[index] = match &register.name {
                        _ if me => "me".to_string(),
                        Some(name) => own.fresh(name, "r"),
                        None => own.fresh("t1", "t"),
                    };
                }
            }
            registers.push(names);
        }
        Printer {
            program,
            memory,
            locations,
            threads,
            registers,
        }
    }

    fn declarations(&self, text: &mut String) {
        let program = self.program;
        if let Memory::Array { lowest } = self.memory {
            let highest = program.locations.last().map_or(lowest, |l| l.address);
            let length = highest
                .wrapping_sub(lowest)
                .wrapping_add(1)
                .clamp(1, MAX_MEMORY);
            let nonatomic = program.locations.iter().all(|l| l.nonatomic);
            let mut initial = vec![0; length as usize];
            for location in &program.locations {
                if let Some(value) = initial.get_mut(location.address.wrapping_sub(lowest) as usize)
                {
                    *value = location.initial;
                }
            }
            declare(text, nonatomic, &self.locations[0], Some(&initial), 0);
            return;
        }
        let mut index = 0;
        while let Some(location) = program.locations.get(index) {
            let length = location
                .array
                .map_or(1, |(_, length)| length.max(1) as usize);
            let initial: Vec<Value> = program
                .locations
                .iter()
                .skip(index)
                .take(length)
                .map(|l| l.initial)
                .collect();
            let array = location.array.map(|_| initial.as_slice());
            declare(
                text,
                location.nonatomic,
                &self.locations[index],
                array,
                location.initial,
            );
            index += length;
        }
    }

    /// A place, as it is written on either side of an assignment.
    fn place<A>(&self, address: &Address<A>, atom: &mut impl FnMut(&A) -> Piece) -> String {
        match address {
            Address::Direct(location) => self.location(*location),
            Address::Element {
                first,
                length,
                index,
            } => {
                let name = &self.locations[first.index()];
                let Memory::Array { lowest } = self.memory else {
                    return format!("{name}[{}]", write_expr(self, index, 0, atom));
                };
                // C's and Rust's arrays, whose elements may be apart. What is outside the array is an error, and not another object's.
                let address = |id: LocationId| self.program.location(id).address;
                let offset = address(*first).wrapping_sub(lowest);
                let checked = format!("index({}, {length})", write_expr(self, index, 0, atom));
                match *length {
                    0 | 1 => format!("{name}[{offset} + {checked}]"),
                    _ => match address(LocationId(first.0 + 1)) - address(*first) {
                        1 => format!("{name}[{offset} + {checked}]"),
                        apart => format!("{name}[{offset} + {checked} * {apart}]"),
                    },
                }
            }
            Address::Pointer(pointer) => match self.memory {
                Memory::Names => {
                    format!("*{}", write_expr(self, pointer, u8::MAX, atom))
                }
                Memory::Array { lowest } => {
                    let name = &self.locations[0];
                    let offset = lowest.unsigned_abs();
                    match lowest {
                        0 => format!("{name}[{}]", write_expr(self, pointer, 0, atom)),
                        1.. => format!("{name}[{} - {offset}]", write_expr(self, pointer, 9, atom)),
                        _ => format!("{name}[{} + {offset}]", write_expr(self, pointer, 9, atom)),
                    }
                }
            },
        }
    }

    fn location(&self, id: LocationId) -> String {
        let location: &Location = self.program.location(id);
        let name = &self.locations[id.index()];
        match (&self.memory, location.array) {
            (Memory::Array { lowest }, _) => {
                format!("{name}[{}]", location.address.wrapping_sub(*lowest))
            }
            (_, Some((first, _))) => format!("{name}[{}]", id.0.wrapping_sub(first.0)),
            (_, None) => name.clone(),
        }
    }

    /// An instruction as a statement, without the `;`. Jumps and the ends of `atomic` blocks are not for here.
    /// `loads` stands for registers that are loaded within the statement.
    fn statement(&self, thread: usize, op: &Op, loads: &Loads) -> String {
        let registers = &self.registers[thread];
        let mut atom = |r: &RegisterId| self.register(thread, *r, loads);
        let order_after = |order: &Order, default: Order| match *order == default {
            true => String::new(),
            false => format!(", {}", order.name()),
        };
        let into = |register: &Option<RegisterId>| match register {
            Some(r) => format!("{} = ", registers[r.index()]),
            None => String::new(),
        };
        let mut value = |e: &Expr<RegisterId>| write_expr(self, e, 0, &mut atom);
        match op {
            Op::Skip | Op::Jump | Op::AtomicBegin => "skip".into(),
            Op::AtomicEnd => "assume 0".into(),
            Op::Assign(register, e) => format!("{} = {}", registers[register.index()], value(e)),
            Op::Assume(e) => format!("assume {}", value(e)),
            Op::Assert(e) => format!("assert {}", value(e)),
            Op::Load {
                register,
                address,
                order,
            } => {
                let load = self.load(thread, address, *order, loads);
                format!("{} = {}", registers[register.index()], load.text())
            }
            Op::Store {
                address,
                value: e,
                order,
            } => {
                let e = value(e);
                let place = self.place(address, &mut atom);
                match order {
                    Order::Release => format!("{place} = {e}"),
                    order => format!("{place}.store({e}, {})", order.name()),
                }
            }
            Op::Rmw {
                register,
                address,
                action,
                order,
            } => {
                let (function, arguments) = match action {
                    RmwAction::CompareAndSwap {
                        expected,
                        desired,
                        failure,
                    } => {
                        let arguments = format!("{}, {}", value(expected), value(desired));
                        match *failure == order.without_release() {
                            true => ("cas", arguments),
                            false => {
                                let place = self.place(address, &mut atom);
                                let orders = format!("{}, {}", order.name(), failure.name());
                                return format!(
                                    "{}cas({place}, {arguments}, {orders})",
                                    into(register)
                                );
                            }
                        }
                    }
                    RmwAction::BlockingCompareAndSwap { expected, desired } => {
                        ("bcas", format!("{}, {}", value(expected), value(desired)))
                    }
                    RmwAction::Fetch(op, e) => (crate::pal::fetch_name(*op), value(e)),
                    RmwAction::Exchange(e) => ("xchg", value(e)),
                };
                let place = self.place(address, &mut atom);
                let order = order_after(order, Order::AcqRel);
                format!("{}{function}({place}, {arguments}{order})", into(register))
            }
            Op::Wait {
                register,
                address,
                relation,
                value: e,
                order,
            } => {
                let e = write_expr(self, e, 8, &mut atom);
                let place = self.place(address, &mut atom);
                let order = order_after(order, Order::Acquire);
                format!(
                    "{}wait({place} {} {e}{order})",
                    into(register),
                    relation.symbol()
                )
            }
            Op::Fence(Order::SeqCst) => "fence".into(),
            Op::Fence(order) => format!("fence({})", order.name()),
        }
    }

    /// What a load reads, as an expression.
    fn load(
        &self,
        thread: usize,
        address: &Address<RegisterId>,
        order: Order,
        loads: &Loads,
    ) -> Piece {
        let place = self.place(address, &mut |r: &RegisterId| {
            self.register(thread, *r, loads)
        });
        match order {
            Order::Acquire => Piece::primary(place),
            order => Piece::postfix(format!("{place}.load({})", order.name())),
        }
    }

    fn register(&self, thread: usize, register: RegisterId, loads: &Loads) -> Piece {
        match loads.get(&register) {
            Some(load) => load.clone(),
            None => Piece::primary(self.registers[thread][register.index()].clone()),
        }
    }

    fn condition(&self, thread: usize, e: &Expr<RegisterId>, loads: &Loads) -> String {
        write_expr(self, e, 0, &mut |r: &RegisterId| {
            self.register(thread, *r, loads)
        })
    }

    fn state_expr(&self, e: &Expr<StateAtom>, labels: &[Vec<Vec<String>>], binding: u8) -> String {
        write_expr(self, e, binding, &mut |atom: &StateAtom| {
            self.state_atom(atom, labels)
        })
    }

    fn state_atom(&self, atom: &StateAtom, labels: &[Vec<Vec<String>>]) -> Piece {
        let copy_name = |copy: &CopyRef| {
            let name = &self.threads[copy.thread.index()];
            match copy.copy {
                None => name.clone(),
                // `t[0]` of a thread that has just one copy.
                Some(_) if self.program.thread(copy.thread).copies == Copies::One => name.clone(),
                Some(copy) => format!("{name}[{copy}]"),
            }
        };
        match atom {
            StateAtom::At(copy, LabelRef::End) => {
                Piece::primary(format!("{}@end", copy_name(copy)))
            }
            StateAtom::At(copy, LabelRef::Label(label)) => {
                let name = copy_name(copy);
                let ways: Vec<String> = labels[copy.thread.index()][label.index()]
                    .iter()
                    .map(|label| format!("{name}@{label}"))
                    .collect();
                match ways.len() {
                    0 => Piece::primary("0".into()),
                    1 => Piece::primary(ways.concat()),
                    _ => Piece::primary(format!("({})", ways.join(" || "))),
                }
            }
            StateAtom::Register(copy, register) => {
                let names = &self.registers[copy.thread.index()];
                Piece::primary(format!("{}.{}", copy_name(copy), names[register.index()]))
            }
            StateAtom::Memory(address) => {
                // A closure inside itself has no type, so the inner expression is written first.
                let written = address.map(|expr| self.written(expr, labels));
                Piece::primary(self.place(&written, &mut |piece: &Piece| piece.clone()))
            }
            StateAtom::Deadlock => Piece::primary("deadlock".into()),
        }
    }

    fn written(&self, e: &Expr<StateAtom>, labels: &[Vec<Vec<String>>]) -> Expr<Piece> {
        e.map_atoms(&mut |atom| Expr::Atom(self.state_atom(atom, labels)))
    }
}

fn declare(
    text: &mut String,
    nonatomic: bool,
    name: &str,
    array: Option<&[Value]>,
    initial: Value,
) {
    if nonatomic {
        *text += "nonatomic ";
    }
    *text += &format!("shared {name}");
    match array {
        None if initial == 0 => {}
        None => *text += &format!(" = {initial}"),
        Some(values) => {
            *text += &format!("[{}]", values.len());
            let first = values.first().copied().unwrap_or(0);
            if values.iter().any(|v| *v != first) {
                let list: Vec<String> = values.iter().map(Value::to_string).collect();
                *text += &format!(" = [{}]", list.join(", "));
            } else if first != 0 {
                *text += &format!(" = {first}");
            }
        }
    }
    *text += ";\n";
}

/// Whether some address is computed or taken, so that the numbers of locations matter.
fn computes_addresses(program: &Program) -> bool {
    fn takes<A>(e: &Expr<A>) -> bool {
        match e {
            Expr::Const(_) | Expr::Atom(_) => false,
            Expr::Unary(_, operand) => takes(operand),
            Expr::Binary(_, left, right) => takes(left) || takes(right),
            Expr::Element { .. } => true,
        }
    }
    let in_threads = program
        .threads
        .iter()
        .flat_map(|t| &t.transitions)
        .any(|t| {
            matches!(t.op.address(), Some(Address::Pointer(_)))
                || t.op.operands().into_iter().any(takes)
        });
    in_threads
        || program
            .nevers
            .iter()
            .flat_map(|n| &n.conditions)
            .any(|condition| {
                let mut found = takes(condition);
                crate::equal::visit_atoms(condition, &mut |atom| {
                    if let StateAtom::Memory(address) = atom {
                        found |= match &**address {
                            Address::Direct(_) => false,
                            Address::Element { index, .. } => takes(index),
                            Address::Pointer(_) => true,
                        };
                    }
                });
                found
            })
}
