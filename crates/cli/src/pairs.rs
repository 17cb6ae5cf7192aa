//! Which criteria have a meaning under which model. A new pair is one line here.

use palisade_memory::{Criterion, Model};

/// All pairs that have a meaning; for each model in the order of strength, the strongest first.
pub const PAIRS: &[(Model, Criterion)] = &[
    (Model::Sc, Criterion::Drf),
    (Model::Sc, Criterion::Safe),
    (Model::Tso, Criterion::Drf),
    (Model::Tso, Criterion::Trf),
    (Model::Tso, Criterion::Robust),
    (Model::Tso, Criterion::Persistent),
    (Model::Tso, Criterion::Safe),
    (Model::Ra, Criterion::Robust),
    (Model::Ra, Criterion::Safe),
];

/// The criteria that a model knows, the strongest first.
pub fn criteria(model: Model) -> Vec<Criterion> {
    PAIRS
        .iter()
        .filter(|(m, _)| *m == model)
        .map(|(_, criterion)| *criterion)
        .collect()
}

/// What to say about a pair that has no meaning.
pub fn complaint(model: Model, criterion: Criterion) -> Option<String> {
    if PAIRS.contains(&(model, criterion)) {
        return None;
    }
    let mut text = format!(
        "`--criterion {}` has no meaning under `--model {}`; these pairs have one:",
        criterion.name(),
        model.name()
    );
    for model in [Model::Sc, Model::Tso, Model::Ra] {
        let names: Vec<&str> = criteria(model).iter().map(|c| c.name()).collect();
        text.push_str(&format!(
            "\n  --model {:3}  --criterion {}",
            model.name(),
            names.join(" | ")
        ));
    }
    Some(text)
}

/// The model whose runs decide the criterion: races are looked for in the runs of sequential consistency, whatever model the program will
/// meet later.
pub fn searched_model(model: Model, criterion: Criterion) -> Model {
    match criterion {
        Criterion::Drf => Model::Sc,
        _ => model,
    }
}
