//! Every flag, described once: help, manual pages and completions come from here.

use crate::commands::orders::OrdersArgs;
use crate::limits::{parse_memory, parse_timeout};
use clap::builder::Resettable;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches};
use clap::{Parser, Subcommand, ValueEnum, ValueHint};
use palisade::{ClientOf, ClientThreads};
use palisade_check::{Abstraction, Hosts, Route};
use palisade_lang::Language;
use palisade_memory::{Criterion, Model};
use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

/// Decides whether small concurrent programs can notice a weak memory model.
///
/// Give it a lock, a queue or a barrier. It answers exactly, whatever the interleaving, and where the answer is no it shows a
/// run. Exit status: 0 everything holds, 1 something is violated, 2 the input or the call is wrong, 3 not decided within the
/// limits; the highest that applies, with 2 over 3 over 1.
#[derive(Parser, Debug)]
#[command(name = "palisade", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// When to use colours.
    ///
    /// `auto`: on a terminal, unless the environment says NO_COLOR.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: When,

    /// A file with defaults for these flags, instead of the nearest palisade.toml.
    #[arg(long, global = true, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,

    /// Leave any palisade.toml aside.
    #[arg(long, global = true, conflicts_with = "config")]
    pub no_config: bool,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Decide whether a criterion holds.
    Check(Later<CheckArgs>),
    /// Compare verdicts with those that files expect.
    ///
    /// Every line `// expect MODEL CRITERION: VERDICT` is a question and its answer, for example `// expect tso robust: violated, fences 2`. Exit
    /// status: 0 everything is as expected, 1 something is not, 2 some file is unusable.
    Test(Later<TestArgs>),
    /// Find the cheapest fences that make a criterion hold.
    Fence(Later<FenceArgs>),
    /// Find the cheapest memory orders and fences with which a criterion holds: what can be weaker, and what must be stronger.
    ///
    /// Exit status: 0 such orders were found for every FILE; 1 no orders help for some FILE; 2 the input or the call is wrong; 3 undecided within the limits.
    Orders(Later<OrdersArgs>),
    /// Find out whether a state that some `never` forbids, or a failing `assert`, can be reached.
    Reach(Later<ReachArgs>),
    /// Write programs in one way: indents, spaces, lines. Their meaning and their comments stay.
    ///
    /// Exit status: 0 everything is written so, 1 with `--check` something is not, 2 some file cannot be read as a program.
    Fmt(Later<FmtArgs>),
    /// Print a program in another language, or its control-flow graphs.
    Export(Later<ExportArgs>),
    /// Write one web page about programs: every verdict, runs to step through, pictures, fences.
    ///
    /// The page is one file that fetches nothing. Exit status: 0 the page is written, whatever the verdicts; 2 some FILE could not be
    /// analysed (the page says so), or the page could not be written.
    Report(Later<ReportArgs>),
    /// Check a witness or a certificate against its program, with code that shares nothing with the search.
    Validate(Later<ValidateArgs>),
    /// Print the jobs of a question about many FILEs, one a line, for a scheduler that runs them on many machines.
    ///
    /// For example `palisade plan --results DIR -- check --criterion robust FILE…`: one job for each FILE. Run the lines anywhere, in any order, as often as you like; then `palisade merge` them.
    Plan(Later<PlanArgs>),
    /// Ask one question of a plan, and keep the answer in a file.
    ///
    /// Exit status: 0 the answer is in the file, whatever it says; 2 there is none.
    Job(Later<JobArgs>),
    /// Join what the jobs of a plan have left into one answer, in the order of the plan.
    ///
    /// Exit status as that of the question; a job without a result counts as undecided.
    Merge(Later<MergeArgs>),
    /// Serve a page on this machine with an editor, and the verdict and the picture beside it as you type.
    Playground(Later<PlaygroundArgs>),
    /// Serve an editor: a language server that speaks over standard input and output.
    ///
    /// Editors start it themselves; the book says how to set them up. Programs are read as they are edited and asked about once they are saved.
    Lsp(Later<LspArgs>),
    /// Print completions for a shell.
    Completions(Later<CompletionsArgs>),
    /// Write the manual pages into a directory.
    Man(Later<ManArgs>),
}

