//! Which question is asked: what is left open follows from the program. Is it right on weak memory?

use palisade_check::QUESTIONS;
use palisade_lang::{Language, Op, Order, Program, RmwAction};
use palisade_memory::{Criterion, Model};
use palisade_report::Question;

/// What is to be known about a program, as far as it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// One answer; a model or a criterion that is not given follows from the program.
    One(Option<Model>, Option<Criterion>),
    /// An answer for every model that knows the criterion.
    EveryModel(Option<Criterion>),
    /// An answer for every criterion that the model knows.
    EveryCriterion(Option<Model>),
}

impl Wanted {
    /// The question for a program.
    pub fn about(self, program: &Program) -> Asked {
        self.asked(|model, criterion| complete(program, model, criterion))
    }

    /// The question where there is no program to ask about: the usual one for a file with this name.
    pub fn about_nothing(self, name: &str) -> Asked {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let usual = match extension {
            Some("c" | "i" | "rs") => (Model::C20, Criterion::Safe),
            Some("tpl") => (Model::Ra, Criterion::Robust),
            _ => (Model::Tso, Criterion::Robust),
        };
        self.asked(|model, criterion| (model.unwrap_or(usual.0), criterion.unwrap_or(usual.1)))
    }

    fn asked(
        self,
        complete: impl Fn(Option<Model>, Option<Criterion>) -> (Model, Criterion),
    ) -> Asked {
        let (model, question) = match self {
            Wanted::One(model, criterion) => {
                let (model, criterion) = complete(model, criterion);
                (model, Question::Check(criterion))
            }
            Wanted::EveryModel(criterion) => {
                let (model, criterion) = complete(None, criterion);
                (model, Question::CheckModels(criterion))
            }
            Wanted::EveryCriterion(model) => (complete(model, None).0, Question::CheckAll),
        };
        Asked { model, question }
    }
}

/// What is asked about one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Under which model; where all are asked about, the one that the program is written for.
    pub model: Model,
    /// What.
    pub question: Question,
}

impl Asked {
    /// Every model and criterion that the question is about.
    pub fn pairs(self) -> Vec<(Model, Criterion)> {
        match self.question {
            Question::CheckModels(criterion) => models(criterion)
                .into_iter()
                .map(|model| (model, criterion))
                .collect(),
            Question::CheckAll => criteria(self.model)
                .into_iter()
                .map(|criterion| (self.model, criterion))
                .collect(),
            Question::Check(criterion)
            | Question::Fence(criterion)
            | Question::Orders(criterion) => {
                vec![(self.model, criterion)]
            }
            Question::Reach => vec![(self.model, Criterion::Safe)],
        }
    }
}

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

/// The model and the criterion for a program, where one or both are not given.
pub fn complete(
    program: &Program,
    model_given: Option<Model>,
    criterion_given: Option<Criterion>,
) -> (Model, Criterion) {
    let known = |model, criterion| QUESTIONS.contains(&(model, criterion));
    match (model_given, criterion_given) {
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
        // Blocks of several accesses are those of verification: C has none.
        Language::C if palisade_memory::c20::refusal(program).is_some() => return Model::Sc,
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
fn has_orders(program: &Program) -> bool {
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
        complete(&parsed.expect("a program").program, None, None)
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
        let ask = |model, criterion| complete(&program, model, criterion);
        let trf = Some(Criterion::Trf);
        assert_eq!(ask(None, trf), (Model::Tso, Criterion::Trf));
        let tso = Some(Model::Tso);
        assert_eq!(ask(tso, None), (Model::Tso, Criterion::Safe));
        let robust = Some(Criterion::Robust);
        assert_eq!(ask(None, robust), (Model::C20, Criterion::Robust));
        assert_eq!(ask(Some(Model::Sc), None), (Model::Sc, Criterion::Safe));
    }
}
