//! How results are shown: a table on the terminal, the same as CSV and in the book, a plot as SVG, and the growth of a series.

use std::path::PathBuf;

use plotters::prelude::*;

use crate::page;
use crate::tool::workspace;

/// Where CSV files and plots go: beside the page of the book that shows them.
fn directory() -> PathBuf {
    workspace().join("docs/src/benchmarks")
}

fn write(name: &str, text: &str) {
    let path = directory().join(name);
    let written = std::fs::create_dir_all(directory()).and_then(|()| std::fs::write(&path, text));
    match written {
        Ok(()) => println!("wrote docs/src/benchmarks/{name}"),
        Err(error) => eprintln!("cannot write {}: {error}", path.display()),
    }
}

/// A table that is printed row by row, as the measurements come in.
pub struct Table {
    columns: Vec<(&'static str, usize)>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

impl Table {
    /// Prints the head. Each column has a title and a width.
    pub fn new(columns: &[(&'static str, usize)]) -> Table {
        let table = Table {
            columns: columns.to_vec(),
            rows: Vec::new(),
            notes: vec![machine()],
        };
        println!("{}", table.notes[0]);
        table.print(&table.titles());
        table
    }

    fn titles(&self) -> Vec<&str> {
        self.columns.iter().map(|(title, _)| *title).collect()
    }

    /// Prints a row: the first cell to the left, all others to the right.
    pub fn row<S: AsRef<str>>(&mut self, cells: &[S]) {
        let cells: Vec<String> = cells.iter().map(|c| c.as_ref().to_owned()).collect();
        self.print(&cells);
        self.rows.push(cells);
    }

    fn print<S: AsRef<str>>(&self, cells: &[S]) {
        let mut line = String::new();
        for (number, ((_, width), cell)) in self.columns.iter().zip(cells).enumerate() {
            let cell = cell.as_ref();
            match number {
                0 => line.push_str(&format!("{cell:width$}")),
                _ => line.push_str(&format!(" {cell:>width$}")),
            }
        }
        println!("{}", line.trim_end());
    }

    /// Prints a line that belongs to the results: a sum, a fit.
    pub fn note(&mut self, line: impl Into<String>) {
        let line = line.into();
        println!("{line}");
        self.notes.push(line);
    }

    /// Writes what was printed as `NAME.csv`, and into the book's page where that has a place for it.
    pub fn save(&self, name: &str) {
        let mut csv = String::new();
        for cells in std::iter::once(&owned(&self.titles())).chain(&self.rows) {
            let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
            csv.push_str(&cells.join(","));
            csv.push('\n');
        }
        write(&format!("{name}.csv"), &csv);
        page::refresh(name, &self.titles(), &self.rows, &self.notes);
    }
}

/// A cell of a CSV file.
fn quoted(cell: &str) -> String {
    match cell.contains([',', '"']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

fn owned(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// What it was measured on, in general terms, and what else went on there.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    match load.split(' ').next() {
        Some(load) if !load.is_empty() => {
            format!("measured on a machine with {cores} cores, load average {load} at the start")
        }
        _ => format!("measured on a machine with {cores} cores"),
    }
}

/// One line of a plot.
pub struct Series {
    /// What it is called in the legend.
    pub name: String,
    /// Its points; those that are not positive cannot be shown on a logarithmic axis and are left out there.
    pub points: Vec<(f64, f64)>,
}

/// How a series grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The exponent `e` of the best fit `y = c · x^e`.
    pub exponent: f64,
    /// The factor `f` of the best fit `y = c · f^x`.
    pub factor: f64,
    /// How well each of the two fits (R²): the polynomial, the exponential.
    pub fits: (f64, f64),
}

impl std::fmt::Display for Growth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (polynomial, exponential) = self.fits;
        write!(
            f,
            "x^{:.2} (R² {polynomial:.3}) or {:.2}^x (R² {exponential:.3})",
            self.exponent, self.factor
        )
    }
}

/// Fits the growth of a series by least squares of the logarithms; none for fewer than two different positive points.
pub fn growth(points: &[(f64, f64)]) -> Option<Growth> {
    let positive: Vec<_> = points
        .iter()
        .filter(|(x, y)| *x > 0.0 && *y > 0.0)
        .collect();
    let polynomial: Vec<_> = positive.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let exponential: Vec<_> = positive.iter().map(|(x, y)| (*x, y.ln())).collect();
    let (exponent, by_power) = line(&polynomial)?;
    let (rate, by_factor) = line(&exponential)?;
    Some(Growth {
        exponent,
        factor: rate.exp(),
        fits: (by_power, by_factor),
    })
}

/// How a series of states grows, for a table.
pub fn fitted(points: &[(f64, f64)]) -> String {
    // Two points lie on every curve.
    match growth(points) {
        Some(growth) if points.len() > 2 => growth.to_string(),
        _ => "too few points".to_owned(),
    }
}

/// Below that, starting the process is most of what is measured.
const LEAST_SECONDS: f64 = 0.02;

/// How a series of seconds grows, for a table: only those that say something.
pub fn fitted_seconds(points: &[(f64, f64)]) -> String {
    let long = points.iter().copied().filter(|p| p.1 > LEAST_SECONDS);
    fitted(&long.collect::<Vec<_>>())
}

/// The slope of the best line through the points, and R².
fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / count;
    let (x_mean, y_mean) = (mean(&|p| p.0), mean(&|p| p.1));
    let xx = mean(&|p| (p.0 - x_mean).powi(2));
    let xy = mean(&|p| (p.0 - x_mean) * (p.1 - y_mean));
    let yy = mean(&|p| (p.1 - y_mean).powi(2));
    if points.len() < 2 || xx == 0.0 {
        return None;
    }
    let fit = if yy == 0.0 { 1.0 } else { xy * xy / (xx * yy) };
    Some((xy / xx, fit))
}

/// What a plot looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Lines through the points, over a linear axis.
    Lines,
    /// Lines through the points, over a logarithmic axis.
    LogarithmicLines,
    /// Points alone, both axes logarithmic, and lines where y is as much as x, and a tenth, a hundredth, … of it.
    Points,
}