/// The flags of a command, described only once it is known that this command is meant: describing all flags of all commands takes longer than
/// many a search.
#[derive(Debug)]
pub struct Later<T>(pub T);

impl<T: Args> FromArgMatches for Later<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches(matches).map(Later)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

thread_local! {
    /// Whether [`Later`] is to be at once: clap has no way to ask for what is put off.
    static AT_ONCE: Cell<bool> = const { Cell::new(false) };
}

impl<T: Args> Args for Later<T> {
    fn augment_args(command: clap::Command) -> clap::Command {
        if AT_ONCE.get() {
            return T::augment_args(command);
        }
        command.defer(|command| {
            // What is said about the flags must not take the place of what is said about the command.
            let about = command.get_about().cloned();
            let long_about = command.get_long_about().cloned();
            T::augment_args(command)
                .about(Resettable::from(about))
                .long_about(Resettable::from(long_about))
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

/// The command with all flags of all commands, for code that lists or changes them.
pub fn whole() -> clap::Command {
    AT_ONCE.set(true);
    let command = Cli::command();
    AT_ONCE.set(false);
    command
}

#[derive(Args, Debug)]
pub struct CheckArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The memory model; `all` asks under each that knows the criterion.
    ///
    /// If not given: `c20` for C, C litmus tests and where a memory order weaker or stronger than the default is written, `ra` for `.tpl` without
    /// orders, else `tso`.
    #[arg(long, value_enum)]
    pub model: Option<CheckModel>,

    /// What must hold; `all` asks for every criterion that the model knows.
    ///
    /// If not given: `safe` where the program states something (an `assert`, a `never`, nonatomic data under ra and c20), else `robust`.
    #[arg(long, value_enum)]
    pub criterion: Option<CriterionName>,

    /// Show every violation instead of the first (where the criterion can).
    #[arg(long)]
    pub all: bool,

    /// Draw the run that shows the violation: OUT ends in .svg, .html, .dot (for Graphviz) or .png.
    ///
    /// For one FILE, and one criterion. Nothing is written where nothing is violated. A .png needs `rsvg-convert`, `resvg` or `inkscape`.
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub picture: Option<PathBuf>,

    /// Where the criterion holds, write a certificate that `palisade validate` can check.
    ///
    /// For one FILE, and one criterion. It is the set of states of a walk without reductions, so it takes more time and memory than the
    /// answer. Nothing is written where the criterion does not hold.
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub certificate: Option<PathBuf>,

    /// Under `c20` and `rc11`: say also whether all orders of a program that holds are needed.
    #[arg(long)]
    pub hints: bool,

    #[command(flatten)]
    pub format: FormatArgs,

    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub checkpoint: CheckpointArgs,

    #[command(flatten)]
    pub hosts: HostsArgs,

    #[command(flatten)]
    pub cache: CacheArgs,
}

/// One search by several processes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Search")]
pub struct HostsArgs {
    /// The processes that search together: a file with a line `host:port` for each of them, the same for all.
    ///
    /// Each is started with the same question, and its own `--process`. They share the states of one search; the answer, its run and its numbers are those of one process. The network must be
    /// trusted: what is sent is neither secret nor signed.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "process", conflicts_with_all = ["certificate", "cache"])]
    pub hosts: Option<PathBuf>,

    /// Which line of `--hosts` this process is, from 0 on. Process 0 prints the answer.
    #[arg(long, value_name = "N", requires = "hosts")]
    pub process: Option<usize>,
}

impl HostsArgs {
    /// The processes, if there are to be several; or what is wrong with them.
    pub fn hosts(&self, files: &[PathBuf]) -> Result<Option<Hosts>, String> {
        let (Some(path), Some(process)) = (&self.hosts, self.process) else {
            return Ok(None);
        };
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("`--hosts {shown}` cannot be read: {error}"))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let addresses: Vec<String> = lines.map(str::to_owned).collect();
        let has_port = |address: &String| {
            let port = address
                .rsplit_once(':')
                .map(|(_, port)| port.parse::<u16>());
            matches!(port, Some(Ok(_)))
        };
        if let Some(address) = addresses.iter().find(|address| !has_port(address)) {
            return Err(format!("`{address}` in {shown} is not `host:port`"));
        }
        if process >= addresses.len() {
            return Err(format!(
                "`--process {process}` is none of the {} in {shown}, which are counted from 0",
                addresses.len()
            ));
        }
        match files {
            [_] => Ok(Some(Hosts::new(addresses, process))),
            _ => Err("`--hosts` is for one FILE".into()),
        }
    }
}

#[derive(Args, Debug)]
pub struct CacheArgs {
    /// Keep answers with their proofs in this directory, and answer from there what was answered before.
    ///
    /// A proof is judged anew each time, as `palisade validate` does it: what is in the directory is not believed. An answer without a proof (`unknown`, or a criterion
    /// that has no certificates) is not kept.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Search")]
    pub cache: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct TestArgs {
    /// Programs, and directories of programs.
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,

    /// How the answers are printed: `human`, or `json` with one object per expectation.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Print nothing about what is as expected.
    #[arg(long, short)]
    pub quiet: bool,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Args, Debug)]
pub struct FmtArgs {
    /// Programs in Palisade's own language (.pal), and directories of them; `-` reads standard input and writes standard output.
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,

    /// Write nothing; show what would change.
    #[arg(long)]
    pub check: bool,

    /// How long each file may take, such as `60s`.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    pub timeout: Option<Duration>,

    /// How much memory the process may hold, such as `8GiB` or `500M`.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub memory: Option<u64>,
}

#[derive(Args, Debug)]
pub struct LspArgs {
    /// How long an answer may take, such as `5s`; the editor's settings may say something else.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout, default_value = "5s")]
    pub timeout: Duration,

    /// How much memory the server may hold while it looks for an answer, such as `2GiB`; the editor's settings may say something else.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, default_value = "2GiB")]
    pub memory: u64,

    /// Look at Rust files, too: that runs the Rust compiler on every file that is saved.
    #[arg(long)]
    pub rust: bool,

    /// What some editors say about how they want to be spoken to: it is always so.
    #[arg(long, hide = true)]
    pub stdio: bool,
}

#[derive(Args, Debug)]
pub struct FenceArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The memory model.
    #[arg(long, value_enum, default_value_t = ModelName::Tso)]
    pub model: ModelName,

    /// What the fences must make hold.
    #[arg(long, value_enum, default_value_t = CriterionName::Robust)]
    pub criterion: CriterionName,

    /// What a fence costs: `unit`, `profile`, or a file that says it.
    ///
    /// `unit`: 1. `profile`: one more than how often it would be executed in 20 runs of at most 1000 steps under sequential
    /// consistency, with a fair random scheduler that does the same each time. A file says it in TOML: `default`, `[threads]`,
    /// `[labels]`, `[lines]`, each a cost from 1 on or "forbidden".
    #[arg(long, default_value = "unit", value_name = "unit|profile|PATH")]
    pub cost: String,

    /// Where the random numbers of `--cost profile` begin.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// What may be changed: fences put in, loads and stores turned into read-modify-writes, stores made `seqcst` (TSO).
    #[arg(
        long,
        value_name = "KINDS",
        value_enum,
        value_delimiter = ',',
        default_value = "fence"
    )]
    pub repairs: Vec<RepairKind>,

    /// Say which of the fences that the program has can go, instead of adding some.
    #[arg(long, conflicts_with = "repairs")]
    pub reduce: bool,

    /// For each fence show a violation that returns without it.
    #[arg(long)]
    pub explain: bool,

    /// Write the program back with the fences, in its own language.
    #[arg(long)]
    pub write: bool,

    /// List every set of fences from which none can be left out, the cheapest first.
    #[arg(long)]
    pub all: bool,

    /// With `--all`: list no set that costs more than this.
    #[arg(long, value_name = "COST", requires = "all")]
    pub bound: Option<u64>,

    /// With `--all`: list no more sets than this.
    #[arg(long, value_name = "N", requires = "all", default_value_t = 100)]
    pub most: usize,

    #[command(flatten)]
    pub format: FormatArgs,

    #[command(flatten)]
    pub search: SearchArgs,
}

