//! Promela, as a user of SPIN would write it.
//!
//! One `proctype` for each thread's code, its copies run from `init`. Each step is one visible instruction with the local ones that follow it,
//! in a `d_step` (see [`steps`]); variables have the smallest types that the values need, registers are reset when they are dead, and what
//! lives only within a step is `hidden`. Assertions and errors of the program are assertions; a `never` is asserted after every step
//! that touches something it speaks of; `never deadlock` is the verifier's search for invalid end states.
//!
//! `spin -a`, `cc -O2 -DSAFETY`, `./pan` then give the same answer as a walk of the SC states: an error exactly if the program is not safe.

mod before;
mod layout;
mod names;
mod steps;
mod text;
mod thread;

use std::collections::BTreeSet;
use std::fmt::Write;

use layout::Layout;
use names::Names;
use palisade_lang::ranges::{self, Range, Ranges};
use palisade_lang::values::{Analysis, Memory, Values};
use palisade_lang::{
    Address, Copies, CopyRef, Expr, LabelRef, LocationId, PointId, Program, RegisterId, StateAtom,
    Thread, ThreadId,
};
use text::{Text, Unwritable};

/// Prints a program in Promela; where that cannot be done, why not.
pub fn to_promela(program: &Program) -> Result<String, String> {
    if let Some(thread) = program.threads.iter().find(|t| t.copies == Copies::Any) {
        return Err(format!(
            "the thread `{}` has any number of copies, but Promela needs to know how many",
            thread.name
        ));
    }
    Model::new(program)?.print()
}

/// What each `never` speaks of, and how it is checked.
struct Watch {
    conditions: Vec<Expr<StateAtom>>,
    labels: Vec<(ThreadId, LabelRef)>,
    registers: Vec<(ThreadId, RegisterId)>,
    locations: Locations,
    kind: WatchKind,
    name: String,
}

/// The locations that a `never` reads.
enum Locations {
    These(Vec<LocationId>),
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WatchKind {
    /// Asserted after each step that touches what it reads.
    State,
    /// Just `deadlock`: the verifier looks for invalid end states.
    InvalidEnd,
    /// Something about deadlocks: asserted where nothing can move.
    AtTimeout,
}

/// A bit that says where a thread stands.
struct At {
    thread: ThreadId,
    label: LabelRef,
    name: String,
}

/// A register that a `never` reads is a global variable.
struct GlobalRegister {
    thread: ThreadId,
    register: RegisterId,
    name: String,
}

struct Model<'p> {
    program: &'p Program,
    analysis: Analysis<'p>,
    ranges: Ranges,
    layout: Layout,
    names: Names,
    watches: Vec<Watch>,
    ats: Vec<At>,
    global_registers: Vec<GlobalRegister>,
}

impl<'p> Model<'p> {
    fn new(program: &'p Program) -> Result<Self, String> {
        let mut analysis = Analysis::new(program, Memory::Declared);
        let mut names = Names::new();
        let ranges = Ranges::new(program);
        let layout = Layout::new(program, &mut analysis, &ranges, &mut names)?;
        let mut model = Model {
            program,
            analysis,
            ranges,
            layout,
            names,
            watches: Vec::new(),
            ats: Vec::new(),
            global_registers: Vec::new(),
        };
        model.look_at_nevers();
        Ok(model)
    }

    fn look_at_nevers(&mut self) {
        for never in &self.program.nevers {
            let mut watch = Watch {
                conditions: never.conditions.clone(),
                labels: Vec::new(),
                registers: Vec::new(),
                locations: Locations::These(Vec::new()),
                kind: match never.conditions[..] {
                    [Expr::Atom(StateAtom::Deadlock)] => WatchKind::InvalidEnd,
                    _ => WatchKind::State,
                },
                name: self.names.fresh("bad"),
            };
            for condition in &never.conditions {
                look_at(condition, &mut watch);
            }
            if watch.kind == WatchKind::AtTimeout {
                // "Not all have ended" needs to know which have.
                let all = (0..self.program.threads.len()).map(|t| ThreadId(t as u32));
                watch.labels.extend(all.map(|t| (t, LabelRef::End)));
            }
            for &(thread, label) in &watch.labels {
                let is_known = |a: &At| a.thread == thread && a.label == label;
                if self.ats.iter().any(is_known) {
                    continue;
                }
                let code = self.program.thread(thread);
                let label_name = match label {
                    LabelRef::Label(id) => code.labels[id.index()].name.as_str(),
                    LabelRef::End => "end",
                };
                let name = self.names.fresh(&format!("at_{}_{label_name}", code.name));
                self.ats.push(At {
                    thread,
                    label,
                    name,
                });
            }
            for &(thread, register) in &watch.registers {
                let code = self.program.thread(thread);
                let is_known = |g: &GlobalRegister| g.thread == thread && g.register == register;
                if code.me == Some(register) || self.global_registers.iter().any(is_known) {
                    continue;
                }
                let register_name = code.registers[register.index()].name.as_deref();
                let name = format!("{}_{}", code.name, register_name.unwrap_or("tmp"));
                let name = self.names.fresh(&name);
                self.global_registers.push(GlobalRegister {
                    thread,
                    register,
                    name,
                });
            }
            self.watches.push(watch);
        }
    }

