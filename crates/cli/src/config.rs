//! `palisade.toml`: a project's defaults.
//!
//! What it says becomes the default of the flag with the same name, so that the command line wins, and values are judged by the
//! definitions of the flags.

use clap::Command;
use palisade_lang::{Diagnostic, Source, Span};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What the file is called.
pub const NAME: &str = "palisade.toml";

/// The flags that a project may have a default for.
const KEYS: &[&str] = &[
    "model",
    "criterion",
    "timeout",
    "memory",
    "jobs",
    "domain",
    "from",
    "format",
    "color",
    "cost",
    "seed",
    "repairs",
];

/// The nearest file of that name: in this directory, or in one around it.
pub fn find(start: &Path) -> Option<PathBuf> {
    start
        .ancestors()
        .map(|directory| directory.join(NAME))
        .find(|path| path.is_file())
}

/// The flags that change what an answer means.
const MEANING: [&str; 6] = ["model", "criterion", "domain", "from", "cost", "repairs"];

/// What a file says that changes what answers mean, to be said with each of them.
static SAID: OnceLock<String> = OnceLock::new();

/// What the project's file says that changes what answers mean.
pub fn said() -> Option<&'static str> {
    SAID.get().map(String::as_str)
}

/// Remembers what a file says that changes what the answers of this command mean.
pub fn remember(source: &Source, command: &Command) {
    let Ok(table) = DeTable::parse(source.text()) else {
        return;
    };
    let mut said = Vec::new();
    let mut look = |section: Option<&str>, table: &DeTable<'_>| {
        for (key, value) in table {
            let name: &str = key.get_ref();
            if MEANING.contains(&name)
                && takes(command, name)
                && let Some(value) = text_of(value.get_ref())
            {
                let section = section.map(|name| format!("[{name}] ")).unwrap_or_default();
                said.push(format!("{section}{name} = {value}"));
            }
        }
    };
    look(None, table.get_ref());
    for (name, value) in table.get_ref() {
        if let Some(section) = value.get_ref().as_table()
            && counts_for(name.get_ref(), command.get_name())
        {
            look(Some(name.get_ref()), section);
        }
    }
    if !said.is_empty() {
        let name = source.name();
        let _ = SAID.set(format!("defaults of `{name}`: {}", said.join(", ")));
    }
}

/// Whether a section is about the command: `validate` judges what `check` says, so it sees the same program and question.
fn counts_for(section: &str, command: &str) -> bool {
    section == command || (section, command) == ("check", "validate")
}

/// Why a file that was found, and not named by the user, is not to be believed: another user may change it.
pub fn distrust(path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let owner = std::fs::metadata(path).ok()?.uid();
        // The system says who runs this process; where it does not, nothing can be told.
        let user = std::fs::metadata("/proc/self").ok()?.uid();
        if owner != user {
            return Some(format!(
                "{}: belongs to another user, so it is not read; `--config {0}` reads it, and `--no-config` leaves it aside",
                path.display()
            ));
        }
    }
    let _ = path;
    None
}

/// The command with the defaults of a project, or everything that is wrong with the text.
pub fn apply(
    command: Command,
    source: &Source,
    directory: &Path,
) -> Result<Command, Vec<Diagnostic>> {
    let table = DeTable::parse(source.text()).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        vec![Diagnostic::error(
            Span::new(span.start, span.end),
            error.message(),
        )]
    })?;
    let mut reading = Reading {
        plain: command.clone(),
        command,
        directory,
        problems: Vec::new(),
    };
    // What is said for one command comes after what is said for all, and so wins.
    let (mut sections, settings): (Vec<_>, Vec<_>) = table
        .get_ref()
        .iter()
        .partition(|(_, value)| value.get_ref().is_table());
    // Its own section comes after that of `check`, which counts for it as well.
    sections.sort_by_key(|(name, _)| name.get_ref() == "validate");
    for (key, value) in settings {
        reading.setting(None, key, value);
    }
    for (name, section) in sections {
        reading.section(name, section);
    }
    reading.problems.sort_by_key(|problem| problem.span);
    match reading.problems.is_empty() {
        true => Ok(reading.command),
        false => Err(reading.problems),
    }
}

struct Reading<'a> {
    /// As it was, to judge values by.
    plain: Command,
    command: Command,
    directory: &'a Path,
    problems: Vec<Diagnostic>,
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;