#[derive(Args, Debug)]
pub struct ReachArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The memory model.
    #[arg(long, value_enum, default_value_t = ReachModel::Tso)]
    pub model: ReachModel,

    /// Draw the run that shows the violation: OUT ends in .svg, .html, .dot (for Graphviz) or .png.
    ///
    /// For one FILE, and one criterion. Nothing is written where nothing is violated. A .png needs `rsvg-convert`, `resvg` or `inkscape`.
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub picture: Option<PathBuf>,

    /// Where nothing can be reached, write a certificate that `palisade validate` can check.
    ///
    /// For one FILE. It is the set of states of a walk without reductions, so it takes more time and memory than the answer.
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub certificate: Option<PathBuf>,

    #[command(flatten)]
    pub format: FormatArgs,

    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub checkpoint: CheckpointArgs,
}

#[derive(Args, Debug)]
pub struct ExportArgs {
    /// The program; `-` reads standard input.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    #[command(flatten)]
    pub reading: ReadingArgs,

    /// The language to print.
    #[arg(long, value_enum)]
    pub to: Target,

    /// Print the instrumented program of the check instead of the program itself.
    #[arg(long)]
    pub instrumented: bool,

    /// The check: whether the program is `robust` or `persistent` under TSO.
    #[arg(long, value_enum, default_value_t = CriterionName::Robust, requires = "instrumented")]
    pub criterion: CriterionName,

