//! A report: one page about some programs, complete in one file, that fetches nothing.
//!
//! [`render`] turns what was found about each FILE into HTML. Everything that comes from the user is escaped by the template engine, or, in the
//! runs that the page's script plays, by [`player`].

mod player;

use crate::columns::marked;
use crate::notes::sentences;
use crate::outcome::{Failure, FenceFindings};
use crate::{cycle, fences, picture, shape, words};
use minijinja::{Environment, Value, context};
use palisade_check::{Answer, QUESTIONS, Refusal, Verdict};
use palisade_fence::{Candidate, FenceResult};
use palisade_lang::Program;
use palisade_memory::{Criterion, Model, Witness};
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything that a page says about one FILE.
#[derive(Debug)]
pub struct FilePage {
    /// As the user named it.
    pub file: String,
    /// What was found, or why the FILE could not be read.
    pub result: Result<Found, Failure>,
}

/// What was found about one program.
#[derive(Debug)]
pub struct Found {
    /// The program.
    pub program: Program,
    /// An answer to each question, in the order of [`QUESTIONS`].
    pub answers: Vec<Asked>,
}

/// A question and what came out.
#[derive(Debug)]
pub struct Asked {
    /// Under which model.
    pub model: Model,
    /// Which criterion.
    pub criterion: Criterion,
    /// What came out.
    pub answer: Result<Answer, Refusal>,
    /// Where it is violated and fences may help: which ones, with explanations.
    pub fences: Option<FenceFindings>,
}

/// The page. `version` is that of the command.
pub fn render(files: &[FilePage], version: &str) -> String {
    rendered("page.html", files, version, false)
}

/// A page with nothing but the runs of one program, beside its text: for a panel of an editor, where the rest is known.
pub fn run(file: &FilePage) -> String {
    rendered("page.html", std::slice::from_ref(file), "", true)
}

/// The same without the page around it: for a page that has the style and the script already.
pub fn run_part(file: &FilePage) -> String {
    rendered("file.html", std::slice::from_ref(file), "", true)
}

/// The style that [`run_part`] needs around it.
pub fn style() -> String {
    picture::style() + include_str!("page.css")
}

fn rendered(template: &str, files: &[FilePage], version: &str, bare: bool) -> String {
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    // The names' ending switches escaping on.
    let rendered = environment
        .add_template("page.html", include_str!("page.html"))
        .and_then(|()| environment.add_template("file.html", include_str!("file.html")))
        .and_then(|()| environment.get_template(template))
        .and_then(|template| {
            let files: Vec<FileView> = files.iter().enumerate().map(FileView::new).collect();
            template.render(context! {
                file => files.first(),
                files,
                version,
                bare,
                models => MODELS.map(words::model_with_use),
                style => Value::from_safe_string(style()),
                script => Value::from_safe_string(include_str!("page.js").to_owned()),
            })
        });
    // The templates are a part of this crate, and a test renders them.
    rendered.unwrap_or_else(|error| format!("<!DOCTYPE html><title>error</title>{error:#}"))
}

/// A FILE as the template needs it.
#[derive(Serialize)]
struct FileView {
    id: String,
    name: String,
    error: Option<String>,
    /// What is violated, for the contents.
    summary: String,
    /// One row for each criterion.
    table: Vec<RowView>,
    notes: Vec<String>,
    lines: Vec<LineView>,
    runs: Vec<RunView>,
    stats: Vec<StatsView>,
}

#[derive(Serialize)]
struct RowView {
    criterion: &'static str,
    meaning: &'static str,
    cells: Vec<CellView>,
}

/// One verdict.
#[derive(Serialize)]
struct CellView {
    class: &'static str,
    text: &'static str,
    why: String,
    /// The run that shows it.
    link: Option<String>,
}

#[derive(Serialize)]
struct LineView {
    number: u32,
    text: String,
    /// The runs that this line is involved in.
    runs: Vec<String>,
}

#[derive(Serialize)]
struct StatsView {
    question: String,
    verdict: &'static str,
    text: String,
}

/// A violation.
#[derive(Serialize)]
struct RunView {
    id: String,
    title: String,
    /// The name of the cycle, or what the pattern says.
    headline: String,
    edges: Vec<EdgeView>,
    story: Vec<String>,
    picture: Value,
    /// The run for the script.
    data: Value,
    /// Beside the step-by-step view, where the states end early.
    ends_early: bool,
    fences: Option<FencesView>,
}

#[derive(Serialize)]
struct EdgeView {
    from: usize,
    to: usize,
    relation: &'static str,
    words: String,
}

#[derive(Serialize)]
struct FencesView {
    class: &'static str,
    summary: String,
    places: Vec<PlaceView>,
    diff: Vec<DiffView>,
    note: Option<String>,
}

