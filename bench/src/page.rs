//! The page of the book that shows the results: between two comments it is written by the tables, and everything else by people.
//!
//! `<!-- table NAME -->` begins a place for the rows of a table, `<!-- notes NAME -->` one for the lines below it; both end with `<!-- end -->`.

use crate::tool::workspace;

/// Writes a table's rows and notes into the page, where that has places for them.
pub(crate) fn refresh(name: &str, titles: &[&str], rows: &[Vec<String>], notes: &[String]) {
    let path = workspace().join("docs/src/benchmarks.md");
    let Ok(old) = std::fs::read_to_string(&path) else {
        return;
    };
    let with_rows = replace(&old, &format!("table {name}"), &markdown(titles, rows));
    let block = format!("```text\n{}\n```\n", notes.join("\n"));
    let new = replace(&with_rows, &format!("notes {name}"), &block);
    if new == old {
        return;
    }
    match std::fs::write(&path, new) {
        Ok(()) => println!("wrote docs/src/benchmarks.md"),
        Err(error) => eprintln!("cannot write {}: {error}", path.display()),
    }
}

/// The page with other text at this place; as it was where there is no such place.
fn replace(page: &str, place: &str, text: &str) -> String {
    let begin = format!("<!-- {place} -->\n");
    let Some((before, rest)) = page.split_once(&begin) else {
        return page.to_owned();
    };
    let Some((_, after)) = rest.split_once("<!-- end -->") else {
        return page.to_owned();
    };
    format!("{before}{begin}\n{text}\n<!-- end -->{after}")
}

/// A table as the book writes it. Columns without a single entry are left out.
fn markdown(titles: &[&str], rows: &[Vec<String>]) -> String {
    let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
    let used: Vec<usize> = (0..titles.len())
        .filter(|&column| rows.iter().any(|row| !cell(row, column).is_empty()))
        .collect();
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = used.iter().map(|&c| titles[c].to_owned()).collect();
    let rule = used.iter().enumerate();
    let rule: Vec<&str> = rule
        .map(|(n, _)| if n == 0 { "---" } else { "--:" })
        .collect();
    let mut text = format!("{}|{}|\n", line(&head), rule.join("|"));
    for row in rows {
        let cells: Vec<String> = used
            .iter()
            .map(|&column| cell(row, column).replace('|', "\\|"))
            .collect();
        text.push_str(&line(&cells));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_place_changes() {
        let page = "a\n<!-- table t -->\nold\n<!-- end -->\nb\n<!-- table u -->\n<!-- end -->\n";
        let rows = vec![vec!["x".to_owned(), String::new(), "1|2".to_owned()]];
        let table = markdown(&["p", "q", "r"], &rows);
        assert_eq!(table, "| p | r |\n|---|--:|\n| x | 1\\|2 |\n");
        let new = replace(page, "table t", &table);
        assert!(new.starts_with("a\n<!-- table t -->\n\n| p |"), "{new}");
        assert!(
            new.ends_with("|\n\n<!-- end -->\nb\n<!-- table u -->\n<!-- end -->\n"),
            "{new}"
        );
        assert_eq!(replace(&new, "table t", &table), new);
        assert_eq!(replace(page, "table v", &table), page);
    }
}
