//! `palisade orders`

use super::ask::{Asked, Asking, Effort, options};
use super::fence::write_back;
use crate::args::{CriterionName, FormatArgs, InputArgs, ModelName, SearchArgs};
use crate::input;
use crate::output::Output;
use crate::pairs;
use clap::Args;
use palisade::{Wanted, order_refusal, ordered};
use palisade_check::Control;
use palisade_fence::{Freedom, OrderCosts, Prices, Profile, SHIPPED};
use palisade_lang::Program;
use palisade_memory::{Criterion, Model};
use palisade_report::{Failure, Findings, Question, Status};
use std::sync::Arc;

#[derive(Args, Debug)]
pub struct OrdersArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The memory model: one that looks at orders.
    #[arg(long, value_enum, default_value_t = ModelName::C20)]
    pub model: ModelName,

    /// What the orders must keep or make. If not given: `safe` where the program states something, otherwise `robust`.
    #[arg(long, value_enum)]
    pub criterion: Option<CriterionName>,

    /// What orders cost: `unit`, `x86-64`, `aarch64`, `riscv` or a file with prices; with `profile`, times how often a point is executed.
    ///
    /// Prices are TOML tables (`docs` shows one). `profile` counts 20 runs of at most 1000 steps under sequential consistency, with a fair random
    /// scheduler that does the same each time; alone it is `unit,profile`.
    #[arg(
        long,
        default_value = "unit",
        value_delimiter = ',',
        value_name = "unit|x86-64|aarch64|riscv|PATH[,profile]"
    )]
    pub cost: Vec<String>,

    /// Where the random numbers of `--cost profile` begin.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Change only what can be weaker.
    #[arg(long, conflicts_with = "strengthen_only")]
    pub weaken_only: bool,

    /// Change only what must be stronger.
    #[arg(long)]
    pub strengthen_only: bool,

    /// Put in no new fences.
    #[arg(long)]
    pub no_fences: bool,

    /// Stores may also become exchanges.
    #[arg(long)]
    pub exchanges: bool,

    /// Change nothing in these lines.
    #[arg(long, value_name = "LINE", value_delimiter = ',', num_args = 1)]
    pub keep: Vec<u32>,

    /// For each order of the answer that is not relaxed show what goes wrong when it is one step weaker.
    #[arg(long)]
    pub explain: bool,

    /// Write the program back with these orders, in its own language.
    #[arg(long)]
    pub write: bool,

    #[command(flatten)]
    pub format: FormatArgs,

    #[command(flatten)]
    pub search: SearchArgs,
}

pub fn run(args: &'static OrdersArgs, output: &mut Output) -> Status {
    let model = Model::from(args.model);
    if !matches!(model, Model::C20 | Model::Rc11) {
        return output.complain(&format!(
            "orders have no meaning of their own under `--model {}`; `c20` and `rc11` look at them",
            model.name()
        ));
    }
    let criterion = match args.criterion.map(|name| name.criterion()) {
        None => None,
        Some(None) => {
            return output.complain(
                "orders are found for one criterion at a time: `--criterion all` has no meaning here",
            );
        }
        Some(criterion) => criterion,
    };
    if let Some(criterion) = criterion
        && let Some(complaint) = pairs::complaint(model, criterion)
    {
        return output.complain(&complaint);
    }
    if let Some(complaint) = args.search.complaint(criterion) {
        return output.complain(&complaint);
    }
    if args.write && args.input.files.iter().any(|file| input::is_stdin(file)) {
        return output.complain("`--write` cannot write back to standard input");
    }
    let (prices, name) = match prices(&args.cost) {
        Ok(prices) => prices,
        Err(complaint) => return output.complain(&complaint),
    };
    let profiled = args.cost.iter().any(|cost| cost == "profile");
    let cost = match profiled {
        true => format!("{name}, times how often they are executed"),
        false => name,
    };
    let freedom = Freedom {
        weaken: !args.strengthen_only,
        strengthen: !args.weaken_only,
        fences: !args.no_fences,
        exchanges: args.exchanges,
        keep: args.keep.clone(),
    };
    let choose = move |program: &Program| {
        let (model, criterion) = Wanted::One(Some(model), criterion).about(program).pairs()[0];
        Asked {
            model,
            question: Question::Orders(criterion),
        }
    };
    let answer = move |program: &Program, asked: Asked, effort: Effort, control: &Control<'_>| {
        let criterion = match asked.question {
            Question::Orders(criterion) => criterion,
            _ => Criterion::Robust,
        };
        if let Some(refusal) = order_refusal(program.language, asked.model) {
            return Err(Failure::Message(refusal));
        }
        let options = options(asked.model, criterion, false, &args.search, effort);
        let costs = OrderCosts {
            prices: prices.clone(),
            profile: profiled.then(|| Profile::measure(program, args.seed)),
        };
        let named = (&costs, cost.as_str());
        let found = ordered(program, &freedom, named, args.explain, &options, control);
        let mut findings = found.map_err(Failure::Refused)?;
        if let (true, Some(text)) = (args.write, &findings.text) {
            let written = match text.as_deref() {
                Ok([(name, text)]) if name == program.source.name() => {
                    write_back(program, text, &args.input.reading, &options, control)
                }
                // Others are included by more programs than this one.
                Ok(_) => Err("an order in an included file has to change, which `--write` does not do: without it the change is shown".to_owned()),
                Err(reason) => Err(reason.clone()),
            };
            written.map_err(Failure::Message)?;
            findings.written = true;
        }
        Ok(Findings::Orders(Box::new(findings)))
    };
    Asking {
        asked: Asked {
            model,
            question: Question::Orders(criterion.unwrap_or(Criterion::Robust)),
        },
        named: None,
        choose: Some(Box::new(choose)),
        input: &args.input,
        format: &args.format,
        search: &args.search,
        picture: None,
        silent: false,
        answer: Arc::new(answer),
    }
    .run(output)
}

/// The prices that are wanted, and what they are called.
fn prices(cost: &[String]) -> Result<(Prices, String), String> {
    let mut named = cost.iter().filter(|cost| *cost != "profile");
    let name = named.next().map_or("unit", String::as_str);
    if let Some(second) = named.next() {
        return Err(format!(
            "`--cost` takes one table of prices and perhaps `profile`, not `{name}` and `{second}`"
        ));
    }
    if let Some(prices) = Prices::shipped(name) {
        return Ok((prices, format!("prices of {name}")));
    }
    let shipped: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    let text = std::fs::read_to_string(name).map_err(|error| {
        format!(
            "`--cost` is unit, {}, `profile` or a file with prices; `{name}` cannot be read: {error}",
            shipped.join(", ")
        )
    })?;
    let prices = Prices::parse(&text).map_err(|why| format!("{name}: {why}"))?;
    Ok((prices, format!("prices of {name}")))
}
