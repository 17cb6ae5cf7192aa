//! JSON: one object per line, one line per FILE, with the fixed fields.

use crate::fences::{self, FenceLine};
use crate::notes::sentences;
use crate::orders::{self, ChangeLine, NeededLine};
use crate::outcome::{Failure, FenceFindings, FileReport, Findings, OrderFindings, Question};
use crate::words;
use palisade_check::{Answer, Harm, Refusal, Stats, Verdict};
use palisade_fence::{Assignment, FenceResult, OrdersResult, RepairSet};
use palisade_lang::{Diagnostic, Severity, Source};
use palisade_memory::Witness;
use palisade_memory::c20::shown::{Synchronisation, synchronisation};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Default, Serialize)]
struct Line<'a> {
    file: &'a str,
    model: &'static str,
    criterion: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Vec<DiagnosticFields<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    criteria: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    models: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    reasons: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<u64>,
    #[serde(flatten)]
    fences: Option<FenceFields<'a>>,
    #[serde(flatten)]
    orders: Option<OrderFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<WitnessFields<'a>>,
    /// All of them, where `--all` found several; the first is `witness`.
    #[serde(skip_serializing_if = "Option::is_none")]
    witnesses: Option<&'a [Witness]>,
    /// Whether an `assert` or `never` can break because of a violation of robustness; `null` where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    harmful: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    harm: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<StatsFields>,
}

/// What `fence` adds. A `null` says that no set of fences helps, or that none is known.
#[derive(Serialize)]
struct FenceFields<'a> {
    fences: Option<Vec<FenceLine<'a>>>,
    cost: Option<u64>,
    optimal: bool,
    /// Where that is not known: no set that is enough costs less.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<u64>,
    /// With `--reduce`: the program's own fences that can go.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<Vec<FenceLine<'a>>>,
    /// With `--all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    sets: Option<Vec<SetFields<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sets_complete: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    written: bool,
}

/// What `orders` adds. A `null` says that no orders help, or that none are known.
#[derive(Serialize)]
struct OrderFields<'a> {
    changes: Option<Vec<ChangeLine>>,
    cost: Option<u64>,
    optimal: bool,
    /// Where that is not known: no orders that are enough cost less.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<u64>,
    /// Only some changes were allowed: the best of these.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    restricted: bool,
    /// What the orders of the text cost, and whether the criterion holds with them; `null` where that is not known.
    cost_before: u64,
    held_before: Option<bool>,
    /// With `--explain`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    needed: Vec<NeededLine<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    written: bool,
}

/// A witness, and what synchronises in it.
#[derive(Serialize)]
struct WitnessFields<'a> {
    #[serde(flatten)]
    witness: &'a Witness,
    /// Pairs of events of different threads, by index.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sw: Vec<(usize, usize)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    psc: Vec<(usize, usize)>,
}

impl<'a> WitnessFields<'a> {
    fn new(witness: &'a Witness) -> Self {
        let Synchronisation { sw, psc } = synchronisation(witness);
        WitnessFields { witness, sw, psc }
    }
}

#[derive(Serialize)]
struct SetFields<'a> {
    fences: Vec<FenceLine<'a>>,
    cost: u64,
}

#[derive(Serialize)]
struct DiagnosticFields<'a> {
    severity: &'static str,
    message: &'a str,
    /// The file, where the program has several and it is not the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: u32,
    column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
}

#[derive(Serialize)]
struct StatsFields {
    states: u64,
    transitions: u64,
    queries: u64,
    pruned: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<String>,
    wall_ms: u64,
    peak_memory_bytes: u64,
}

impl StatsFields {
    fn new(stats: &Stats) -> Self {
        StatsFields {
            states: stats.states,
            transitions: stats.transitions,
            queries: stats.queries,
            pruned: stats.pruned,
            level: stats.level.map(|level| level.to_string()),
            wall_ms: u64::try_from(stats.wall.as_millis()).unwrap_or(u64::MAX),
            peak_memory_bytes: stats.peak_memory_bytes,
        }
    }
}

