//! The cheapest choice of places that meets all clauses: a 0/1 integer program.

use good_lp::{Expression, Solution, SolverModel, constraint, microlp, variable, variables};
use palisade_lang::PlaceId;

/// At least one of `any` is chosen, or at least one of `not_all` is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clause {
    /// Choosing one of these meets the clause.
    pub any: Vec<PlaceId>,
    /// Leaving out one of these meets it too.
    pub not_all: Vec<PlaceId>,
}

/// The cheapest set of places that meets every clause, and its cost; `None` if there is none.
/// Only places with a cost can be chosen.
pub(crate) fn cheapest(
    costs: &[(PlaceId, u64)],
    clauses: &[Clause],
) -> Result<Option<(Vec<PlaceId>, u64)>, String> {
    let mut problem = variables!();
    let chosen: Vec<_> = costs
        .iter()
        .map(|_| problem.add(variable().binary()))
        .collect();
    let variable_of = |place: &PlaceId| {
        costs
            .iter()
            .position(|(p, _)| p == place)
            .map(|index| chosen[index])
    };
    let total: Expression = costs
        .iter()
        .zip(&chosen)
        .map(|((_, cost), variable)| *cost as f64 * *variable)
        .sum();
    let mut model = problem.minimise(total).using(microlp);
    for clause in clauses {
        let mut left: Expression = clause.any.iter().filter_map(variable_of).sum();
        let mut needed = 1.0;
        for place in &clause.not_all {
            match variable_of(place) {
                Some(variable) => {
                    left -= variable;
                    needed -= 1.0;
                }
                // What cannot be chosen is left out: the clause is met.
                None => needed = f64::NEG_INFINITY,
            }
        }
        if needed.is_finite() {
            model = model.with(constraint!(left >= needed));
        }
    }
    match model.solve() {
        Ok(solution) => {
            let places: Vec<PlaceId> = costs
                .iter()
                .zip(&chosen)
                .filter(|(_, variable)| solution.value(**variable) > 0.5)
                .map(|((place, _), _)| *place)
                .collect();
            let cost = costs
                .iter()
                .filter(|(place, _)| places.contains(place))
                .map(|(_, cost)| cost)
                .sum();
            Ok(Some((places, cost)))
        }
        Err(good_lp::ResolutionError::Infeasible) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clause(any: &[u32], not_all: &[u32]) -> Clause {
        Clause {
            any: any.iter().copied().map(PlaceId).collect(),
            not_all: not_all.iter().copied().map(PlaceId).collect(),
        }
    }

    fn unit(count: u32) -> Vec<(PlaceId, u64)> {
        (0..count).map(|p| (PlaceId(p), 1)).collect()
    }

    #[test]
    fn one_place_that_hits_all_rows_is_enough() {
        let clauses = [clause(&[0, 1], &[]), clause(&[1, 2], &[])];
        let found = cheapest(&unit(3), &clauses).unwrap().unwrap();
        assert_eq!(found, (vec![PlaceId(1)], 1));
    }

    #[test]
    fn costs_decide() {
        let costs = [(PlaceId(0), 1), (PlaceId(1), 5), (PlaceId(2), 1)];
        let clauses = [clause(&[0, 1], &[]), clause(&[1, 2], &[])];
        let found = cheapest(&costs, &clauses).unwrap().unwrap();
        assert_eq!(found, (vec![PlaceId(0), PlaceId(2)], 2));
    }

    #[test]
    fn a_place_that_may_not_be_chosen_is_not() {
        assert_eq!(cheapest(&unit(1), &[clause(&[7], &[])]), Ok(None));
    }

    #[test]
    fn not_all_of_a_set() {
        let clauses = [clause(&[0], &[]), clause(&[2], &[0])];
        let found = cheapest(&unit(3), &clauses).unwrap().unwrap();
        assert_eq!(found, (vec![PlaceId(0), PlaceId(2)], 2));
    }
}