    /// Look for one attack only: the thread, the line of the delayed store and the line of the load that overtakes it, as in `t:5:6`.
    #[arg(long, value_name = "THREAD:STORE:LOAD", requires = "instrumented")]
    pub attack: Option<String>,

    /// How long this may take, such as `60s`.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    pub timeout: Option<Duration>,

    /// How much memory the process may hold, such as `8GiB` or `500M`.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub memory: Option<u64>,
}

#[derive(Args, Debug)]
pub struct PlanArgs {
    /// The directory that jobs write their results to; all machines must see it.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub results: PathBuf,

    /// The question: `check`, `reach` or `fence` with its flags and FILEs.
    #[arg(required = true, last = true, value_name = "QUESTION")]
    pub question: Vec<std::ffi::OsString>,
}

#[derive(Args, Debug)]
pub struct JobArgs {
    /// The file for the result.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub to: PathBuf,

    /// The question: a command with its flags and its FILE.
    #[arg(required = true, last = true, value_name = "QUESTION")]
    pub question: Vec<std::ffi::OsString>,
}

#[derive(Args, Debug)]
pub struct MergeArgs {
    /// What `palisade plan` has printed.
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub plan: PathBuf,

    /// How the answers are printed: for people, or in JSON as the question itself prints them.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct ReportArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The page; `-` writes to standard output.
    #[arg(short, long, value_name = "OUT.html", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// How long all questions about a FILE may take together, such as `60s`; what is not decided by then is shown as undecided.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout, default_value = "60s")]
    pub timeout: Duration,

    /// How much memory the process may hold, such as `8GiB` or `500M`.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub memory: Option<u64>,

    /// How many threads search; as many as there are cores if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

#[derive(Args, Debug)]
pub struct ValidateArgs {
    /// The program.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// The witness, or a whole line that `check --format json` printed, or what `check --certificate` wrote; `-` reads standard input.
    #[arg(value_name = "WITNESS.json", value_hint = ValueHint::FilePath)]
    pub witness: PathBuf,

    #[command(flatten)]
    pub reading: ReadingArgs,

    /// The memory model that is asked about. If nothing is said: for a certificate the one that `check` would ask about, for a witness its own.
    #[arg(long, value_enum)]
    pub model: Option<ModelName>,

    /// The criterion that is asked about. If nothing is said: for a certificate the one that `check` would ask about, for a witness its own.
    #[arg(long, value_enum)]
    pub criterion: Option<CriterionName>,

    /// Whether races on all locations are asked about, even where some are declared `nonatomic`.
    #[arg(long)]
    pub all_locations: bool,

    /// How long this may take, such as `60s`.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    pub timeout: Option<Duration>,

    /// About how much memory the states of a certificate may take, such as `1GiB`; what is more is sorted on disk.
    ///
    /// What needs more than twice as much all the same (and more than 128 MiB) is too large to be judged: exit status 2.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, default_value = "256MiB")]
    pub memory: u64,

