//! The question that is asked where the flags leave it open: is it right on weak memory?

use palisade_check::QUESTIONS;
use palisade_lang::{Language, Op, Order, Program, RmwAction};
use palisade_memory::{Criterion, Model};

/// What the flags say about the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    pub model: Option<Model>,
    pub criterion: Option<Criterion>,
}

/// The model and the criterion for a program.
pub fn question(program: &Program, flags: Flags) -> (Model, Criterion) {
    let known = |model, criterion| QUESTIONS.contains(&(model, criterion));
    match (flags.model, flags.criterion) {
        (Some(model), Some(criterion)) => (model, criterion),
        (Some(model), None) => (model, criterion(program, model)),
        (None, None) => {
            let model = model(program);
            (model, criterion(program, model))
        }
        (None, Some(criterion)) => {
            let usual = model(program);
            let others = [Model::Tso, Model::C20, Model::Ra, Model::Sc];
            let mut models = std::iter::once(usual).chain(others);
            let model = models.find(|model| known(*model, criterion));
            (model.unwrap_or(usual), criterion)
        }
    }
}

/// The model that a program is written for.
fn model(program: &Program) -> Model {
    let usual = match program.language {
        Language::Tpl => Model::Ra,
        Language::Litmus if is_c_litmus(program) => Model::C20,
        Language::Litmus => return Model::Tso,
        Language::Pal | Language::Trencher => Model::Tso,
        // C and what is like it.
        _ => return Model::C20,
    };
    match has_orders(program) {
        true => Model::C20,
        false => usual,
    }
}

fn is_c_litmus(program: &Program) -> bool {
    let word = program.source.text().split_whitespace().next();
    word == Some("C")
}

/// Whether some order is weaker or stronger than what stands for none.
pub fn has_orders(program: &Program) -> bool {
    let mut all = program.threads.iter().flat_map(|t| &t.transitions);
    all.any(|transition| match &transition.op {
        Op::Load { order, .. } | Op::Wait { order, .. } => *order != Order::Acquire,
        Op::Store { order, .. } => *order != Order::Release,
        Op::Rmw { order, action, .. } => {
            let failure = match action {
                RmwAction::CompareAndSwap { failure, .. } => *failure,
                _ => Order::Acquire,
            };
            *order != Order::AcqRel || failure != Order::Acquire
        }
        Op::Fence(order) => *order != Order::SeqCst,
        _ => false,
    })
}

/// `safe` where the program states something that can break.
fn criterion(program: &Program, model: Model) -> Criterion {
    let known = |criterion| QUESTIONS.contains(&(model, criterion));
    match states_something(program, model) || !known(Criterion::Robust) {
        true if known(Criterion::Safe) => Criterion::Safe,
        _ => Criterion::Robust,
    }
}

/// Whether the program says what must not happen: by an `assert`, a `never`, or nonatomic data where races are violations.
pub fn states_something(program: &Program, model: Model) -> bool {
    let weak = !matches!(model, Model::Sc | Model::Tso);
    let stated = |op: &Op| match op {
        Op::Assert(_) => true,
        Op::Load { order, .. } | Op::Store { order, .. } => weak && *order == Order::NonAtomic,
        _ => false,
    };
    !program.nevers.is_empty()
        || weak && program.locations.iter().any(|location| location.nonatomic)
        || program
            .threads
            .iter()
            .any(|thread| thread.transitions.iter().any(|t| stated(&t.op)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_lang::{ParseOptions, Source, parse};

    fn asked(name: &str, text: &str) -> (Model, Criterion) {
        let parsed = parse(&Source::new(name, text), &ParseOptions::default());
        let flags = Flags {
            model: None,
            criterion: None,
        };
        question(&parsed.expect("a program").program, flags)
    }

    #[test]
    fn the_question_follows_from_the_program() {
        let plain = "shared x; thread t { x = 1; }";
        assert_eq!(asked("a.pal", plain), (Model::Tso, Criterion::Robust));
        let stated = "shared x; thread t { x = 1; assert x == 1; }";
        assert_eq!(asked("a.pal", stated), (Model::Tso, Criterion::Safe));
        let never = "shared x; thread t { x = 1; } never x == 2;";
        assert_eq!(asked("a.pal", never), (Model::Tso, Criterion::Safe));
        let data = "nonatomic shared x; thread t { x = 1; }";
        assert_eq!(asked("a.pal", data), (Model::Tso, Criterion::Robust));
        let orders = "shared x; thread t { x.store(1, relaxed); }";
        assert_eq!(asked("a.pal", orders), (Model::C20, Criterion::Robust));
        let both = "shared x; nonatomic shared d; thread t { d = 1; x.store(1, seqcst); }";
        assert_eq!(asked("a.pal", both), (Model::C20, Criterion::Safe));
        let failure = "shared x; thread t { cas(x, 0, 1, acqrel, relaxed); }";
        assert_eq!(asked("a.pal", failure), (Model::C20, Criterion::Robust));
        let default = "shared x; thread t { x.store(1, release); fence(seqcst); }";
        assert_eq!(asked("a.pal", default), (Model::Tso, Criterion::Robust));
        let toy = "max_value 2; global x; fn t { x.store(1); }";
        assert_eq!(asked("a.tpl", toy), (Model::Ra, Criterion::Robust));
        let toy = "max_value 2; global x; fn t { x.store(1, rlx); }";
        assert_eq!(asked("a.tpl", toy), (Model::C20, Criterion::Robust));
    }

    #[test]
    fn one_flag_decides_the_rest() {
        let text = "shared x; thread t { x.store(1, relaxed); } never x == 2;";
        let parsed = parse(&Source::new("a.pal", text), &ParseOptions::default());
        let program = parsed.expect("a program").program;
        let ask = |model, criterion| question(&program, Flags { model, criterion });
        let trf = Some(Criterion::Trf);
        assert_eq!(ask(None, trf), (Model::Tso, Criterion::Trf));
        let tso = Some(Model::Tso);
        assert_eq!(ask(tso, None), (Model::Tso, Criterion::Safe));
        let robust = Some(Criterion::Robust);
        assert_eq!(ask(None, robust), (Model::C20, Criterion::Robust));
        assert_eq!(ask(Some(Model::Sc), None), (Model::Sc, Criterion::Safe));
    }
}