    fn print(mut self) -> Result<String, String> {
        let mut threads = Vec::new();
        for number in 0..self.program.threads.len() {
            let id = ThreadId(number as u32);
            if copies_of(self.program, id) > 0 {
                threads.push(thread::Proctype::new(&mut self, id)?);
            }
        }
        let uses_lock = threads.iter().any(thread::Proctype::stops_in_block);
        let mut body = String::new();
        for thread in &mut threads {
            thread.print(&mut self, uses_lock, &mut body)?;
        }

        let mut out = String::new();
        self.print_head(&mut out);
        self.layout.declare(self.program, &mut out);
        if uses_lock {
            out.push_str("bit locked; /* a thread stands inside an atomic block */\n");
        }
        self.declare_watched(&mut out)?;
        let hidden: BTreeSet<&String> = threads.iter().flat_map(|t| t.hidden()).collect();
        let mut hidden: Vec<&str> = hidden.into_iter().map(String::as_str).collect();
        hidden.retain(|name| body.contains(&format!("{name} = ")));
        // A read-modify-write keeps the old value here for a moment.
        if body.contains("old") {
            hidden.push("old");
        }
        if !hidden.is_empty() {
            let _ = writeln!(out, "hidden int {};", hidden.join(", "));
        }
        out.push('\n');
        for watch in &self.watches {
            if watch.kind != WatchKind::InvalidEnd {
                let conditions: Result<Vec<String>, String> =
                    watch.conditions.iter().map(|c| self.condition(c)).collect();
                let condition = match conditions? {
                    none if none.is_empty() => "0".to_string(),
                    some => some.join(" || "),
                };
                let _ = writeln!(out, "#define {} {condition}", watch.name);
            }
        }
        out.push_str(&body);
        self.print_init(&threads, &mut out);
        Ok(out)
    }

    fn print_head(&self, out: &mut String) {
        let mut line = |text: &str| {
            let _ = writeln!(out, "/* {} */", text.replace("*/", "* /"));
        };
        let name = self.program.name.as_deref();
        line(name.unwrap_or(self.program.source.name()));
        line("spin -a FILE; cc -O2 -DSAFETY -o pan pan.c; ./pan -m10000000");
        let goes_round = |thread: &Thread| {
            let loops = palisade_lang::loops::Loops::of(thread, self.program.domain);
            !loops.is_empty()
        };
        if palisade_lang::never::mentions_deadlock(self.program)
            && self.program.threads.iter().any(goes_round)
        {
            line(
                "deadlock: the verifier sees threads that block, not those that spin in a loop without effect",
            );
        }
        if self.program.domain.size().is_none() {
            line("values are integers of 32 bits here, and wrap around there");
        }
        out.push('\n');
    }

    fn declare_watched(&mut self, out: &mut String) -> Result<(), String> {
        for at in &self.ats {
            let copies = copies_of(self.program, at.thread);
            let code = self.program.thread(at.thread);
            let begins_there = points_of(self.program, at.thread, at.label)
                .contains(&code.behind_jumps(code.initial));
            let array = match code.copies {
                Copies::One => String::new(),
                _ => format!("[{copies}]"),
            };
            let initial = if begins_there { " = 1" } else { "" };
            let _ = writeln!(out, "bit {}{array}{initial};", at.name);
        }
        for global in &self.global_registers {
            let (least, largest) = self.register_range(global.thread, global.register)?;
            let kind = type_for(least, largest);
            let array = match self.program.thread(global.thread).copies {
                Copies::One => String::new(),
                _ => format!("[{}]", copies_of(self.program, global.thread)),
            };
            let _ = writeln!(out, "{kind} {}{array};", global.name);
        }
        Ok(())
    }