impl Reading<'_> {
    fn section(&mut self, name: &Key<'_>, section: &Spanned<DeValue<'_>>) {
        let known: Vec<String> = self.commands();
        let Some(table) = section.get_ref().as_table() else {
            return;
        };
        if !known.iter().any(|command| command == name.get_ref()) {
            let text = format!("there is no command `{}` that has defaults", name.get_ref());
            let known = known.iter().map(String::as_str).collect::<Vec<_>>();
            let problem = with_suggestion(span(name), text, name.get_ref(), &known);
            self.problems.push(problem);
            return;
        }
        for (key, value) in table {
            self.setting(Some(name.get_ref()), key, value);
        }
    }

    /// The commands that have one of the flags.
    fn commands(&self) -> Vec<String> {
        self.plain
            .get_subcommands()
            .filter(|command| KEYS.iter().any(|key| takes(command, key)))
            .map(|command| command.get_name().to_owned())
            .collect()
    }

    /// One line: a default for one command, or for all that know the flag.
    fn setting(&mut self, only: Option<&str>, key: &Key<'_>, value: &Spanned<DeValue<'_>>) {
        let name: &str = key.get_ref();
        let commands: Vec<String> = match only {
            Some("check") if MEANING.contains(&name) => {
                vec!["check".to_owned(), "validate".to_owned()]
            }
            Some(command) => vec![command.to_owned()],
            None => self.commands(),
        };
        let takers: Vec<String> = commands
            .into_iter()
            .filter(|command| {
                let command = self.plain.find_subcommand(command);
                command.is_some_and(|command| takes(command, name))
            })
            .collect();
        let for_all = only.is_none() && takes(&self.plain, name);
        if !KEYS.contains(&name) || takers.is_empty() && !for_all {
            let text = match only {
                Some(command) => format!("`{name}` is no default that `{command}` can have"),
                None => format!("`{name}` is no default that a project can have"),
            };
            self.problems
                .push(with_suggestion(span(key), text, name, KEYS));
            return;
        }
        let value_text = match text_of(value.get_ref()) {
            Some(text) => self.resolved(name, text),
            None => {
                let found = value.get_ref().type_str();
                let text = format!("`{name}` is a text, a number or a list of texts, not: {found}");
                self.problems.push(Diagnostic::error(span(value), text));
                return;
            }
        };
        if for_all {
            // It belongs to the command as a whole, so every command judges it alike.
            match self.judge("check", name, &value_text) {
                Ok(()) => self.set(None, name, &value_text),
                Err(problem) => self.problems.push(Diagnostic::error(span(value), problem)),
            }
            return;
        }
        // A default for all commands is one for those that know its value: `reach` does not know the model `ra`.
        let mut complaint = None;
        let mut fits = false;
        for taker in &takers {
            match self.judge(taker, name, &value_text) {
                Ok(()) => {
                    fits = true;
                    self.set(Some(taker), name, &value_text);
                }
                Err(problem) => complaint = complaint.or(Some(problem)),
            }
        }
        if let (false, Some(complaint)) = (fits, complaint) {
            self.problems
                .push(Diagnostic::error(span(value), complaint));
        }
    }

    /// A path is meant from where the file is.
    fn resolved(&self, name: &str, text: String) -> String {
        match name {
            "cost" if text != "unit" && text != "profile" => {
                self.directory.join(text).to_string_lossy().into_owned()
            }
            _ => text,
        }
    }

    /// Whether a command takes the value, by its own definitions.
    fn judge(&self, command: &str, name: &str, value: &str) -> Result<(), String> {
        if matches!(command, "fence" | "validate") && (name, value) == ("criterion", "all") {
            return Err(format!("`{command}` is about one criterion at a time"));
        }
        let flag = format!("--{name}={value}");
        let mut arguments = vec!["palisade", command, &flag, "-"];
        // What else the command cannot be without.
        arguments.extend(match command {
            "export" => Some("--to=pal"),
            "report" => Some("--output=-"),
            "validate" => Some("-"),
            _ => None,
        });
        match self.plain.clone().try_get_matches_from(arguments) {
            Ok(_) => Ok(()),
            Err(error) => {
                let text = error.to_string();
                let text = text.strip_prefix("error: ").unwrap_or(&text);
                let end = text.find("\n\nFor more").unwrap_or(text.len());
                let lines: Vec<&str> = text[..end].lines().map(str::trim).collect();
                Err(lines.join(" ").trim_end().to_owned())
            }
        }
    }

    /// Makes the value the default of the flag.
    fn set(&mut self, command: Option<&str>, name: &str, value: &str) {
        let change = |command: Command| {
            let Some(id) = flag(&command, name) else {
                return command;
            };
            command.mut_arg(id, |arg| arg.default_value(value.to_owned()))
        };
        let whole = std::mem::take(&mut self.command);
        self.command = match command {
            Some(command) => whole.mut_subcommand(command, change),
            None => change(whole),
        };
    }
}

/// The flag of that name.
fn flag(command: &Command, name: &str) -> Option<clap::Id> {
    let mut arguments = command.get_arguments();
    arguments
        .find(|argument| argument.get_long() == Some(name))
        .map(|argument| argument.get_id().clone())
}

/// Whether a command can have a default for the flag: not where it means something only beside another flag.
fn takes(command: &Command, name: &str) -> bool {
    let special = matches!(
        (command.get_name(), name),
        ("export", "criterion") | ("validate", "format") | ("playground", _)
    );
    !special && flag(command, name).is_some()
}

