//! Where the locations of a program live in the Promela model: as variables, arrays, or, where pointers lead, in one array `mem`.

use super::names::Names;
use super::text::Text;
use palisade_lang::ranges::Ranges;
use palisade_lang::values::{Analysis, Values};
use palisade_lang::{Address, LocationId, Program, StateAtom, ThreadId, Value};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A variable of the model.
struct Variable {
    name: String,
    /// The locations in it, in order; `None` where an address between two locations is none.
    cells: Vec<Option<LocationId>>,
    is_array: bool,
}

/// All variables.
pub(super) struct Layout {
    variables: Vec<Variable>,
    /// For each location: its variable, and its index there.
    homes: Vec<(usize, usize)>,
    /// What each location may hold.
    ranges: Vec<(i128, i128)>,
    /// The variable into which pointers lead, and the address of its first cell.
    region: Option<(usize, Value)>,
}

/// `mem` is not larger than this.
const MAX_REGION: Value = 1 << 16;

impl Layout {
    pub(super) fn new(
        program: &Program,
        analysis: &mut Analysis<'_>,
        ranges: &Ranges,
        names: &mut Names,
    ) -> Result<Layout, String> {
        let region = region(program, analysis)?;
        let mut layout = Layout {
            variables: Vec::new(),
            homes: vec![(0, 0); program.locations.len()],
            ranges: Vec::new(),
            region: None,
        };
        for id in 0..program.locations.len() {
            let location = LocationId(id as u32);
            let initial = i128::from(program.domain.reduce(program.locations[id].initial));
            let values = analysis.location(location);
            let (least, largest) = super::range_of(&values, ranges.location(location))?;
            layout
                .ranges
                .push((least.min(initial), largest.max(initial)));
        }
        if let Some((first, last)) = region {
            layout.region = Some((0, first));
            layout.variables.push(Variable {
                name: "mem".to_string(),
                cells: vec![None; (last - first + 1) as usize],
                is_array: true,
            });
        }
        let mut arrays: BTreeMap<LocationId, usize> = BTreeMap::new();
        for (id, location) in program.locations.iter().enumerate() {
            let location_id = LocationId(id as u32);
            let home = match (region, location.array) {
                (Some((first, last)), _) if (first..=last).contains(&location.address) => {
                    (0, (location.address - first) as usize)
                }
                (_, Some((first, length))) => {
                    let variables = &mut layout.variables;
                    let variable = *arrays.entry(first).or_insert_with(|| {
                        let base = program.location(first).name.split('[').next();
                        variables.push(Variable {
                            name: names.fresh(base.unwrap_or("array")),
                            cells: vec![None; length as usize],
                            is_array: true,
                        });
                        variables.len() - 1
                    });
                    (variable, (location_id.0 - first.0) as usize)
                }
                (_, None) => {
                    let name = match location.name.starts_with(|c: char| c.is_ascii_digit()) {
                        true => format!("m{}", location.name),
                        false => location.name.clone(),
                    };
                    layout.variables.push(Variable {
                        name: names.fresh(&name),
                        cells: vec![None],
                        is_array: false,
                    });
                    (layout.variables.len() - 1, 0)
                }
            };
            layout.homes[id] = home;
            layout.variables[home.0].cells[home.1] = Some(location_id);
        }
        Ok(layout)
    }

    /// The declarations, with the values at the beginning.
    pub(super) fn declare(&self, program: &Program, out: &mut String) {
        for (number, variable) in self.variables.iter().enumerate() {
            let (least, largest) = self.range_of_variable(number);
            let kind = super::type_for(least, largest);
            let name = &variable.name;
            let initial = |cell: &Option<LocationId>| match cell {
                Some(id) => program.domain.reduce(program.location(*id).initial),
                None => 0,
            };
            if !variable.is_array {
                let value = initial(&variable.cells[0]);
                let _ = match value {
                    0 => writeln!(out, "{kind} {name};"),
                    _ => writeln!(out, "{kind} {name} = {value};"),
                };
                continue;
            }
            let values: Vec<Value> = variable.cells.iter().map(initial).collect();
            let length = values.len();
            if values.iter().all(|v| *v == values[0]) {
                let _ = match values[0] {
                    0 => writeln!(out, "{kind} {name}[{length}];"),
                    value => writeln!(out, "{kind} {name}[{length}] = {value};"),
                };
            } else if values.iter().any(|v| *v < 0) {
                // SPIN reads no such list; see `initialise`.
                let _ = writeln!(out, "{kind} {name}[{length}];");
            } else {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                let values = values.join(", ");
                let _ = writeln!(out, "{kind} {name}[{length}] = {{ {values} }};");
            }
        }
    }

    /// Assignments for what the declarations could not say: arrays that begin with different values, some of them negative.
    pub(super) fn initialise(&self, program: &Program) -> Vec<String> {
        let mut statements = Vec::new();
        for variable in self.variables.iter().filter(|v| v.is_array) {
            let initial = |id: &LocationId| program.domain.reduce(program.location(*id).initial);
            let values: Vec<Option<Value>> = variable
                .cells
                .iter()
                .map(|cell| cell.as_ref().map(initial))
                .collect();
            let all_same = values
                .iter()
                .all(|v| v.unwrap_or(0) == values[0].unwrap_or(0));
            if all_same || !values.iter().flatten().any(|v| *v < 0) {
                continue;
            }
            for (index, value) in values.iter().enumerate() {
                if let Some(value) = value.filter(|v| *v != 0) {
                    statements.push(format!("{}[{index}] = {value}", variable.name));
                }
            }
        }
        statements
    }