    fn print_init(&self, threads: &[thread::Proctype], out: &mut String) {
        out.push_str("init {\n  atomic {\n");
        for statement in self.layout.initialise(self.program) {
            let _ = writeln!(out, "    {statement};");
        }
        for watch in self.watches.iter().filter(|w| w.kind == WatchKind::State) {
            let _ = writeln!(out, "    assert(!{});", watch.name);
        }
        for thread in threads {
            for copy in 0..copies_of(self.program, thread.id()) {
                let argument = match thread.takes_copy() {
                    true => copy.to_string(),
                    false => String::new(),
                };
                let _ = writeln!(out, "    run {}({argument});", thread.name());
            }
        }
        out.push_str("    skip\n  }\n}\n");
        let at_timeout = |w: &&Watch| w.kind == WatchKind::AtTimeout;
        if self.watches.iter().any(|w| at_timeout(&w)) {
            out.push_str("\nactive proctype monitor() {\nend_waits:\n  timeout;\n");
            for watch in self.watches.iter().filter(at_timeout) {
                let _ = writeln!(out, "  assert(!{});", watch.name);
            }
            out.push_str("  skip\n}\n");
        }
    }

    /// A `never`'s condition; one in which something goes wrong is false.
    fn condition(&self, condition: &Expr<StateAtom>) -> Result<String, String> {
        let domain = self.program.domain;
        let written = (|| {
            let well = self.state_goes_well(condition)?;
            let text = text::expr(domain, condition, &mut |a| self.state_atom(a))?.text;
            Ok(text::all([well, Some(text)]).unwrap_or_default())
        })();
        written.map_err(describe)
    }

    fn state_atom(&self, atom: &StateAtom) -> Result<Text, Unwritable> {
        let indexed = |name: &str, copy: CopyRef| match self.program.thread(copy.thread).copies {
            Copies::One => name.to_string(),
            _ => format!("{name}[{}]", copy.copy.unwrap_or(0)),
        };
        match atom {
            StateAtom::At(copy, label) => {
                let is_it = |a: &&At| a.thread == copy.thread && a.label == *label;
                let Some(at) = self.ats.iter().find(is_it) else {
                    return Ok(Text::new("0", (0, 0)));
                };
                let copies = copies_of(self.program, copy.thread);
                let code = self.program.thread(copy.thread);
                if code.copies == Copies::One || copy.copy.is_some() {
                    let exists = copy.copy.unwrap_or(0) < copies;
                    return Ok(match exists {
                        true => Text::new(indexed(&at.name, *copy), (0, 1)),
                        false => Text::new("0", (0, 0)),
                    });
                }
                let each: Vec<String> = (0..copies).map(|c| format!("{}[{c}]", at.name)).collect();
                Ok(match each.is_empty() {
                    true => Text::new("0", (0, 0)),
                    false => Text::new(format!("({})", each.join(" || ")), (0, 1)),
                })
            }
            StateAtom::Register(copy, register) => {
                let code = self.program.thread(copy.thread);
                let number = copy.copy.unwrap_or(0);
                if code.me == Some(*register) || number >= copies_of(self.program, copy.thread) {
                    let value = i128::from(number);
                    return Ok(Text::new(number.to_string(), (value, value)));
                }
                let is_it =
                    |g: &&GlobalRegister| g.thread == copy.thread && g.register == *register;
                let name = self.global_registers.iter().find(is_it);
                let name = name.map_or("0", |g| g.name.as_str());
                let range = self.register_range(copy.thread, *register);
                let range = range.map_err(Unwritable::Anywhere)?;
                Ok(Text::new(indexed(name, *copy), range))
            }
            StateAtom::Memory(address) => match &**address {
                Address::Direct(location) => Ok(self.layout.location(*location)),
                Address::Element { first, index, .. } => {
                    let domain = self.program.domain;
                    let index = text::expr(domain, index, &mut |a| self.state_atom(a))?;
                    Ok(self.layout.element(*first, &index))
                }
                Address::Pointer(pointer) => {
                    let domain = self.program.domain;
                    let pointer = text::expr(domain, pointer, &mut |a| self.state_atom(a))?;
                    let zero = || Text::new("0", (0, 0));
                    Ok(self.layout.pointer(&pointer).unwrap_or_else(zero))
                }
            },
            StateAtom::Deadlock => {
                let ends = self.ats.iter().filter(|a| a.label == LabelRef::End);
                let ended: Vec<String> = ends
                    .flat_map(|at| {
                        let copies = copies_of(self.program, at.thread);
                        (0..copies).map(|copy| {
                            let thread = at.thread;
                            let copy = Some(copy);
                            indexed(&at.name, CopyRef { thread, copy })
                        })
                    })
                    .collect();
                Ok(match ended.is_empty() {
                    true => Text::new("0", (0, 0)),
                    false => Text::new(format!("(!({}))", ended.join(" && ")), (0, 1)),
                })
            }
        }
    }

    fn state_goes_well(&self, expr: &Expr<StateAtom>) -> Result<Option<String>, Unwritable> {
        let domain = self.program.domain;
        let atom = &mut |a: &StateAtom| self.state_atom(a);
        text::goes_well(domain, expr, atom, &mut |a| self.atom_goes_well(a))
    }

