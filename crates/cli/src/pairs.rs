//! Which criteria have a meaning under which model, in the user's words.

use crate::args::RouteName;
use palisade_check::QUESTIONS;
use palisade_memory::{Criterion, Model};

/// The criteria that a model knows, the strongest first.
pub fn criteria(model: Model) -> Vec<Criterion> {
    QUESTIONS
        .iter()
        .filter(|(m, _)| *m == model)
        .map(|(_, criterion)| *criterion)
        .collect()
}

/// The models that know a criterion.
pub fn models(criterion: Criterion) -> Vec<Model> {
    Model::ALL
        .into_iter()
        .filter(|model| QUESTIONS.contains(&(*model, criterion)))
        .collect()
}

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