    /// How the answer is printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct PlaygroundArgs {
    /// The port on 127.0.0.1; 0 takes any that is free.
    #[arg(long, value_name = "N", default_value_t = 8737)]
    pub port: u16,

    /// Serve the page that answers in the browser itself, from the directory where `web/build` has put it.
    ///
    /// If not given: from share/palisade/web beside the directory of the command, where it was installed there; else the page that asks this command.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub page: Option<PathBuf>,

    /// How long a search may take.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout, default_value = "5s")]
    pub timeout: Duration,

    /// How much memory a search may take.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, default_value = "512MiB")]
    pub memory: u64,

    /// Answer one question, which is on standard input, and end: what the server starts for each.
    #[arg(long, value_name = "KIND", hide = true)]
    pub answer: Option<crate::commands::playground::Kind>,
}

#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// Which shell.
    pub shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
pub struct ManArgs {
    /// Where the pages go; made if it is not there.
    #[arg(value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
}

/// Which programs are asked about.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    /// Programs: files, directories (every program in them), or `-` for standard input.
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// How a program's text is read.
#[derive(Args, Debug, Clone)]
pub struct ReadingArgs {
    /// The language of the input, where the file's name does not tell it.
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub from: Option<LanguageName>,

    /// As if the program said `domain N;`: values are taken modulo N.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub domain: Option<i64>,

    /// Look for the files that a C program includes in DIR, too.
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,

    /// As if a C program began with `#define NAME VALUE`; 1 if there is no VALUE.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,

    /// The function with which a C program begins, instead of `main`.
    #[arg(long, value_name = "FN")]
    pub entry: Option<String>,

    /// Of a Rust file, this function with `#[test]`.
    #[arg(long, value_name = "NAME")]
    pub test: Option<String>,

    /// The edition of a Rust file; 2021 if not given.
    #[arg(long, value_name = "YEAR", value_parser = ["2015", "2018", "2021", "2024"])]
    pub edition: Option<String>,

    /// One more argument for the Rust compiler, such as `--rustc-arg=--cfg`; `cargo palisade` gives those of a package.
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub rustc_arg: Vec<String>,

    /// Of a Rust file, the most general client of this type, such as `SpinLock<T>`: threads that call its safe public functions in any order.
    #[arg(long, value_name = "TYPE", conflicts_with = "test")]
    pub client: Option<String>,

    /// How many threads the client has, or `any`.
    ///
    /// If not given: two, and where that holds, any number.
    #[arg(long, value_name = "N", value_parser = parse_client_threads, requires = "client")]
    pub threads: Option<ClientThreads>,

    /// How many calls each thread of the client makes at most; any number if not given.
    #[arg(long, value_name = "N", requires = "client")]
    pub calls: Option<usize>,

    /// Whether some order of the client's calls explains what they return: as a `stack`, a `queue`, a `register`, a `counter` or a `mutex` does, or a type of the file.
    ///
    /// `stack:2` and `queue:2` have room for two. A type of the file has functions of the same names, and implements `Default` and `Clone`.
    #[arg(long, value_name = "MODEL", requires = "client")]
    pub linearizable: Option<String>,