#[derive(Serialize)]
struct PlaceView {
    place: String,
    reason: String,
}

#[derive(Serialize)]
struct DiffView {
    class: &'static str,
    text: String,
}

const MODELS: [Model; 5] = Model::ALL;

/// The criteria, from what everybody wants to what is hardest to have.
const CRITERIA: [(Criterion, &str); 7] = [
    (Criterion::Safe, "assertions hold, no never comes true"),
    (
        Criterion::Robust,
        "nothing that sequential consistency does not have",
    ),
    (
        Criterion::Observational,
        "nothing that is used differs from sequential consistency",
    ),
    (Criterion::Persistent, "no new orders of program and stores"),
    (Criterion::Trf, "no triangular races"),
    (Criterion::Drf, "no data races"),
    (Criterion::Live, "nothing is stuck for ever"),
];

impl FileView {
    fn new((number, page): (usize, &FilePage)) -> FileView {
        let id = format!("file{}", number + 1);
        let mut view = FileView {
            name: page.file.clone(),
            error: None,
            summary: String::new(),
            table: Vec::new(),
            notes: Vec::new(),
            lines: Vec::new(),
            runs: Vec::new(),
            stats: Vec::new(),
            id,
        };
        match &page.result {
            Err(failure) => {
                view.error = Some(failure.reason());
                view.summary = "not analysed".to_owned();
            }
            Ok(found) => view.fill(found),
        }
        view
    }

    fn fill(&mut self, found: &Found) {
        // The same run may answer two questions: races are those of SC, whatever the model.
        let mut shown: Vec<(&Witness, String)> = Vec::new();
        let mut involved: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        let mut links: BTreeMap<(Model, Criterion), String> = BTreeMap::new();
        // What everybody wants to know comes first.
        let in_order = CRITERIA.iter().flat_map(|(criterion, _)| {
            let of_criterion = found.answers.iter();
            of_criterion.filter(|asked| asked.criterion == *criterion)
        });
        for asked in in_order {
            let Ok(answer) = &asked.answer else {
                continue;
            };
            let name = format!(
                "{} under {}",
                asked.criterion.name(),
                words::model(asked.model)
            );
            self.notes.extend(
                sentences(&answer.notes)
                    .iter()
                    .map(|note| format!("{name}: {note}")),
            );
            let question = words::holds(asked.model, asked.criterion);
            self.stats.push(StatsView {
                question,
                verdict: words::verdict(&answer.verdict),
                text: words::stats(
                    &answer.stats,
                    true,
                    !matches!(answer.verdict, Verdict::Unknown(_)),
                ),
            });
            let Some(witness) = answer.witnesses.first() else {
                continue;
            };
            // Beside an undecided question there may stand a run that shows something else.
            if answer.verdict != Verdict::Violated {
                continue;
            }
            let known = shown.iter().find(|(other, _)| *other == witness);
            if let Some((_, id)) = known {
                links.insert((asked.model, asked.criterion), id.clone());
                continue;
            }
            let id = format!(
                "{}-{}-{}",
                self.id,
                asked.model.name(),
                asked.criterion.name()
            );
            for &event in &marked(witness) {
                if let Some(event) = witness.events.get(event) {
                    let runs = involved.entry(event.line).or_default();
                    if !runs.contains(&id) {
                        runs.push(id.clone());
                    }
                }
            }
            links.insert((asked.model, asked.criterion), id.clone());
            shown.push((witness, id.clone()));
            self.runs
                .push(RunView::new(id, asked, witness, &found.program, &self.name));
        }
        for asked in &found.answers {
            let answer = asked.answer.as_ref().ok();
            let witness = answer.and_then(|answer| answer.witnesses.first());
            let known = shown.iter().find(|(other, _)| Some(*other) == witness);
            if let Some((_, id)) = known {
                let question = (asked.model, asked.criterion);
                links.entry(question).or_insert_with(|| id.clone());
            }
        }
        self.table = table(found, &links);
        let violated = |a: &&Asked| matches!(&a.answer, Ok(a) if a.verdict == Verdict::Violated);
        self.summary = match found.answers.iter().filter(violated).count() {
            0 => String::new(),
            number => words::counted(number as u64, "violation", "violations"),
        };
        let text = found.program.source.text();
        for (number, line) in (1..).zip(text.lines()) {
            self.lines.push(LineView {
                number,
                text: line.to_owned(),
                runs: involved.remove(&number).unwrap_or_default(),
            });
        }
    }
}

