//! The cheapest choice of repairs that meets all clauses: a 0/1 integer program.

use good_lp::{Expression, Solution, SolverModel, constraint, variable, variables};

#[cfg(feature = "highs")]
use good_lp::highs as solver;
#[cfg(not(feature = "highs"))]
use good_lp::microlp as solver;

/// At least one of `any` is chosen, or at least one of `not_all` is not. Both name repairs by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clause {
    /// Choosing one of these meets the clause.
    pub any: Vec<usize>,
    /// Leaving out one of these meets it too.
    pub not_all: Vec<usize>,
}

impl Clause {
    /// Whether a choice meets it.
    pub fn is_met(&self, chosen: &[usize]) -> bool {
        self.any.iter().any(|c| chosen.contains(c))
            || self.not_all.iter().any(|c| !chosen.contains(c))
    }
}

/// The cheapest choice that meets every clause, in ascending order; `None` if there is none.
pub(crate) fn cheapest(costs: &[u64], clauses: &[Clause]) -> Result<Option<Vec<usize>>, String> {
    cheapest_of_groups(costs, clauses, &[])
}

/// The same where just one of each group is chosen.
pub(crate) fn cheapest_of_groups(
    costs: &[u64],
    clauses: &[Clause],
    groups: &[Vec<usize>],
) -> Result<Option<Vec<usize>>, String> {
    // Not every solver takes a program without variables.
    if costs.is_empty() {
        let met = clauses.iter().all(|clause| clause.is_met(&[]));
        return Ok(met.then(Vec::new));
    }
    let mut problem = variables!();
    let variables: Vec<_> = costs
        .iter()
        .map(|_| problem.add(variable().binary()))
        .collect();
    let total: Expression = costs
        .iter()
        .zip(&variables)
        .map(|(cost, variable)| *cost as f64 * *variable)
        .sum();
    let mut model = problem.minimise(total).using(solver);
    for clause in clauses {
        let mut left: Expression = clause.any.iter().map(|&c| variables[c]).sum();
        for &choice in &clause.not_all {
            left -= variables[choice];
        }
        let needed = 1.0 - clause.not_all.len() as f64;
        model = model.with(constraint!(left >= needed));
    }
    for group in groups {
        let sum: Expression = group.iter().map(|&c| variables[c]).sum();
        model = model.with(constraint!(sum == 1.0));
    }
    match model.solve() {
        Ok(solution) => {
            let chosen: Vec<usize> = (0..costs.len())
                .filter(|&c| solution.value(variables[c]) > 0.5)
                .collect();
            // The solver computes with rounded numbers; the clauses are exact.
            let is_one = |group: &Vec<usize>| {
                let of_group = group.iter().filter(|c| chosen.binary_search(c).is_ok());
                of_group.count() == 1
            };
            if clauses.iter().all(|clause| clause.is_met(&chosen)) && groups.iter().all(is_one) {
                Ok(Some(chosen))
            } else {
                Err("the integer program was not solved exactly".to_owned())
            }
        }
        Err(good_lp::ResolutionError::Infeasible) => Ok(None),
        Err(error) => Err(format!("the integer program was not solved: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clause(any: &[usize], not_all: &[usize]) -> Clause {
        Clause {
            any: any.to_vec(),
            not_all: not_all.to_vec(),
        }
    }

    #[test]
    fn one_place_that_hits_all_rows_is_enough() {
        let clauses = [clause(&[0, 1], &[]), clause(&[1, 2], &[])];
        assert_eq!(cheapest(&[1, 1, 1], &clauses), Ok(Some(vec![1])));
    }

    #[test]
    fn costs_decide() {
        let clauses = [clause(&[0, 1], &[]), clause(&[1, 2], &[])];
        assert_eq!(cheapest(&[1, 5, 1], &clauses), Ok(Some(vec![0, 2])));
    }

    #[test]
    fn what_nothing_meets() {
        assert_eq!(cheapest(&[1], &[clause(&[], &[])]), Ok(None));
        assert_eq!(cheapest(&[], &[clause(&[], &[])]), Ok(None));
        assert_eq!(cheapest(&[], &[]), Ok(Some(Vec::new())));
    }

    #[test]
    fn not_all_of_a_set() {
        let clauses = [clause(&[0], &[]), clause(&[2], &[0])];
        assert_eq!(cheapest(&[1, 1, 1], &clauses), Ok(Some(vec![0, 2])));
    }

    /// Against all choices.
    #[test]
    fn nothing_is_cheaper() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..2000 {
            let count = rng.usize(1..8);
            let costs: Vec<u64> = (0..count).map(|_| rng.u64(1..30)).collect();
            let pick = |rng: &mut fastrand::Rng, percent| -> Vec<usize> {
                (0..count).filter(|_| rng.u32(..100) < percent).collect()
            };
            let clauses: Vec<Clause> = (0..rng.usize(0..8))
                .map(|_| {
                    let not_all = pick(&mut rng, 20);
                    let mut any = pick(&mut rng, 30);
                    any.retain(|c| !not_all.contains(c));
                    Clause { any, not_all }
                })
                .collect();
            let cost = |chosen: &[usize]| chosen.iter().map(|&c| costs[c]).sum::<u64>();
            let best = (0..1u32 << count)
                .map(|bits| {
                    (0..count)
                        .filter(|c| bits >> c & 1 == 1)
                        .collect::<Vec<_>>()
                })
                .filter(|chosen| clauses.iter().all(|clause| clause.is_met(chosen)))
                .map(|chosen| cost(&chosen))
                .min();
            let found = cheapest(&costs, &clauses).unwrap();
            assert_eq!(
                found.map(|chosen| cost(&chosen)),
                best,
                "{costs:?} {clauses:?}"
            );
        }
    }
}