    fn atom_goes_well(&self, atom: &StateAtom) -> Result<Option<String>, Unwritable> {
        let StateAtom::Memory(address) = atom else {
            return Ok(None);
        };
        let domain = self.program.domain;
        match &**address {
            Address::Direct(_) => Ok(None),
            Address::Element { length, index, .. } => {
                let well = self.state_goes_well(index)?;
                let index = text::expr(domain, index, &mut |a| self.state_atom(a))?;
                Ok(text::all([well, text::index_goes_well(&index, *length)]))
            }
            Address::Pointer(pointer) => {
                let well = self.state_goes_well(pointer)?;
                let pointer = text::expr(domain, pointer, &mut |a| self.state_atom(a))?;
                let all = self.program.locations.iter().map(|l| l.address).collect();
                let exists = self.layout.pointer_goes_well(&pointer, &Values::Any, all);
                Ok(text::all([well, exists]))
            }
        }
    }

    /// What a register may hold, anywhere; it is 0 where it is dead.
    fn register_range(&self, thread: ThreadId, register: RegisterId) -> Result<Range, String> {
        let values = self.analysis.register(thread, register);
        let range = self.ranges.register(thread, register);
        let (least, largest) = range_of(values, range)?;
        Ok((least.min(0), largest.max(0)))
    }

    /// Whether every stop is a valid end: deadlocks are not asked for, or are looked for elsewhere.
    fn every_stop_may_end(&self) -> bool {
        let is_invalid_end = |w: &Watch| w.kind == WatchKind::InvalidEnd;
        !self.watches.iter().any(is_invalid_end)
    }
}

fn look_at(condition: &Expr<StateAtom>, watch: &mut Watch) {
    condition.for_each_atom(&mut |atom| match atom {
        StateAtom::At(copy, label) => watch.labels.push((copy.thread, *label)),
        StateAtom::Register(copy, register) => watch.registers.push((copy.thread, *register)),
        StateAtom::Memory(address) => match &**address {
            Address::Direct(location) => {
                if let Locations::These(locations) = &mut watch.locations {
                    locations.push(*location);
                }
            }
            Address::Element {
                first,
                length,
                index,
            } => {
                if let Locations::These(locations) = &mut watch.locations {
                    locations.extend((0..*length).map(|i| LocationId(first.0 + i)));
                }
                look_at(index, watch);
            }
            Address::Pointer(pointer) => {
                watch.locations = Locations::Any;
                look_at(pointer, watch);
            }
        },
        StateAtom::Deadlock => {
            if watch.kind == WatchKind::State {
                watch.kind = WatchKind::AtTimeout;
            }
        }
    });
}

fn copies_of(program: &Program, thread: ThreadId) -> u32 {
    match program.thread(thread).copies {
        Copies::One => 1,
        Copies::Fixed(copies) => copies,
        Copies::Any => 0,
    }
}

/// The points at which a thread stands at a label, or at its end.
fn points_of(program: &Program, thread: ThreadId, label: LabelRef) -> BTreeSet<PointId> {
    let code = program.thread(thread);
    match label {
        LabelRef::Label(id) => {
            let points = &code.labels[id.index()].points;
            points.iter().map(|p| code.behind_jumps(*p)).collect()
        }
        LabelRef::End => (0..code.points.len() as u32)
            .map(PointId)
            .filter(|p| code.is_end(*p))
            .collect(),
    }
}

/// The smallest type for these values.
fn type_for(least: i128, largest: i128) -> &'static str {
    if least >= 0 && largest <= 1 {
        "bit"
    } else if least >= 0 && largest <= 255 {
        "byte"
    } else if least >= -32768 && largest <= 32767 {
        "short"
    } else {
        "int"
    }
}

/// What two analyses say of a variable, which must fit 32 bits; one of which nothing is known is taken to fit.
fn range_of(values: &Values, range: Range) -> Result<Range, String> {
    let known = match values.range() {
        None => range,
        Some((least, largest)) => {
            let values = (i128::from(least), i128::from(largest));
            ranges::meet(values, range).unwrap_or((0, 0))
        }
    };
    // A range that goes to the end of all numbers is no knowledge.
    let least = if known.0 == ranges::ALL.0 {
        text::INT.0
    } else {
        known.0
    };
    let largest = if known.1 == ranges::ALL.1 {
        text::INT.1
    } else {
        known.1
    };
    if least < text::INT.0 || largest > text::INT.1 {
        return Err(format!(
            "values from {least} to {largest} do not fit Promela's integers of 32 bits"
        ));
    }
    Ok((least, largest))
}

fn describe(unwritable: Unwritable) -> String {
    match unwritable {
        Unwritable::Here => "this cannot be written in Promela".to_string(),
        Unwritable::Anywhere(why) => why,
    }
}