/// Draws the series as `NAME.svg`, with a logarithmic y axis, and a logarithmic x axis if so wanted.
pub fn plot(name: &str, title: &str, axes: (&str, &str), logarithmic_x: bool, series: &[Series]) {
    let style = match logarithmic_x {
        true => Style::LogarithmicLines,
        false => Style::Lines,
    };
    save(name, title, axes, style, series);
}

/// Draws pairs of measurements as `NAME.svg`: theirs to the right, ours upwards, both in seconds.
pub fn scatter(name: &str, title: &str, theirs: &str, series: &[Series]) {
    let axes = (theirs, "our seconds, process start included");
    save(name, title, axes, Style::Points, series);
}

fn save(name: &str, title: &str, axes: (&str, &str), style: Style, series: &[Series]) {
    let mut text = String::new();
    match draw(&mut text, title, axes, style, series) {
        Ok(()) => write(&format!("{name}.svg"), &text),
        Err(error) => eprintln!("cannot draw {name}: {error}"),
    }
}

/// Colours that colour-blind readers can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

fn draw(
    text: &mut String,
    title: &str,
    (x_title, y_title): (&str, &str),
    style: Style,
    series: &[Series],
) -> Result<(), Box<dyn std::error::Error>> {
    // Both axes show logarithms to base 10 (x only if wanted); the labels show the numbers themselves.
    let logarithmic_x = style != Style::Lines;
    let x_of = |x: f64| if logarithmic_x { x.log10() } else { x };
    let shown: Vec<(&str, Vec<(f64, f64)>)> = series
        .iter()
        .map(|one| {
            let positive = one.points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0);
            let points = positive.map(|(x, y)| (x_of(*x), y.log10())).collect();
            (one.name.as_str(), points)
        })
        .collect();
    if shown.iter().all(|(_, points)| points.is_empty()) {
        return Err("there are no points".into());
    }
    let all = || shown.iter().flat_map(|(_, points)| points);
    let range = |pick: fn(&(f64, f64)) -> f64| {
        let least = all().map(pick).fold(f64::INFINITY, f64::min);
        let largest = all().map(pick).fold(f64::NEG_INFINITY, f64::max);
        let margin = 0.05 * (largest - least) + 0.01;
        (least - margin)..(largest + margin)
    };
    let (x_range, y_range) = (range(|p| p.0), range(|p| p.1));
    let root = SVGBackend::with_string(text, (760, 460)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(x_range.clone(), y_range.clone())?;
    let number = |value: f64| match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 1.0 => format!("{v:.1}"),
        v => format!("{v:.4}").trim_end_matches('0').to_string(),
    };
    chart
        .configure_mesh()
        .x_desc(x_title)
        .y_desc(y_title)
        .light_line_style(WHITE)
        .x_label_formatter(&|x| number(if logarithmic_x { 10f64.powf(*x) } else { *x }))
        .y_label_formatter(&|y| number(10f64.powf(*y)))
        .draw()?;
    if style == Style::Points {
        let faster = (x_range.start - y_range.end).floor() as i32
            ..=(x_range.end - y_range.start).ceil() as i32;
        for power in faster {
            let at = |x: f64| (x, x - f64::from(power));
            // Only the part of the line that is within the plot.
            let from = x_range.start.max(y_range.start + f64::from(power));
            let to = x_range.end.min(y_range.end + f64::from(power));
            if from < to {
                let grey = BLACK.mix(if power == 0 { 0.6 } else { 0.2 });
                chart.draw_series(LineSeries::new([at(from), at(to)], grey))?;
            }
        }
    }
    for ((name, points), colour) in shown.iter().zip(COLOURS.iter().cycle()) {
        let colour = *colour;
        if style == Style::Points {
            let dot = |&point: &(f64, f64)| Circle::new(point, 4, colour.filled());
            chart
                .draw_series(points.iter().map(dot))?
                .label(*name)
                .legend(move |(x, y)| Circle::new((x + 9, y), 4, colour.filled()));
            continue;
        }
        chart
            .draw_series(
                LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(3),
            )?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_of_known_series() {
        let square: Vec<_> = (1..10)
            .map(|x| (f64::from(x), 3.0 * f64::from(x * x)))
            .collect();
        let growth = growth(&square).unwrap();
        assert!((growth.exponent - 2.0).abs() < 1e-9, "{growth}");
        let double: Vec<_> = (1..10).map(|x| (f64::from(x), 2f64.powi(x))).collect();
        let growth = super::growth(&double).unwrap();
        assert!((growth.factor - 2.0).abs() < 1e-9, "{growth}");
        assert_eq!(super::growth(&[(1.0, 1.0)]), None);
    }
}