fn text_of(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .map(|number| number.to_string()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Array(items) => {
            let texts: Option<Vec<&str>> =
                items.iter().map(|item| item.get_ref().as_str()).collect();
            texts.map(|texts| texts.join(","))
        }
        _ => None,
    }
}

fn span<T>(of: &Spanned<T>) -> Span {
    Span::new(of.span().start, of.span().end)
}

fn with_suggestion(span: Span, text: String, wrong: &str, known: &[&str]) -> Diagnostic {
    let near = known
        .iter()
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(nearness, _)| *nearness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let help = match near {
        Some((_, name)) => format!("did you mean `{name}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Diagnostic::error(span, text).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{CheckModel, Cli, ModelName, whole};
    use clap::FromArgMatches;

    fn read(text: &str) -> Result<Command, Vec<Diagnostic>> {
        let source = Source::new(NAME, text);
        apply(whole(), &source, Path::new("/project"))
    }

    fn parsed(text: &str, arguments: &[&str]) -> Cli {
        let matches = read(text).unwrap().try_get_matches_from(arguments).unwrap();
        Cli::from_arg_matches(&matches).unwrap()
    }

    fn messages(text: &str) -> Vec<String> {
        let problems = read(text).err().unwrap_or_default();
        let line = |d: &Diagnostic| {
            let at = Source::new("", text).line_column(d.span.start);
            format!("{at} {} {}", d.message, d.help.as_deref().unwrap_or(""))
        };
        problems.iter().map(line).collect()
    }

    #[test]
    fn the_command_line_wins_over_a_section_and_that_over_the_rest() {
        let text = "model = \"ra\"\ntimeout = 5\nmemory = \"1GiB\"\n[fence]\nmodel = \"tso\"\ncost = \"costs.toml\"\n";
        let crate::args::Command::Check(check) = parsed(text, &["palisade", "check", "x"]).command
        else {
            panic!();
        };
        assert_eq!(check.0.model, Some(CheckModel::Ra));
        assert_eq!(check.0.criterion, None);
        assert_eq!(check.0.search.timeout.unwrap().as_secs(), 5);
        assert_eq!(check.0.search.memory, Some(1 << 30));
        let line = ["palisade", "check", "--model=sc", "x"];
        let crate::args::Command::Check(check) = parsed(text, &line).command else {
            panic!();
        };
        assert_eq!(check.0.model, Some(CheckModel::Sc));
        let crate::args::Command::Fence(fence) = parsed(text, &["palisade", "fence", "x"]).command
        else {
            panic!();
        };
        assert_eq!(fence.0.model, ModelName::Tso);
        assert_eq!(fence.0.cost, "/project/costs.toml");
        // `reach` does not know `ra`, and keeps its own default.
        parsed(text, &["palisade", "reach", "x"]);
    }

    #[test]
    fn what_is_wrong_has_a_place_and_a_suggestion() {
        let wrong = messages("modle = \"tso\"\n\n[chekc]\nx = 1\n[fence]\nwrite = true\n");
        assert!(wrong[0].starts_with("1:1 `modle`"), "{wrong:?}");
        assert!(wrong[0].contains("did you mean `model`?"), "{wrong:?}");
        assert!(
            wrong[1].starts_with("3:2 ") && wrong[1].contains("`check`"),
            "{wrong:?}"
        );
        assert!(wrong[2].starts_with("6:1 `write`"), "{wrong:?}");
        let wrong = messages("model = \"arm\"\ntimeout = \"soon\"\njobs = 0\ndomain = true\n");
        assert_eq!(wrong.len(), 4, "{wrong:?}");
        assert!(
            wrong[0].starts_with("1:9 ") && wrong[0].contains("sc, tso, ra"),
            "{wrong:?}"
        );
        assert!(wrong[1].contains("60s"), "{wrong:?}");
        assert_eq!(messages("model = ").len(), 1);
        assert_eq!(
            messages("[check]\nmodel = \"ra\"\n[reach]\nmodel = \"ra\"").len(),
            1
        );
        assert_eq!(messages("").len(), 0);
    }

    /// Values are judged as every command judges them, also those that need more arguments.
    #[test]
    fn a_section_for_every_command() {
        for section in ["export", "report", "validate"] {
            let text = format!("[{section}]\nmemory = \"1GiB\"\ntimeout = \"5s\"\ndomain = 4\n");
            assert_eq!(messages(&text), Vec::<String>::new());
            let wrong = messages(&format!("[{section}]\nmemory = \"much\"\n"));
            assert!(
                wrong[0].starts_with("2:10 ") && wrong[0].contains("8GiB"),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn every_key_is_a_flag() {
        let command = whole();
        for key in KEYS {
            let all = command.get_subcommands().chain([&command]);
            assert!(all.into_iter().any(|c| takes(c, key)), "{key}");
        }
    }
}
