//! What a certificate for any number of threads says: ideals and a backward basis (see `palisade-certificate` for the form).
//!
//! As for given numbers of threads, nothing here has to be believed, and nothing is reduced. Copies and threads that an error has stopped are left out: one that
//! stands before the error can do no less.

use std::io;
use web_time::Instant;

use palisade_certificate::{Claim, Locations, Proof as Kind};
use palisade_check::counted::{Asked, Count, MANY, System, with_system};
use palisade_check::{
    Control, Criterion, Model, NoCertificate, Options, Reductions, Refusal, WithCopies,
    load_buffer_copies,
};
use palisade_lang::Program;

use crate::{FIRST_BUDGET, Limits, PRUNING_CAP, Proof, Proved, Searches};

/// The questions whose answer "holds for every number of copies" can be certified.
pub const CERTIFIED: &[(Model, Criterion)] = &[
    (Model::Sc, Criterion::Safe),
    (Model::Sc, Criterion::Drf),
    (Model::Tso, Criterion::Drf),
    (Model::Tso, Criterion::Trf),
    (Model::Tso, Criterion::Persistent),
    (Model::Tso, Criterion::Robust),
    (Model::Tso, Criterion::Safe),
    (Model::Ra, Criterion::Robust),
];

/// Proves again, without any reduction, that a criterion holds, and hands all ideals and minimal states to `take`, in no particular order. What they show. Programs
/// without threads of any number are passed on.
pub fn certificate(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut dyn FnMut(&[i64]) -> io::Result<()>,
) -> Result<Claim, NoCertificate> {
    if !program.is_parameterised() {
        return palisade_check::certificate(program, options, control, take);
    }
    let refused = |message: String| {
        NoCertificate::Refused(Refusal {
            message,
            span: None,
        })
    };
    if !CERTIFIED.contains(&(options.model, options.criterion)) {
        let (criterion, model) = (options.criterion.name(), options.model.name());
        // Otherwise, what is safe under a weak model, for every number, is so because it is robust.
        let instead = match options.criterion {
            Criterion::Safe => rests_on_others(options.model),
            _ => String::new(),
        };
        return Err(refused(format!(
            "there is no certificate for `{criterion}` under `{model}` and any number of threads{instead}"
        )));
    }
    let options = Options {
        reductions: Reductions::NONE,
        all: false,
        ..options.clone()
    };
    let start = Instant::now();
    if (options.model, options.criterion) == (Model::Tso, Criterion::Safe) {
        return with_load_buffers(program, &options, control, take);
    }
    // A system may have to be built again: only what the last one says counts.
    let mut sets = Vec::new();
    let asked = with_system(program, &options, &mut |system| {
        let limits = Limits {
            start,
            timeout: options.timeout,
            memory: options.memory_limit(),
            control,
            peak: 0,
        };
        let mut searches = Searches::new(system, limits);
        // What counts nothing says least about what can be reached, and leaves most to the basis; where that is too much, the ideals say more.
        let mut proved = searches.backward_over(&[0], FIRST_BUDGET);
        if proved == Proved::Open {
            searches.backward = None;
            proved = searches.backward_over(&[PRUNING_CAP, 0], u64::MAX);
        }
        let proof = match proved {
            Proved::Holds(Some(proof)) => proof,
            Proved::Stopped(why) => return Err(NoCertificate::Unfinished(why)),
            _ => return Err(violated()),
        };
        sets = written(searches.steps.system, &proof);
        Ok(())
    });
    match asked {
        Ok(Asked::Answered(answered)) => answered?,
        Ok(Asked::OnlyInstances(why)) => return Err(refused(why)),
        Ok(Asked::Dismissed(_)) => {
            return Err(refused("there is nothing to certify".to_owned()));
        }
        Err(refusal) => return Err(NoCertificate::Refused(refusal)),
    }
    for set in sets {
        take(&set).map_err(NoCertificate::Failed)?;
    }
    let locations = match options.all_locations {
        true => Locations::All,
        false => Locations::Declared,
    };
    Ok(Claim {
        locations,
        proof: Kind::Basis,
        ..Claim::new(options.model, options.criterion)
    })
}

/// What the answer may rest on where `safe` has no certificate of its own.
fn rests_on_others(model: Model) -> String {
    let model = model.name();
    format!(
        "; where the program is robust, the answer rests on `--criterion robust --model {model}` and `--criterion safe --model sc`, which have one each"
    )
}

/// `safe` under TSO: nodes and minimal configurations with load buffers, whether the program is robust or not.
fn with_load_buffers(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut dyn FnMut(&[i64]) -> io::Result<()>,
) -> Result<Claim, NoCertificate> {
    let options = Options {
        // What checks them forgets the same registers.
        reductions: Reductions {
            dead_registers: true,
            ..Reductions::NONE
        },
        ..options.clone()
    };
    let mut limits = Limits {
        start: Instant::now(),
        timeout: options.timeout,
        memory: options.memory_limit(),
        control,
        peak: 0,
    };
    let (end, states) = load_buffer_copies(program, &options, &mut |states, bytes| {
        limits.stop(states, bytes)
    });
    match end {
        WithCopies::Safe(_) => {}
        WithCopies::Unsafe(_) => return Err(violated()),
        WithCopies::Stopped(why) => {
            let why = why + &rests_on_others(Model::Tso);
            return Err(NoCertificate::Unfinished(why));
        }
        WithCopies::OnlyInstances(why) => {
            return Err(NoCertificate::Refused(Refusal {
                message: why,
                span: None,
            }));
        }
    }
    for state in states {
        take(&state).map_err(NoCertificate::Failed)?;
    }
    Ok(Claim {
        proof: Kind::LoadBuffers,
        ..Claim::new(Model::Tso, Criterion::Safe)
    })
}

fn violated() -> NoCertificate {
    NoCertificate::Unfinished(
        "a violation was found; please report this, with the program".to_owned(),
    )
}

/// All sets of a proof as numbers.
fn written(system: &mut dyn System, proof: &Proof) -> Vec<Vec<i64>> {
    let mut sets = Vec::new();
    for (shared, copies) in &proof.ideals {
        let Some(mut numbers) = begin(system, 0, *shared) else {
            continue;
        };
        for &(local, count) in copies {
            if let Some(local) = system.local_numbers(local) {
                numbers.extend(local);
                numbers.push(at_most(count));
            }
        }
        sets.push(numbers);
    }
    'basis: for (shared, copies) in &proof.basis {
        let Some(mut numbers) = begin(system, 1, *shared) else {
            continue;
        };
        for &(local, count) in copies {
            let Some(local) = system.local_numbers(local) else {
                continue 'basis;
            };
            numbers.extend(local);
            numbers.push(count.into());
        }
        sets.push(numbers);
    }
    sets
}

fn begin(system: &mut dyn System, kind: i64, shared: u32) -> Option<Vec<i64>> {
    let mut numbers = vec![kind];
    numbers.extend(system.shared_numbers(shared)?);
    Some(numbers)
}

fn at_most(count: Count) -> i64 {
    match count {
        MANY => 0,
        count => count.into(),
    }
}
