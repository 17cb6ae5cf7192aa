//! `safe` under RA, with messages and views.
//!
//! A state is threads, for each location its messages in modification order, each with what its writer knew, and what each thread knows: the
//! states of the machine of Lahav and Margalit 2019, section 3. Of fences only the newest is ever read, so what that one knew is enough.

use super::patterns::may_be_forbidden;
use super::{Rules, states};
use palisade_lang::LocationId;
use palisade_memory::ra::{Block, Message, State};
use palisade_memory::{Machine, Ra, StepKind, sc};

/// The rules of RA.
pub struct Messages<'p> {
    machine: Ra<'p>,
    locations: usize,
}

impl<'p> Messages<'p> {
    pub fn new(machine: Ra<'p>) -> Self {
        let locations = machine.code().program.locations.len();
        Messages { machine, locations }
    }

    fn put(&self, state: &State, numbers: &mut Vec<i64>) {
        numbers.clear();
        let plain = sc::State {
            locals: state.locals.clone(),
            memory: Ra::newest(state),
        };
        states::put(&plain, numbers);
        let known = |view: &[usize], numbers: &mut Vec<i64>| {
            let entry = |place: usize| view.get(place).map_or(0, |&entry| entry as i64);
            numbers.extend((0..self.locations).map(entry));
        };
        for messages in &state.messages[..self.locations] {
            numbers.push(messages.len() as i64);
            for message in messages {
                numbers.extend([message.value, i64::from(message.rmw)]);
                known(&message.view, numbers);
            }
        }
        for view in &state.views {
            known(view, numbers);
        }
        let fences = &state.messages[self.locations];
        known(fences.last().map_or(&[], |m| &m.view), numbers);
        match &state.block {
            None => numbers.push(0),
            Some(block) => {
                let location = block.location.index() as i64;
                numbers.extend([1, location, block.time as i64, i64::from(block.written)]);
            }
        }
    }

    fn take(&self, numbers: &[i64]) -> Option<State> {
        let (plain, rest) = states::take(self.machine.code(), numbers, None)?;
        let mut rest = Rest(rest);
        let mut state = self.machine.initial();
        state.locals = plain.locals;
        for place in 0..self.locations {
            state.messages[place].clear();
            for _ in 0..rest.place()? {
                let message = Message {
                    value: rest.number()?,
                    rmw: rest.number()? != 0,
                    view: rest.view(self.locations)?,
                    id: 0,
                };
                state.messages[place].push(message);
            }
        }
        for view in &mut state.views {
            *view = rest.view(self.locations)?;
        }
        state.messages[self.locations][0].view = rest.view(self.locations)?;
        if rest.number()? != 0 {
            state.block = Some(Block {
                location: LocationId(u32::try_from(rest.number()?).ok()?),
                time: rest.place()?,
                written: rest.number()? != 0,
            });
        }
        // Whatever else the numbers could have been, they are what would be written; and every place that they name exists.
        let exists = |place: usize, time: usize| time < state.messages[place].len();
        let stored = state.messages.iter().flatten().map(|m| &m.view);
        let mut entries =
            (state.views.iter().chain(stored)).flat_map(|view| view.iter().enumerate());
        let block_exists = state.block.as_ref().is_none_or(|block| {
            let place = block.location.index();
            place < self.locations
                && exists(place, block.time)
                && (block.time > 0 || !block.written)
        });
        if !entries.all(|(place, &time)| exists(place, time)) || !block_exists {
            return None;
        }
        let mut again = Vec::new();
        self.put(&state, &mut again);
        (again == numbers).then_some(state)
    }
}

/// What has not been read yet.
struct Rest<'n>(&'n [i64]);

impl Rest<'_> {
    fn number(&mut self) -> Option<i64> {
        let (&number, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(number)
    }

    fn place(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// A view, without what is known of fences: all know the newest one, which is the only one here.
    fn view(&mut self, locations: usize) -> Option<Vec<usize>> {
        let entries = (0..locations).map(|_| self.place());
        let mut view = entries.collect::<Option<Vec<usize>>>()?;
        view.push(0);
        Some(view)
    }
}

impl Rules for Messages<'_> {
    fn initial(&self) -> Vec<i64> {
        let mut numbers = Vec::new();
        self.put(&self.machine.initial(), &mut numbers);
        numbers
    }

    fn visit(&self, numbers: &[i64], next: &mut dyn FnMut(&[i64])) -> Result<(), String> {
        let Some(state) = self.take(numbers) else {
            return Err("it is none of this program".to_owned());
        };
        let steps = self.machine.steps(&state);
        let memory = Ra::newest(&state);
        if may_be_forbidden(&self.machine, &state, &memory) && self.machine.is_real(&state) {
            return Err("a `never` is true".to_owned());
        }
        let mut numbers = Vec::new();
        for (step, after) in &steps {
            match step.kind {
                StepKind::Error(error) => return Err(error.to_string()),
                StepKind::Race => return Err("a race has no meaning".to_owned()),
                _ => {}
            }
            self.put(after, &mut numbers);
            next(&numbers);
        }
        Ok(())
    }
}