/// The line for one FILE, without a line end.
pub fn line(report: &FileReport) -> String {
    let mut line = Line {
        file: &report.file,
        model: match report.question {
            Question::CheckModels(_) => "all",
            _ => report.model.name(),
        },
        criterion: match report.question {
            Question::Check(criterion)
            | Question::CheckModels(criterion)
            | Question::Fence(criterion)
            | Question::Orders(criterion) => criterion.name(),
            Question::CheckAll => "all",
            Question::Reach => "safe",
        },
        ..Line::default()
    };
    match &report.result {
        Err(failure) => {
            line.verdict = "error";
            line.reason = Some(failure.reason());
            if let Failure::Text(source, diagnostics) = failure {
                line.diagnostics = Some(
                    diagnostics
                        .iter()
                        .map(|d| diagnostic_fields(source, d))
                        .collect(),
                );
            }
        }
        Ok(Findings::One(answer)) => {
            line.verdict = match report.question {
                Question::Reach => words::reach_verdict(&answer.verdict),
                _ => words::verdict(&answer.verdict),
            };
            fill(&mut line, answer);
            // Under SC the state space is walked once.
            line.iterations =
                (report.question == Question::Reach).then_some(answer.stats.iterations.max(1));
        }
        Ok(Findings::Fences(found)) => fill_fences(&mut line, report, found),
        Ok(Findings::Orders(found)) => fill_orders(&mut line, report, found),
        Ok(Findings::All(answers)) => {
            let answers = answers.iter().map(|(c, answer)| (c.name(), answer));
            line.criteria = Some(fill_several(&mut line, report, answers));
        }
        Ok(Findings::Models(answers)) => {
            let answers = answers.iter().map(|(m, answer)| (m.name(), answer));
            line.models = Some(fill_several(&mut line, report, answers));
        }
    }
    // Only strings, numbers, lists and maps with string keys: serialising them cannot fail.
    serde_json::to_string(&line).unwrap_or_default()
}

/// The answers to several questions at once: their verdicts by name.
fn fill_several<'a>(
    line: &mut Line<'a>,
    report: &FileReport,
    answers: impl Iterator<Item = (&'static str, &'a Result<Answer, Refusal>)>,
) -> serde_json::Map<String, serde_json::Value> {
    let mut total = Stats::default();
    let mut verdicts = serde_json::Map::new();
    for (name, answer) in answers {
        let (verdict, reason) = match answer {
            Ok(answer) => {
                total.add(&answer.stats);
                (words::verdict(&answer.verdict), unknown_reason(answer))
            }
            Err(refusal) => ("error", Some(refusal.message.clone())),
        };
        verdicts.insert(name.to_owned(), verdict.into());
        if let Some(reason) = reason {
            line.reasons.insert(name, reason);
        }
    }
    line.verdict = match report.status() {
        crate::Status::Holds => "holds",
        crate::Status::Violated => "violated",
        crate::Status::Unknown => "unknown",
        crate::Status::Error => "error",
    };
    line.reason = line.reasons.values().next().cloned();
    line.stats = Some(StatsFields::new(&total));
    verdicts
}

fn fill<'a>(line: &mut Line<'a>, answer: &'a Answer) {
    line.reason = unknown_reason(answer);
    line.witness = answer.witnesses.first().map(WitnessFields::new);
    line.witnesses = (answer.witnesses.len() > 1).then_some(&answer.witnesses);
    line.harmful = answer.harm.as_ref().map(|harm| match harm {
        Harm::Broken(_) => true.into(),
        Harm::None => false.into(),
        Harm::NothingStated | Harm::Unknown(_) => serde_json::Value::Null,
    });
    line.harm = answer.harm.as_ref().map(words::harm);
    line.notes = sentences(&answer.notes);
    line.stats = Some(StatsFields::new(&answer.stats));
}

fn fill_fences<'a>(line: &mut Line<'a>, report: &'a FileReport, findings: &'a FenceFindings) {
    let found = &findings.fences;
    let explanations = &found.explanations;
    let lines = |set: &RepairSet| {
        let program = report.program.as_ref();
        program.map(|program| fences::lines(program, &set.repairs, explanations))
    };
    let mut fields = FenceFields {
        fences: None,
        cost: None,
        optimal: false,
        bound: None,
        removed: None,
        sets: None,
        sets_complete: None,
        written: findings.written,
    };
    match &found.result {
        FenceResult::Optimal(set) => {
            line.verdict = "holds";
            fields.cost = Some(set.cost);
            fields.optimal = true;
            fields.fences = lines(set);
            if let (Some(program), Some(_)) = (&report.program, &findings.existing) {
                let removed = fences::removed(findings, set);
                fields.removed = Some(fences::lines(program, &removed, &[]));
            }
        }
        FenceResult::None => line.verdict = "violated",
        FenceResult::Unknown {
            reason,
            lower_bound,
            confirmed,
        } => {
            line.verdict = "unknown";
            line.reason = Some(reason.clone());
            fields.bound = Some(*lower_bound);
            fields.cost = confirmed.as_ref().map(|set| set.cost);
            fields.fences = confirmed.as_ref().and_then(lines);
        }
    }
    if let (Some(all), Some(program)) = (&found.all, &report.program) {
        let set = |set: &RepairSet| SetFields {
            fences: fences::lines(program, &set.repairs, &[]),
            cost: set.cost,
        };
        fields.sets = Some(all.sets.iter().map(set).collect());
        fields.sets_complete = Some(all.complete.is_ok());
    }
    line.fences = Some(fields);
    line.witness = found.witness.as_ref().map(WitnessFields::new);
    line.notes = sentences(&found.notes);
    line.stats = Some(StatsFields::new(&found.stats));
}

