//! What other tools said about the files of the corpus, and what they took: `expected.tsv`.

use std::path::PathBuf;

use bench::tool::corpus;

/// A line of the table.
pub struct Expected {
    /// The name within the corpus.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    columns: Vec<String>,
    titles: Vec<String>,
}

impl Expected {
    /// An entry by the title of its column, as it is written: a verdict, a number, `-`, `timeout`, `crash`.
    pub fn get(&self, title: &str) -> &str {
        let at = self.titles.iter().position(|t| t == title);
        at.and_then(|at| self.columns.get(at)).map_or("-", |c| c)
    }

    /// An entry that is a number.
    pub fn seconds(&self, title: &str) -> Option<f64> {
        self.get(title).parse().ok()
    }
}

/// All lines; none where the corpus is not there.
pub fn expected() -> Vec<Expected> {
    let Some(corpus) = corpus() else {
        eprintln!("the corpus with other tools' times is not there: measuring programs/ alone");
        return Vec::new();
    };
    let text = std::fs::read_to_string(corpus.join("expected.tsv")).unwrap_or_default();
    let mut lines = text
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let titles = lines.next().unwrap_or_default();
    lines
        .filter_map(|columns| {
            Some(Expected {
                name: columns.first()?.clone(),
                file: corpus.join(columns.first()?),
                columns,
                titles: titles.clone(),
            })
        })
        .collect()
}