fn table(found: &Found, links: &BTreeMap<(Model, Criterion), String>) -> Vec<RowView> {
    let cell = |model: Model, criterion: Criterion| {
        let asked = found
            .answers
            .iter()
            .find(|a| a.model == model && a.criterion == criterion);
        let (class, text, why) = match asked.map(|asked| &asked.answer) {
            None => ("none", "–", String::new()),
            Some(Err(refusal)) => ("refused", "not asked", refusal.message.clone()),
            Some(Ok(answer)) => match &answer.verdict {
                Verdict::Holds => ("holds", "✓ holds", words::holds(model, criterion)),
                Verdict::Violated => {
                    let why = answer.witnesses.first().map(cycle::summary);
                    ("violated", "✗ violated", why.unwrap_or_default())
                }
                Verdict::Unknown(reason) => ("unknown", "? undecided", reason.clone()),
            },
        };
        CellView {
            class,
            text,
            why,
            link: links.get(&(model, criterion)).cloned(),
        }
    };
    let known = |criterion: Criterion| QUESTIONS.iter().any(|(_, c)| *c == criterion);
    CRITERIA
        .iter()
        .filter(|(criterion, _)| known(*criterion))
        .map(|&(criterion, meaning)| RowView {
            criterion: criterion.name(),
            meaning,
            cells: MODELS.map(|model| cell(model, criterion)).into(),
        })
        .collect()
}

impl RunView {
    fn new(id: String, asked: &Asked, witness: &Witness, program: &Program, file: &str) -> Self {
        let headline = match (shape::name(witness), &witness.pattern) {
            (Some(shape), _) => format!("The cycle {} ({})", shape.name, shape.meaning),
            (None, Some(pattern)) => cycle::sentence(&pattern.message, witness),
            (None, None) => "A cycle".to_owned(),
        };
        let edges = witness.edges.iter().filter_map(|edge| {
            let (from, to) = (witness.events.get(edge.from)?, witness.events.get(edge.to)?);
            Some(EdgeView {
                from: edge.from + 1,
                to: edge.to + 1,
                relation: shape::relation(edge.relation),
                words: cycle::edge_in_words(witness.model, edge.relation, from, to),
            })
        });
        let (data, complete) = player::data(witness, program);
        let mut verdict = words::violated(asked.model, asked.criterion);
        // The contents list what is violated under each model.
        if asked.criterion == Criterion::Drf {
            verdict = format!("{verdict} under {}", words::model(asked.model));
        }
        RunView {
            title: capitalised(&verdict),
            headline,
            edges: edges.collect(),
            story: cycle::told(witness),
            picture: Value::from_safe_string(picture::run(witness, program, file).inline()),
            data: Value::from_safe_string(data),
            ends_early: !complete,
            fences: asked
                .fences
                .as_ref()
                .map(|fenced| FencesView::new(fenced, asked, program)),
            id,
        }
    }
}

impl FencesView {
    fn new(findings: &FenceFindings, asked: &Asked, program: &Program) -> Self {
        let goal = words::holds(asked.model, asked.criterion);
        let fences = &findings.fences;
        let (class, summary, repairs) = match &fences.result {
            FenceResult::Optimal(set) => {
                let count = fences::counted(set);
                let text = format!(
                    "{count} it {goal}. The cost is {}, and no cheaper set is enough.",
                    set.cost
                );
                ("found", text, fences::sorted(program, &set.repairs))
            }
            FenceResult::None => {
                let text = format!("No set of fences makes it {goal}.");
                ("none", text, Vec::new())
            }
            FenceResult::Unknown {
                reason,
                lower_bound,
                ..
            } => {
                let text = format!(
                    "The cheapest fences were not found: {reason}. A set that is enough costs at least {lower_bound}."
                );
                ("unknown", text, Vec::new())
            }
        };
        let place = |candidate: &Candidate| {
            let mut known = fences.explanations.iter();
            let witness = known.find(|(repair, _)| *repair == candidate.repair);
            let reason = match witness {
                Some((_, witness)) => format!("Without it: {}", cycle::reason(witness)),
                None => "What happens without it was not found within the limits.".to_owned(),
            };
            PlaceView {
                place: fences::repair_line(program, candidate.repair),
                reason,
            }
        };
        let (diff, note) = match &findings.text {
            Some(Ok(text)) => (difference(program.source.text(), text), None),
            Some(Err(reason)) => (Vec::new(), Some(reason.clone())),
            None => (Vec::new(), None),
        };
        FencesView {
            class,
            summary,
            places: repairs.iter().map(place).collect(),
            diff,
            note,
        }
    }
}

fn difference(old: &str, new: &str) -> Vec<DiffView> {
    fences::unified(old, new)
        .lines()
        .map(|line| DiffView {
            class: match line.as_bytes().first() {
                Some(b'+') => "add",
                Some(b'-') => "del",
                Some(b'@') => "hunk",
                _ => "same",
            },
            text: line.to_owned(),
        })
        .collect()
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
