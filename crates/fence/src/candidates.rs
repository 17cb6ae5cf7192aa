//! What may be changed in a program, and what each change costs.

use palisade_lang::{PlaceId, Program, Repair, Span};

use crate::costs::Costs;

/// A repair that may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What is changed.
    pub repair: Repair,
    /// What it costs; at least 1.
    pub cost: u64,
}

/// Which kinds of repairs are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds {
    /// Fences.
    pub fence: bool,
    /// Read-modify-writes instead of loads and stores.
    pub rmw: bool,
    /// `seqcst` stores.
    pub order: bool,
}

impl Kinds {
    /// Fences alone.
    pub const FENCES: Kinds = Kinds {
        fence: true,
        rmw: false,
        order: false,
    };
}

/// All repairs that may be chosen for a program.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// The program without any of them.
    pub(crate) base: Program,
    /// The repairs, each with its cost.
    pub(crate) all: Vec<Candidate>,
}

impl Candidates {
    /// The allowed repairs of a program; those that the costs forbid are left out.
    pub fn new(program: &Program, kinds: Kinds, costs: &Costs) -> Candidates {
        let mut repairs = Vec::new();
        if kinds.fence {
            let places = 0..program.places.len() as u32;
            repairs.extend(places.map(|p| Repair::Fence(PlaceId(p))));
        }
        if kinds.rmw {
            repairs.extend(program.rmw_repairs());
        }
        if kinds.order {
            repairs.extend(program.order_repairs());
        }
        Candidates::of(program.clone(), program, repairs, costs)
    }

    /// For a program that has fences: which of them stay. Those that the costs forbid go.
    pub fn existing(program: &Program, costs: &Costs) -> Candidates {
        let fences: Vec<Span> = program.existing_fences();
        let base = program.without_fences(&fences);
        let repairs = fences.into_iter().map(Repair::Keep).collect();
        Candidates::of(base, program, repairs, costs)
    }

    fn of(base: Program, program: &Program, repairs: Vec<Repair>, costs: &Costs) -> Candidates {
        let all = repairs
            .into_iter()
            .filter_map(|repair| {
                let cost = costs.of(program, repair)?.max(1);
                Some(Candidate { repair, cost })
            })
            .collect();
        Candidates { base, all }
    }

    /// The repairs that may be chosen.
    pub fn all(&self) -> &[Candidate] {
        &self.all
    }

    /// The program with some of the repairs.
    pub fn program(&self, chosen: &[usize]) -> Program {
        let repairs: Vec<Repair> = chosen.iter().map(|&c| self.all[c].repair).collect();
        self.base.repaired(&repairs)
    }

    /// What some of the repairs cost together.
    pub fn cost(&self, chosen: &[usize]) -> u64 {
        chosen.iter().map(|&c| self.all[c].cost).sum()
    }
}