    /// Of a Rust file, memory that is allocated and never freed is an error, too.
    #[arg(long)]
    pub leaks: bool,
}

fn parse_client_threads(text: &str) -> Result<ClientThreads, String> {
    match text {
        "any" | "*" => Ok(ClientThreads::Any),
        _ => match text.parse() {
            Ok(count @ 1..=8) => Ok(ClientThreads::These(count)),
            _ => Err("a number from 1 to 8, or `any`".to_owned()),
        },
    }
}

impl ReadingArgs {
    /// What was said that makes another program of the same text, by the names of the flags.
    pub fn said(&self) -> Vec<(&'static str, String)> {
        let several = |paths: &[PathBuf]| {
            let paths: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
            paths.join(" ")
        };
        let threads = self.threads.map(|threads| match threads {
            ClientThreads::Any => "any".to_owned(),
            ClientThreads::These(count) => count.to_string(),
        });
        let said = [
            ("-I", Some(several(&self.include))),
            ("-D", Some(self.define.join(" "))),
            ("--entry", self.entry.clone()),
            ("--test", self.test.clone()),
            ("--edition", self.edition.clone()),
            ("--rustc-arg", Some(self.rustc_arg.join(" "))),
            ("--client", self.client.clone()),
            ("--threads", threads),
            ("--calls", self.calls.map(|calls| calls.to_string())),
            ("--linearizable", self.linearizable.clone()),
            ("--leaks", self.leaks.then(|| "yes".to_owned())),
        ];
        said.into_iter()
            .filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)))
            .collect()
    }

    /// How a text is read.
    pub fn reading(&self) -> palisade::Reading {
        let defines = self.define.iter().map(|define| {
            let (name, value) = define.split_once('=').unwrap_or((define, "1"));
            (name.to_owned(), value.to_owned())
        });
        palisade::Reading {
            language: self.from.map(Language::from),
            domain: self.domain,
            include: self.include.clone(),
            defines: defines.collect(),
            entry: self.entry.clone(),
            test: self.test.clone(),
            edition: self.edition.clone(),
            rustc: self.rustc_arg.clone(),
            client: self.client.as_ref().map(|ty| ClientOf {
                ty: ty.clone(),
                threads: self.threads,
                calls: self.calls,
                linearizable: self.linearizable.clone(),
            }),
            leaks: self.leaks,
            ..palisade::Reading::default()
        }
    }
}

/// How the answer is searched for.
#[derive(Args, Debug)]
#[command(next_help_heading = "Search")]
pub struct SearchArgs {
    /// How long the search may take for each FILE, such as `60s`, `1500ms` or `2m`; a bare number means seconds.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    pub timeout: Option<Duration>,

    /// How much memory the process may hold, such as `8GiB` or `500M`.
    ///
    /// Without it, and never more than, nine tenths of what the machine (or the control group, or `ulimit -v`) has left, so that the
    /// operating system never has a reason to stop us.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub memory: Option<u64>,

    /// Where states go that memory has no room for: a directory with much room on a fast disk.
    ///
    /// Without it, a search ends when memory is used up. The answer is the same, its run and its numbers too. When the search is over, nothing is left there; what a killed process
    /// leaves there is removed by the next one.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub disk: Option<PathBuf>,

    /// How many threads search; as many as there are cores if not given.
    ///
    /// With several FILEs, as many are looked at side by side, each by one thread and for a moment; what that does not decide gets all
    /// threads, one FILE after the other.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,

    /// Look for races on all locations, even where some are declared `nonatomic`.
    #[arg(long)]
    pub all_locations: bool,

    /// The flattening abstraction for `--criterion persistent`: `auto`, `off`, or how many steps of the other threads it keeps.
    ///
    /// With a number it is tried first. Where it is not enough it keeps more steps, and in the end the program itself decides: the
    /// answer is the same. `auto` tries it where the program turns out to be large.
    #[arg(long = "abstract", value_name = "K", value_parser = parse_abstraction)]
    pub abstraction: Option<Abstraction>,

    /// With `--criterion live`: whether this thread can be stuck, and no other one. All copies of it, or one: `t`, `t[1]`.
    #[arg(long, value_name = "NAME")]
    pub thread: Option<String>,

    /// How reachability under TSO is decided (`reach`, and the criterion `safe`); to compare ways, not to be faster.
    #[arg(long, value_enum, value_name = "ROUTE")]
    pub route: Option<RouteName>,

    /// Do not run steps that touch no memory together with the step before them.
    #[arg(long)]
    pub no_local_steps: bool,

    /// Do not forget registers that will not be read again, nor which of several values it is that no operation tells apart.
    #[arg(long)]
    pub no_dead_registers: bool,

    /// Do not treat states that differ by a swap of identical threads as one.
    #[arg(long)]
    pub no_symmetry: bool,

    /// Do not leave out the other orders of independent accesses.
    #[arg(long)]
    pub no_partial_order: bool,

    /// Do not dismiss anything without a search.
    #[arg(long)]
    pub no_static_filter: bool,

    /// Keep all monitors of release/acquire at once instead of looking for one stale access at a time.
    #[arg(long)]
    pub no_suspects: bool,

    /// Do not forget what the monitors of release/acquire say about things that can never matter again.
    #[arg(long)]
    pub no_monitors: bool,

