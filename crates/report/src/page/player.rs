//! A run as the page's script plays it: the state before the first step and after each, in JSON.

use crate::columns::{effect_here, statement};
use palisade_lang::{Program, Thread};
use palisade_memory::{Local, Model, Witness};
use palisade_validate::states::{Memory, Snapshot, States, states};
use serde::Serialize;

/// More locations than this are shown only where the run touches them.
const MOST_LOCATIONS: usize = 12;

#[derive(Serialize)]
struct Run {
    threads: Vec<ThreadNames>,
    locations: Vec<String>,
    steps: Vec<Step>,
    /// The step with which what is repeated for ever begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<usize>,
}

#[derive(Serialize)]
struct ThreadNames {
    name: String,
    registers: Vec<String>,
}

/// A state, and the step that has led to it.
#[derive(Serialize)]
struct Step {
    /// Whose step it was, by index; absent at the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    code: String,
    effect: String,
    /// For each location the value, or all values in modification order.
    memory: Vec<Vec<i64>>,
    /// For each thread what waits in its buffer; absent where there are no buffers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    buffers: Vec<Vec<String>>,
    registers: Vec<Vec<i64>>,
    /// For each thread where it stands.
    at: Vec<String>,
    /// Under release/acquire, for each thread and location, the oldest value that it may still read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    views: Vec<Vec<usize>>,
}

/// The run, safe to stand inside a `script` element, and whether there is a state after every step.
pub(super) fn data(witness: &Witness, program: &Program) -> (String, bool) {
    let Some(states) = states(program, witness) else {
        return ("null".to_owned(), false);
    };
    let complete = states.states.len() == witness.events.len() + 1;
    let run = run(witness, program, &states);
    let json = serde_json::to_string(&run).unwrap_or_else(|_| "null".to_owned());
    (harmless(&json), complete)
}

/// Inside strings of JSON these can be written by their numbers, and then end no element and no line.
fn harmless(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

fn run(witness: &Witness, program: &Program, states: &States) -> Run {
    let shown: Vec<usize> = (0..program.locations.len())
        .filter(|&l| {
            let name = &program.locations[l].name;
            let touched = witness
                .events
                .iter()
                .any(|e| e.location.as_ref() == Some(name));
            touched || program.locations.len() <= MOST_LOCATIONS
        })
        .collect();
    let code = |thread: usize| program.thread(states.instances[thread].thread);
    let named = |thread: &Thread| -> Vec<usize> {
        let registers = thread.registers.iter().enumerate();
        registers
            .filter(|(_, r)| r.name.is_some())
            .map(|(index, _)| index)
            .collect()
    };
    let threads = (0..states.instances.len())
        .map(|index| ThreadNames {
            name: states.instances[index].name.clone(),
            registers: named(code(index))
                .into_iter()
                .filter_map(|r| code(index).registers[r].name.clone())
                .collect(),
        })
        .collect();
    let mut steps = Vec::new();
    for at in 0..=witness.events.len() {
        // Where the states end early, the last one stays.
        let Some(state) = states.states.get(at).or(states.states.last()) else {
            break;
        };
        let mut step = step(program, states, state, &shown, &named);
        if witness.model != Model::Tso {
            step.buffers.clear();
        }
        if let Some(event) = at.checked_sub(1).and_then(|e| witness.events.get(e)) {
            step.thread = states.instances.iter().position(|i| i.name == event.thread);
            step.line = Some(event.line);
            step.code = statement(event, program);
            step.effect = effect_here(witness, at - 1);
        }
        steps.push(step);
    }
    Run {
        threads,
        locations: shown
            .iter()
            .map(|&l| bracketed(&program.locations[l].name))
            .collect(),
        steps,
        cycle: witness
            .loop_start
            .filter(|start| *start < witness.events.len()),
    }
}

fn step(
    program: &Program,
    states: &States,
    state: &Snapshot,
    shown: &[usize],
    named: &dyn Fn(&Thread) -> Vec<usize>,
) -> Step {
    let code = |thread: usize| program.thread(states.instances[thread].thread);
    let (memory, buffers, views) = match &state.memory {
        Memory::Values { values, buffers } => {
            let buffers = buffers.iter().map(|buffer| {
                let store = |(l, value): &(palisade_lang::LocationId, i64)| {
                    format!("{} = {value}", bracketed(&program.location(*l).name))
                };
                buffer.iter().map(store).collect()
            });
            let memory = shown.iter().map(|&l| vec![values[l]]).collect();
            (memory, buffers.collect(), Vec::new())
        }
        Memory::Messages { values, views } => {
            let memory = shown.iter().map(|&l| values[l].clone()).collect();
            let views = views
                .iter()
                .map(|view| shown.iter().map(|&l| view[l]).collect());
            (memory, Vec::new(), views.collect())
        }
    };
    let locals = state.locals.iter().enumerate();
    Step {
        thread: None,
        line: None,
        code: String::new(),
        effect: String::new(),
        memory,
        buffers,
        registers: locals
            .clone()
            .map(|(t, local)| {
                let named = named(code(t)).into_iter();
                named.map(|r| local.registers[r]).collect()
            })
            .collect(),
        at: locals
            .map(|(t, local)| place(program, code(t), local))
            .collect(),
        views,
    }
}

/// Where a thread stands.
fn place(program: &Program, thread: &Thread, local: &Local) -> String {
    if local.stopped {
        return "stopped by an error".to_owned();
    }
    match thread.outgoing(local.point).first() {
        None => "at its end".to_owned(),
        Some(next) => {
            let line = program.source.line_column(next.span.start).line;
            format!("before line {line}")
        }
    }
}

/// An address that has no name is put into brackets, so that it is not taken for a value.
fn bracketed(name: &str) -> String {
    match name.parse::<i64>() {
        Ok(_) => format!("[{name}]"),
        Err(_) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_cannot_end_its_element() {
        let json = serde_json::to_string("</script><!-- & \u{2028}").unwrap();
        let safe = harmless(&json);
        assert!(!safe.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(
            serde_json::from_str::<String>(&safe).unwrap(),
            "</script><!-- & \u{2028}"
        );
    }
}