fn fill_orders<'a>(line: &mut Line<'a>, report: &'a FileReport, findings: &'a OrderFindings) {
    let found = &findings.orders;
    let changes = |assignment: &Assignment| {
        let program = report.program.as_ref();
        program.map(|program| orders::lines(program, assignment))
    };
    let program = report.program.as_ref();
    let mut fields = OrderFields {
        changes: None,
        cost: None,
        optimal: false,
        bound: None,
        restricted: findings.restricted,
        cost_before: found.written.1,
        held_before: found.written.0,
        needed: program.map_or_else(Vec::new, |p| orders::needed_lines(p, &found.needed)),
        written: findings.written,
    };
    match &found.result {
        OrdersResult::Optimal(best) => {
            line.verdict = "holds";
            fields.cost = Some(best.cost);
            fields.optimal = true;
            fields.changes = changes(best);
        }
        OrdersResult::None => line.verdict = "violated",
        OrdersResult::Unknown {
            reason,
            lower_bound,
            confirmed,
        } => {
            line.verdict = "unknown";
            line.reason = Some(reason.clone());
            fields.bound = Some(*lower_bound);
            fields.cost = confirmed.as_ref().map(|best| best.cost);
            fields.changes = confirmed.as_ref().and_then(changes);
        }
    }
    line.orders = Some(fields);
    line.witness = found.witness.as_ref().map(WitnessFields::new);
    line.notes = sentences(&found.notes);
    line.stats = Some(StatsFields::new(&found.stats));
}

fn unknown_reason(answer: &Answer) -> Option<String> {
    match &answer.verdict {
        Verdict::Unknown(reason) => Some(reason.clone()),
        _ => None,
    }
}

fn diagnostic_fields<'a>(source: &'a Source, diagnostic: &'a Diagnostic) -> DiagnosticFields<'a> {
    let at = source.line_column(diagnostic.span.start);
    DiagnosticFields {
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        message: &diagnostic.message,
        file: source.included_at(diagnostic.span.start),
        line: at.line,
        column: at.column,
        help: diagnostic.help.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_memory::Model;

    /// Message passing through a release store and an acquire load, between two sc fences.
    #[test]
    fn what_synchronises_is_found_by_the_definition() {
        let event = |thread: &str, rest: &str| {
            format!(r#"{{"thread": "{thread}", "line": 1, "column": 1, {rest}}}"#)
        };
        let events = [
            event("a", r#""kind": "fence", "order": "seqcst""#),
            event(
                "a",
                r#""kind": "store", "location": "x", "value": 1, "after": "init", "order": "release""#,
            ),
            event(
                "b",
                r#""kind": "load", "location": "x", "value": 1, "rf": 1, "order": "acquire""#,
            ),
            event("b", r#""kind": "fence", "order": "seqcst""#),
            event(
                "c",
                r#""kind": "load", "location": "x", "value": 1, "rf": 1, "order": "relaxed""#,
            ),
        ];
        let text = format!(
            r#"{{"model": "c20", "criterion": "robust", "events": [{}]}}"#,
            events.join(", ")
        );
        let mut witness: Witness = serde_json::from_str(&text).expect("a witness");
        let found = synchronisation(&witness);
        // The fence before the store publishes as well, and the fence behind the load takes over.
        assert!(found.sw.contains(&(1, 2)), "{found:?}");
        assert!(found.sw.iter().all(|&(_, to)| to != 4), "{found:?}");
        assert_eq!(found.psc, [(0, 3)]);
        witness.model = Model::Ra;
        assert_eq!(synchronisation(&witness), Synchronisation::default());
    }
}