    /// Do not drop states that find nothing beyond what another state finds.
    #[arg(long)]
    pub no_subsumption: bool,
}

/// How a search outlives its process.
#[derive(Args, Debug)]
#[command(next_help_heading = "Search")]
pub struct CheckpointArgs {
    /// Write down every few minutes how far the search has come, to go on with `--resume` if it is stopped or killed.
    ///
    /// For one FILE. Also written where a limit of time or memory, or Ctrl-C, stops the search. There is always a whole checkpoint: it is
    /// written beside the old one and renamed. With `--hosts`, process N writes its part, OUT.N, while its states are in memory.
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub checkpoint: Option<PathBuf>,

    /// How much time passes between two checkpoints, at least. Writing them never takes more than a tenth of the time.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout, default_value = "5m")]
    pub checkpoint_every: Duration,

    /// Go on from a checkpoint of the same question about the same program, to the same answer.
    ///
    /// A checkpoint is believed, not proved; the answer says so. For `--certificate` everything is walked again, so the two do not go together. Further checkpoints go there as well, unless `--checkpoint` names another file. Limits of time count from now on; `--jobs`
    /// may be different.
    #[arg(long, value_name = "CHECKPOINT", value_hint = ValueHint::FilePath, conflicts_with = "certificate")]
    pub resume: Option<PathBuf>,
}

impl CheckpointArgs {
    /// Whether there is to be any.
    pub fn is_wanted(&self) -> bool {
        self.checkpoint.is_some() || self.resume.is_some()
    }
}

impl SearchArgs {
    /// What is wrong with asking about `criterion` with these flags; `None` stands for all criteria.
    pub fn complaint(&self, criterion: Option<Criterion>) -> Option<String> {
        if let Some(directory) = &self.disk
            && let Err(error) = std::fs::create_dir_all(directory)
        {
            let directory = directory.display();
            return Some(format!(
                "`--disk {directory}` is no directory that states can be put into: {error}"
            ));
        }
        let meant = matches!(criterion, None | Some(Criterion::Persistent));
        (self.abstraction.is_some() && !meant)
            .then(|| "`--abstract` goes with `--criterion persistent`".to_owned())
    }
}

fn parse_abstraction(text: &str) -> Result<Abstraction, String> {
    match text {
        "auto" => Ok(Abstraction::Auto),
        "off" => Ok(Abstraction::Off),
        number => number
            .parse()
            .map(Abstraction::From)
            .map_err(|_| "`auto`, `off` or a number of steps is wanted".to_owned()),
    }
}

#[derive(Args, Debug)]
pub struct FormatArgs {
    /// How the answer is printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// For people: only the first line of each answer.
    #[arg(long)]
    pub brief: bool,

    /// For people: also what the search did to find the answer.
    #[arg(long, short, conflicts_with = "brief")]
    pub verbose: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// One object per line, one line per FILE.
    Json,
    /// SARIF 2.1.0, one document.
    Sarif,
    /// Annotations of a GitHub workflow.
    Github,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelName {
    /// Sequential consistency.
    Sc,
    /// Total store order, as on x86.
    Tso,
    /// Release/acquire, as in C++.
    Ra,
    /// The atomics of C, C++20 and Rust, with every order.
    C20,
    /// The same with RC11's rule for seqcst accesses.
    Rc11,
}

/// The models that `check` knows.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckModel {
    /// Sequential consistency.
    Sc,
    /// Total store order, as on x86.
    Tso,
    /// Release/acquire, as in C++.
    Ra,
    /// The atomics of C, C++20 and Rust, with every order.
    C20,
    /// The same with RC11's rule for seqcst accesses.
    Rc11,
    /// Each of them.
    All,
}

