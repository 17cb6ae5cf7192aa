//! What the user can choose.

use palisade::{Criterion, Model};
use serde::Deserialize;
use std::time::Duration;

/// What the user can choose: `initializationOptions`, or the section `palisade` of the editor's settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// How many seconds an answer may take.
    pub timeout: f64,
    /// How many MiB the server may hold while it looks for an answer.
    pub memory: u64,
    /// The memory model; where none is given it follows from the program.
    pub model: Option<String>,
    /// The criterion; where none is given it follows from the program.
    pub criterion: Option<String>,
    /// Whether a program is asked about once it is saved.
    #[serde(rename = "checkOnSave")]
    pub check_on_save: bool,
    /// Whether Rust files are looked at: that runs the Rust compiler on them.
    pub rust: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            timeout: 5.0,
            memory: 2048,
            model: None,
            criterion: None,
            check_on_save: true,
            rust: false,
        }
    }
}

impl Settings {
    /// From what the editor sends: the settings themselves, or an object with them as `palisade`.
    pub fn read(value: &serde_json::Value) -> Settings {
        let own = value.get("palisade").unwrap_or(value);
        serde_json::from_value(own.clone()).unwrap_or_default()
    }

    pub(crate) fn time(&self) -> Duration {
        let seconds = match self.timeout.is_finite() {
            true => self.timeout.clamp(0.1, 3600.0),
            false => 5.0,
        };
        Duration::from_secs_f64(seconds)
    }

    /// The question, as far as the user has chosen it; a pair without a meaning is none.
    pub(crate) fn question(&self) -> (Option<Model>, Option<Criterion>) {
        let named = |name: &Option<String>| name.clone().filter(|n| !n.is_empty() && n != "auto");
        let model = named(&self.model)
            .and_then(|name| Model::ALL.into_iter().find(|model| model.name() == name));
        let known = Model::ALL.into_iter().flat_map(palisade::criteria);
        let criterion = named(&self.criterion)
            .and_then(|name| known.into_iter().find(|criterion| criterion.name() == name));
        match (model, criterion) {
            (Some(m), Some(c)) if !palisade::criteria(m).contains(&c) => (Some(m), None),
            pair => pair,
        }
    }
}
