//! Which criteria have a meaning under which model, in the user's words.

use crate::args::RouteName;
pub use palisade::criteria;
use palisade_check::QUESTIONS;
use palisade_memory::{Criterion, Model};

/// What to say about a pair that has no meaning.
pub fn complaint(model: Model, criterion: Criterion) -> Option<String> {
    if QUESTIONS.contains(&(model, criterion)) {
        return None;
    }
    let mut text = format!(
        "`--criterion {}` has no meaning under `--model {}`; these pairs have one:",
        criterion.name(),
        model.name()
    );
    for model in Model::ALL {
        let names: Vec<&str> = criteria(model).iter().map(|c| c.name()).collect();
        if names.is_empty() {
            continue;
        }
        text.push_str(&format!(
            "\n  --model {:4}  --criterion {}",
            model.name(),
            names.join(" | ")
        ));
    }
    Some(text)
}

/// What to say about `--route` where nothing is asked that it is about. No criterion stands for all.
pub fn route_complaint(
    route: Option<RouteName>,
    model: Model,
    criterion: Option<Criterion>,
) -> Option<String> {
    let fits = model == Model::Tso && criterion.is_none_or(|c| c == Criterion::Safe);
    (route.is_some() && !fits).then(|| {
        "`--route` is about reachability under TSO: it needs `--model tso` and the criterion `safe`"
            .to_owned()
    })
}