impl CheckModel {
    /// `None` for all.
    pub fn model(self) -> Option<Model> {
        Some(match self {
            CheckModel::Sc => Model::Sc,
            CheckModel::Tso => Model::Tso,
            CheckModel::Ra => Model::Ra,
            CheckModel::C20 => Model::C20,
            CheckModel::Rc11 => Model::Rc11,
            CheckModel::All => return None,
        })
    }
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachModel {
    /// Sequential consistency.
    Sc,
    /// Total store order, as on x86.
    Tso,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriterionName {
    /// The model allows no behaviour that sequential consistency does not.
    Robust,
    /// Nothing that is used differs from what sequential consistency shows.
    Observational,
    /// The same program orders and store orders as under sequential consistency.
    Persistent,
    /// No triangular races.
    Trf,
    /// No data races.
    Drf,
    /// Assertions hold, no `never` comes true, nothing goes wrong.
    Safe,
    /// Under a fair scheduler no thread is stuck for ever in a loop or a wait.
    Live,
    /// Every criterion that the model knows.
    All,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairKind {
    /// A fence is put in.
    Fence,
    /// A store becomes an exchange, or a load an atomic addition of 0.
    Rmw,
    /// A store becomes `seqcst`.
    Order,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanguageName {
    /// Palisade's own language.
    Pal,
    /// Trencher's and Persist's automata.
    Trencher,
    /// Rocker's toy language.
    Tpl,
    /// herd's litmus tests.
    Litmus,
    /// C11.
    C,
    /// Rust, by way of the Rust compiler.
    Rust,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Palisade's own language.
    Pal,
    /// Trencher's automata.
    Trencher,
    /// Promela, for SPIN.
    Promela,
    /// The control-flow graphs, for Graphviz.
    Dot,
    /// The control-flow graphs, drawn.
    Svg,
    /// The client that `--client` asks about, in Rust.
    Client,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteName {
    /// All ways in turn, which is what happens anyway.
    Any,
    /// Sequential consistency for a program that is extended again and again by what robustness lacks.
    Lazy,
    /// Walks with longer and longer store buffers, exact up to a length and as sets beyond it.
    Buffers,
    /// One walk with store buffers as long as the text allows; undecided where it allows any length.
    Bounded,
    /// Backwards from what must not be, with load buffers in place of store buffers.
    Dual,
}

impl From<RouteName> for Route {
    fn from(name: RouteName) -> Self {
        match name {
            RouteName::Any => Route::Any,
            RouteName::Lazy => Route::Lazy,
            RouteName::Buffers => Route::Buffers,
            RouteName::Bounded => Route::Bounded,
            RouteName::Dual => Route::Dual,
        }
    }
}

impl From<ModelName> for Model {
    fn from(name: ModelName) -> Self {
        match name {
            ModelName::Sc => Model::Sc,
            ModelName::Tso => Model::Tso,
            ModelName::Ra => Model::Ra,
            ModelName::C20 => Model::C20,
            ModelName::Rc11 => Model::Rc11,
        }
    }
}

impl From<ReachModel> for Model {
    fn from(name: ReachModel) -> Self {
        match name {
            ReachModel::Sc => Model::Sc,
            ReachModel::Tso => Model::Tso,
        }
    }
}

impl CriterionName {
    /// The criterion; `None` for `all`.
    pub fn criterion(self) -> Option<Criterion> {
        match self {
            CriterionName::Robust => Some(Criterion::Robust),
            CriterionName::Observational => Some(Criterion::Observational),
            CriterionName::Persistent => Some(Criterion::Persistent),
            CriterionName::Trf => Some(Criterion::Trf),
            CriterionName::Drf => Some(Criterion::Drf),
            CriterionName::Safe => Some(Criterion::Safe),
            CriterionName::Live => Some(Criterion::Live),
            CriterionName::All => None,
        }
    }
}

impl From<LanguageName> for Language {
    fn from(name: LanguageName) -> Self {
        match name {
            LanguageName::Pal => Language::Pal,
            LanguageName::Trencher => Language::Trencher,
            LanguageName::Tpl => Language::Tpl,
            LanguageName::Litmus => Language::Litmus,
            LanguageName::C => Language::C,
            LanguageName::Rust => Language::Rust,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
        whole().debug_assert();
    }

    /// It could not be told which of the two has run.
    #[test]
    fn described_later_or_at_once_is_the_same() {
        let (mut later, mut at_once) = (Cli::command(), whole());
        later.build();
        at_once.build();
        let help = |command: &mut clap::Command| command.render_long_help().to_string();
        assert_eq!(help(&mut later), help(&mut at_once));
        for (a, b) in later
            .get_subcommands_mut()
            .zip(at_once.get_subcommands_mut())
        {
            assert_eq!(help(a), help(b));
        }
    }
}
