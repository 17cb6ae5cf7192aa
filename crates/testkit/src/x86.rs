//! Random litmus tests of one thread, and a plain interpreter of x86 that says how each of them ends.
//!
//! The interpreter follows the processor's manual: registers and memory are bytes, flags are computed bit by bit from the
//! definitions. It shares nothing with the front end that it judges.

use std::fmt::Write;

/// The registers that tests use; the accumulator is the first.
const REGISTERS: [[&str; 2]; 4] = [
    ["eax", "rax"],
    ["ebx", "rbx"],
    ["ecx", "rcx"],
    ["edx", "rdx"],
];
const LOCATIONS: [&str; 2] = ["x", "y"];
const JUMPS: [&str; 16] = [
    "je", "jne", "js", "jns", "jo", "jno", "jb", "jae", "jbe", "ja", "jl", "jge", "jle", "jg",
    "jc", "jnz",
];
/// A run of more steps is given up: the test may loop for ever.
const STEPS: usize = 300;

#[derive(Clone, Copy)]
enum Operand {
    Value(i64),
    Register(usize),
    Memory(usize),
}

#[derive(Clone, Copy)]
enum Instruction {
    /// Destination first.
    Two(&'static str, bool, u32, Operand, Operand),
    One(&'static str, bool, u32, Operand),
    Jump(&'static str, usize),
}

/// The processor's state.
#[derive(Clone, Default)]
struct Processor {
    registers: [u64; 4],
    memory: [u64; 2],
    zero: bool,
    sign: bool,
    carry: bool,
    overflow: bool,
}

/// A random test of one thread as text. Its condition `exists` describes exactly the state in which a processor ends, so the state is reachable
/// and `forall` of it holds. `None` where the random code may not end.
pub fn random_test(seed: u64) -> Option<String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut processor = Processor::default();
    // One size for each location: mixed sizes are refused.
    let sizes = [pick(&mut random, &[4u32, 8]), pick(&mut random, &[4, 8])];
    for register in &mut processor.registers {
        *register = value(&mut random) as u64;
    }
    for (memory, size) in processor.memory.iter_mut().zip(sizes) {
        *memory = value(&mut random) as u64 & mask(size);
    }
    let initial = processor.clone();
    let steps = random_steps(&mut random, sizes);
    let mut at = 0;
    let mut left = STEPS;
    while let Some(step) = steps.get(at) {
        left = left.checked_sub(1)?;
        at = match processor.run(*step) {
            Some(to) => to,
            None => at + 1,
        };
    }
    Some(text(&mut random, sizes, &initial, &steps, &processor))
}

fn pick<T: Copy>(random: &mut fastrand::Rng, from: &[T]) -> T {
    from[random.usize(..from.len())]
}

/// Small numbers, and numbers at the edges of 32 and 64 bits.
fn value(random: &mut fastrand::Rng) -> i64 {
    let base = pick(
        random,
        &[
            0,
            0,
            1,
            -1,
            i32::MAX.into(),
            i32::MIN.into(),
            1 << 32,
            i64::MAX,
            i64::MIN,
        ],
    );
    i64::wrapping_add(base, random.i64(-2..3))
}

fn random_steps(random: &mut fastrand::Rng, sizes: [u32; 2]) -> Vec<Instruction> {
    let count = random.usize(2..9);
    // The flags are set before anything asks for them, and every location is accessed, so that its size is known.
    let mut steps: Vec<Instruction> = (0..2)
        .map(|location| {
            let memory = Operand::Memory(location);
            Instruction::Two("cmp", false, sizes[location], memory, Operand::Value(1))
        })
        .collect();
    for _ in 0..count {
        let location = random.usize(..2);
        let in_memory = random.u8(..3) == 0;
        let size = match in_memory {
            true => sizes[location],
            false => pick(random, &[4, 8]),
        };
        let register = Operand::Register(random.usize(..4));
        let target = match in_memory {
            true => Operand::Memory(location),
            false => register,
        };
        let source = match random.u8(..4) {
            0 => Operand::Value(random.i64(-3..4)),
            1 if !in_memory && sizes[location] == size => Operand::Memory(location),
            _ => Operand::Register(random.usize(..4)),
        };
        let locked = in_memory && random.bool();
        steps.push(match random.u8(..12) {
            0 => Instruction::Two("mov", false, size, target, source),
            1 | 2 => Instruction::Two("cmp", false, size, target, source),
            3..=5 => {
                let name = pick(random, &["add", "sub", "and", "or", "xor"]);
                Instruction::Two(name, locked, size, target, source)
            }
            6 => Instruction::One(pick(random, &["inc", "dec"]), locked, size, target),
            7 => Instruction::One(pick(random, &["neg", "not"]), false, size, register),
            8 => {
                let name = pick(random, &["shl", "shr", "sar"]);
                Instruction::Two(name, false, size, register, Operand::Value(1))
            }
            9 if in_memory => Instruction::Two("cmpxchg", true, size, target, register),
            10 if in_memory => {
                let name = pick(random, &["xadd", "xchg"]);
                Instruction::Two(name, locked || name == "xchg", size, target, register)
            }
            _ => Instruction::Jump(pick(random, &JUMPS), random.usize(..count + 3)),
        });
    }
    steps
}

fn mask(size: u32) -> u64 {
    u64::MAX >> (64 - 8 * size)
}

fn signed(value: u64, size: u32) -> i128 {
    let bits = 8 * size;
    let value = i128::from(value & mask(size));
    match value >> (bits - 1) {
        0 => value,
        _ => value - (1 << bits),
    }
}

impl Processor {
    fn get(&self, operand: Operand, size: u32) -> u64 {
        mask(size)
            & match operand {
                Operand::Value(value) => value as u64,
                Operand::Register(register) => self.registers[register],
                Operand::Memory(location) => self.memory[location],
            }
    }

    /// Writing 32 bits of a register clears the others.
    fn set(&mut self, operand: Operand, size: u32, value: u64) {
        match operand {
            Operand::Value(_) => unreachable!("a value is no destination"),
            Operand::Register(register) => self.registers[register] = value & mask(size),
            Operand::Memory(location) => self.memory[location] = value & mask(size),
        }
    }

    fn result_flags(&mut self, result: u64, size: u32) {
        self.zero = result & mask(size) == 0;
        self.sign = signed(result, size) < 0;
    }

    fn add(&mut self, left: u64, right: u64, size: u32) -> u64 {
        let result = left.wrapping_add(right) & mask(size);
        self.carry = u128::from(left) + u128::from(right) > u128::from(mask(size));
        self.overflow = signed(left, size) + signed(right, size) != signed(result, size);
        self.result_flags(result, size);
        result
    }

    fn subtract(&mut self, left: u64, right: u64, size: u32) -> u64 {
        let result = left.wrapping_sub(right) & mask(size);
        self.carry = left < right;
        self.overflow = signed(left, size) - signed(right, size) != signed(result, size);
        self.result_flags(result, size);
        result
    }

    /// One instruction; returns where it jumps to.
    fn run(&mut self, step: Instruction) -> Option<usize> {
        match step {
            Instruction::Jump(name, to) => return self.jumps(name).then_some(to),
            Instruction::One(name, _, size, target) => {
                let value = self.get(target, size);
                let carry = self.carry;
                let result = match name {
                    "inc" => self.add(value, 1, size),
                    "dec" => self.subtract(value, 1, size),
                    "neg" => self.subtract(0, value, size),
                    _ => !value,
                };
                if name == "inc" || name == "dec" {
                    self.carry = carry;
                }
                self.set(target, size, result);
            }
            Instruction::Two(name, _, size, target, source) => {
                let (left, right) = (self.get(target, size), self.get(source, size));
                match name {
                    "mov" => self.set(target, size, right),
                    "xchg" => {
                        self.set(target, size, right);
                        self.set(source, size, left);
                    }
                    "cmp" => {
                        self.subtract(left, right, size);
                    }
                    "xadd" => {
                        let sum = self.add(left, right, size);
                        self.set(source, size, left);
                        self.set(target, size, sum);
                    }
                    "cmpxchg" => {
                        let accumulator = self.get(Operand::Register(0), size);
                        self.subtract(accumulator, left, size);
                        match accumulator == left {
                            true => self.set(target, size, right),
                            false => self.set(Operand::Register(0), size, left),
                        }
                    }
                    _ => {
                        let result = self.compute(name, left, right, size);
                        self.set(target, size, result);
                    }
                }
            }
        }
        None
    }

    fn compute(&mut self, name: &str, left: u64, right: u64, size: u32) -> u64 {
        let top = |value: u64| value >> (8 * size - 1) & 1 == 1;
        let result = match name {
            "add" => return self.add(left, right, size),
            "sub" => return self.subtract(left, right, size),
            // All shifts are by one bit.
            "shl" => {
                self.carry = top(left);
                self.overflow = top(left) != top(left << 1);
                left << 1
            }
            "shr" => {
                self.carry = left & 1 == 1;
                self.overflow = top(left);
                left >> 1
            }
            "sar" => {
                self.carry = left & 1 == 1;
                self.overflow = false;
                (signed(left, size) >> 1) as u64
            }
            _ => {
                self.carry = false;
                self.overflow = false;
                match name {
                    "and" => left & right,
                    "or" => left | right,
                    _ => left ^ right,
                }
            }
        };
        self.result_flags(result, size);
        result
    }

    fn jumps(&self, name: &str) -> bool {
        let less = self.sign != self.overflow;
        match name {
            "je" => self.zero,
            "jne" | "jnz" => !self.zero,
            "js" => self.sign,
            "jns" => !self.sign,
            "jo" => self.overflow,
            "jno" => !self.overflow,
            "jb" | "jc" => self.carry,
            "jae" => !self.carry,
            "jbe" => self.carry || self.zero,
            "ja" => !self.carry && !self.zero,
            "jl" => less,
            "jge" => !less,
            "jle" => less || self.zero,
            "jg" => !less && !self.zero,
            _ => unreachable!("{name}"),
        }
    }
}

/// The test in AT&T's syntax: the source comes first.
fn text(
    random: &mut fastrand::Rng,
    sizes: [u32; 2],
    initial: &Processor,
    steps: &[Instruction],
    end: &Processor,
) -> String {
    let mut out = String::from("X86_64 random\n{\n");
    for (name, value) in LOCATIONS.iter().zip(initial.memory) {
        let _ = writeln!(out, "{name}={};", value as i64);
    }
    for (names, value) in REGISTERS.iter().zip(initial.registers) {
        let _ = writeln!(out, "0:{}={};", names[1], value as i64);
    }
    out.push_str("}\nP0 ;\n");
    let operand = |operand: Operand, size: u32| match operand {
        Operand::Value(value) => format!("${value}"),
        Operand::Register(register) => format!("%{}", REGISTERS[register][(size == 8) as usize]),
        Operand::Memory(location) => format!("({})", LOCATIONS[location]),
    };
    let suffix = |size: u32| if size == 8 { 'q' } else { 'l' };
    for (number, step) in steps.iter().enumerate() {
        let _ = write!(out, "L{number}: ");
        let lock = |locked: bool| if locked { "lock " } else { "" };
        let _ = match *step {
            Instruction::Jump(name, to) => writeln!(out, "{name} L{to} ;"),
            Instruction::One(name, locked, size, target) => writeln!(
                out,
                "{}{name}{} {} ;",
                lock(locked),
                suffix(size),
                operand(target, size)
            ),
            Instruction::Two(name, locked, size, target, source) => writeln!(
                out,
                "{}{name}{} {},{} ;",
                lock(locked),
                suffix(size),
                operand(source, size),
                operand(target, size)
            ),
        };
    }
    let _ = writeln!(out, "L{}: nop ;", steps.len());
    let mut parts = Vec::new();
    for (names, value) in REGISTERS.iter().zip(end.registers) {
        parts.push(format!("0:{}={}", names[1], value as i64));
        parts.push(match random.bool() {
            true => format!("0:{}={}", names[0], value as u32),
            false => format!("0:{}={}", names[0], value as i32),
        });
    }
    for ((name, value), size) in LOCATIONS.iter().zip(end.memory).zip(sizes) {
        parts.push(match (size, random.bool()) {
            (4, true) => format!("[{name}]={}", value as i32),
            (4, false) => format!("[{name}]={}", value as u32),
            _ => format!("[{name}]={}", value as i64),
        });
    }
    let _ = writeln!(out, "exists ({})", parts.join(" /\\ "));
    out
}
