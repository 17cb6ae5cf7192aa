//! What the numbers of local states and of values stand for, to be kept for another process.

use palisade_lang::{PointId, Value};

use crate::table::STOPPED;
use crate::{Code, LocalId, Threads, read, write};

impl Code {
    /// Whether a local state at this point can have so many values.
    fn has(&self, point: PointId, values: usize) -> bool {
        match point {
            STOPPED => true,
            _ => {
                let live = self.control.live.get(point.index());
                live.is_some_and(|live| live.len() == values)
            }
        }
    }
}

impl Threads<'_> {
    /// Appends, as a list of numbers, what the numbers given so far stand for.
    pub fn keep_numbers(&self, out: &mut Vec<i64>) {
        for code in &self.codes {
            let locals = read(&code.locals);
            out.push(locals.len() as i64);
            for id in 0..locals.len() {
                let (point, values) = locals.get(LocalId(id as u32));
                out.extend([i64::from(point.0), values.len() as i64]);
                out.extend_from_slice(values);
            }
        }
        let values = read(&self.values);
        out.push(values.len() as i64);
        out.extend((0..values.len()).map(|id| values.get(id as u32)));
    }

    /// Appends what the number of a local state stands for.
    pub fn spell_local(&self, code: usize, number: u32, out: &mut Vec<i64>) {
        let locals = read(&self.codes[code].locals);
        let (point, values) = locals.get(LocalId(number));
        out.push(i64::from(point.0));
        out.extend_from_slice(values);
    }

    /// The number of the local state that was spelled so; `None` where the code has no such state.
    pub fn local_spelled(&self, code: usize, meaning: &[i64]) -> Option<u32> {
        let (&point, values) = meaning.split_first()?;
        let point = PointId(u32::try_from(point).ok()?);
        let code = self.codes.get(code)?;
        if !code.has(point, values.len()) {
            return None;
        }
        Some(write(&code.locals).intern(point, values).0)
    }

    /// The number of a value.
    pub fn value_number(&self, value: Value) -> u32 {
        write(&self.values).intern(value)
    }

    /// How many local states of a code have numbers.
    pub fn local_count(&self, code: usize) -> u32 {
        read(&self.codes[code].locals).len() as u32
    }

    /// How many values have numbers.
    pub fn value_count(&self) -> u32 {
        read(&self.values).len() as u32
    }

    /// Makes numbers stand for what they stood for when [`Threads::keep_numbers`] was called; `None` where some stand for something else already.
    /// For threads of the same program and settings, before numbers are asked for.
    pub fn recall_numbers(&self, numbers: &mut dyn Iterator<Item = i64>) -> Option<()> {
        let mut values: Vec<Value> = Vec::new();
        for code in &self.codes {
            let mut locals = write(&code.locals);
            for id in 0..u32::try_from(numbers.next()?).ok()? {
                let point = PointId(u32::try_from(numbers.next()?).ok()?);
                let count = numbers.next()?;
                values.clear();
                for _ in 0..count {
                    values.push(numbers.next()?);
                }
                if !code.has(point, values.len()) || locals.intern(point, &values) != LocalId(id) {
                    return None;
                }
            }
        }
        let mut values = write(&self.values);
        for id in 0..u32::try_from(numbers.next()?).ok()? {
            if values.intern(numbers.next()?) != id {
                return None;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Settings, Threads};
    use palisade_lang::{ParseOptions, Source, parse};

    #[test]
    fn numbers_stand_for_what_they_stood_for() {
        let text =
            "shared x; thread a { x = 100; let r = x; x = r + 1; } thread b { let s = x; x = s; }";
        let source = Source::new("a.pal", text);
        let program = parse(&source, &ParseOptions::default()).unwrap().program;
        let threads = Threads::new(&program, Settings::default());
        let mut view = threads.view();
        let begin = view.initial(0)[0];
        let loads = view.next(0, begin, 0)[0];
        let seven = view.resume(0, loads, 0, 7)[0];
        let hundred = view.value_id(100);
        let mut kept = Vec::new();
        threads.keep_numbers(&mut kept);

        let other = Threads::new(&program, Settings::default());
        other.recall_numbers(&mut kept.iter().copied()).unwrap();
        let mut view = other.view();
        assert_eq!(view.value(hundred), 100);
        assert_eq!(view.initial(0)[0], begin);
        assert_eq!(view.resume(0, loads, 0, 7)[0], seven);

        // Numbers that already mean something else are noticed, and so is a list that is cut off.
        let third = Threads::new(&program, Settings::default());
        third.view().value_id(-5);
        assert_eq!(third.recall_numbers(&mut kept.iter().copied()), None);
        let fourth = Threads::new(&program, Settings::default());
        let mut short = kept[..kept.len() - 1].iter().copied();
        assert_eq!(fourth.recall_numbers(&mut short), None);
    }
}
