//! Registers that do not matter any more: in the states of a certificate they are 0.
//!
//! A register is *live* at a control point if an instruction on some way from there reads it before another one sets it. It is live everywhere if states must be
//! safe and a `never` reads it. States that differ in other registers only can make the same steps, to states that again differ in such registers only, and
//! one violates if the other does.

use super::choices::for_each_atom;
use palisade_lang::{PointId, StateAtom};
use palisade_memory::Code;
use palisade_memory::waiting::live_registers;

/// Which registers are live, for each running thread, each of its control points, and each register.
pub struct Live(Vec<Vec<Vec<bool>>>);

impl Live {
    /// `safe`: states must be safe.
    pub fn new(code: &Code<'_>, safe: bool) -> Self {
        let of_instance = |instance: usize| {
            let thread = code.thread(instance);
            let mut always = vec![false; thread.registers.len()];
            let nevers = code.program.nevers.iter().filter(|_| safe);
            for condition in nevers.flat_map(|never| &never.conditions) {
                for_each_atom(condition, &mut |atom| match atom {
                    StateAtom::Register(copy, register)
                        if copy.thread == code.instances[instance].thread =>
                    {
                        always[register.index()] = true;
                    }
                    _ => {}
                });
            }
            live_registers(thread, &always)
        };
        Live((0..code.instances.len()).map(of_instance).collect())
    }

    /// Sets all others to 0 in a state of this program. A thread may stand nowhere: then it has no registers any more.
    pub fn forget_others(&self, state: &mut [i64]) {
        let mut rest = state;
        for points in &self.0 {
            let (point, behind) = rest.split_at_mut(1);
            let (registers, behind) = behind.split_at_mut(points.first().map_or(0, Vec::len));
            rest = behind;
            if let Ok(point) = usize::try_from(point[0]) {
                keep(&points[point], registers);
            }
        }
    }

    /// The same for the registers of one running thread.
    pub fn forget(&self, thread: usize, point: PointId, registers: &mut [i64]) {
        keep(&self.0[thread][point.index()], registers);
    }
}

fn keep(live: &[bool], registers: &mut [i64]) {
    for (register, live) in registers.iter_mut().zip(live) {
        *register *= i64::from(*live);
    }
}