    fn range_of_variable(&self, number: usize) -> (i128, i128) {
        let cells = self.variables[number].cells.iter().flatten();
        let ranges = cells.map(|id| self.ranges[id.index()]);
        ranges.fold((0, 0), |(a, b), (c, d)| (a.min(c), b.max(d)))
    }

    /// A location by its name.
    pub(super) fn location(&self, id: LocationId) -> Text {
        let (variable, index) = self.homes[id.index()];
        let variable = &self.variables[variable];
        let text = match variable.is_array {
            true => format!("{}[{index}]", variable.name),
            false => variable.name.clone(),
        };
        Text::new(text, self.ranges[id.index()])
    }

    /// An element of an array.
    pub(super) fn element(&self, first: LocationId, index: &Text) -> Text {
        let (variable, offset) = self.homes[first.index()];
        let text = match offset {
            0 => format!("{}[{}]", self.variables[variable].name, index.text),
            _ => format!(
                "{}[{offset} + {}]",
                self.variables[variable].name, index.text
            ),
        };
        Text::new(text, self.range_of_variable(variable))
    }

    /// What a pointer leads to; where there is no location at all, nothing.
    pub(super) fn pointer(&self, address: &Text) -> Option<Text> {
        let (variable, first) = self.region?;
        let name = &self.variables[variable].name;
        let text = match first {
            0 => format!("{name}[{}]", address.text),
            _ if first < 0 => format!("{name}[{} + {}]", address.text, -first),
            _ => format!("{name}[{} - {first}]", address.text),
        };
        Some(Text::new(text, self.range_of_variable(variable)))
    }

    /// Whether two locations live in one array.
    pub(super) fn is_in_array(&self, id: LocationId) -> bool {
        self.variables[self.homes[id.index()].0].is_array
    }

    /// The condition under which an address is one of `allowed`; `None` where it always is.
    pub(super) fn pointer_goes_well(
        &self,
        address: &Text,
        known: &Values,
        mut allowed: Vec<Value>,
    ) -> Option<String> {
        allowed.sort_unstable();
        if let Values::Some(known) = known
            && known.iter().all(|v| allowed.binary_search(v).is_ok())
        {
            return None;
        }
        let is_inside = |v: i128| {
            let value = Value::try_from(v);
            value.is_ok_and(|v| allowed.binary_search(&v).is_ok())
        };
        if address.largest - address.least < allowed.len() as i128
            && (address.least..=address.largest).all(is_inside)
        {
            return None;
        }
        // Ranges of consecutive addresses.
        let mut ranges: Vec<(Value, Value)> = Vec::new();
        for address in allowed {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == address => *last = address,
                _ => ranges.push((address, address)),
            }
        }
        let text = &address.text;
        let tests: Vec<String> = ranges
            .iter()
            .map(|(first, last)| format!("({text} >= {first} && {text} <= {last})"))
            .collect();
        match tests.len() {
            0 => Some("false".to_string()),
            _ => Some(format!("({})", tests.join(" || "))),
        }
    }
}

/// The addresses that pointers may lead to, from the first to the last.
fn region(
    program: &Program,
    analysis: &mut Analysis<'_>,
) -> Result<Option<(Value, Value)>, String> {
    let mut found: Option<(Value, Value)> = None;
    let mut add = |address: Value| {
        let (first, last) = found.unwrap_or((address, address));
        found = Some((first.min(address), last.max(address)));
    };
    let every = || program.locations.iter().map(|l| l.address);
    for (number, thread) in program.threads.iter().enumerate() {
        for transition in &thread.transitions {
            let Some(address @ Address::Pointer(_)) = transition.op.address() else {
                continue;
            };
            match analysis.addresses(ThreadId(number as u32), address) {
                Values::Any => every().for_each(&mut add),
                Values::Some(addresses) => {
                    let exist = |a: &Value| program.location_at(*a).is_some();
                    addresses.into_iter().filter(exist).for_each(&mut add);
                }
            }
        }
    }
    for condition in program.nevers.iter().flat_map(|n| &n.conditions) {
        condition.for_each_atom(&mut |atom| {
            if let StateAtom::Memory(address) = atom
                && matches!(**address, Address::Pointer(_))
            {
                every().for_each(&mut add);
            }
        });
    }
    let Some((mut first, mut last)) = found else {
        return Ok(None);
    };
    // An array is inside as a whole or not at all.
    for location in &program.locations {
        if let Some((start, length)) = location.array
            && (first..=last).contains(&location.address)
        {
            let start = program.location(start).address;
            first = first.min(start);
            last = last.max(start + Value::from(length) - 1);
        }
    }
    match last.checked_sub(first) {
        Some(length) if length < MAX_REGION => Ok(Some((first, last))),
        _ => Err(format!(
            "pointers lead from address {first} to {last}: that is too much memory for a Promela array"
        )),
    }
}
