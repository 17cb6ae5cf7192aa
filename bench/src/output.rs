//! How results are shown: a table on the terminal, the same as CSV, a plot as SVG, and the growth of a series.

use std::path::PathBuf;

use plotters::prelude::*;

use crate::tool::workspace;

/// Where CSV files and plots go: beside the book, which shows them.
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
    csv: String,
}

impl Table {
    /// Prints the head. Each column has a title and a width.
    pub fn new(columns: &[(&'static str, usize)]) -> Table {
        let columns = columns.to_vec();
        let titles: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
        let mut table = Table {
            csv: String::new(),
            columns,
        };
        table.row(&titles);
        table
    }

    /// Prints a row: the first cell to the left, all others to the right.
    pub fn row<S: AsRef<str>>(&mut self, cells: &[S]) {
        let mut line = String::new();
        for (number, ((_, width), cell)) in self.columns.iter().zip(cells).enumerate() {
            let cell = cell.as_ref();
            match number {
                0 => line.push_str(&format!("{cell:width$}")),
                _ => line.push_str(&format!(" {cell:>width$}")),
            }
        }
        println!("{}", line.trim_end());
        let cells: Vec<&str> = cells.iter().map(|c| c.as_ref()).collect();
        self.csv.push_str(&cells.join(","));
        self.csv.push('\n');
    }

    /// Writes what was printed as `NAME.csv`.
    pub fn save(&self, name: &str) {
        write(&format!("{name}.csv"), &self.csv);
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

/// Draws the series as `NAME.svg`, with a logarithmic y axis, and a logarithmic x axis if so wanted.
pub fn plot(name: &str, title: &str, axes: (&str, &str), logarithmic_x: bool, series: &[Series]) {
    let mut text = String::new();
    if let Err(error) = draw(&mut text, title, axes, logarithmic_x, series) {
        eprintln!("cannot draw {name}: {error}");
        return;
    }
    write(&format!("{name}.svg"), &text);
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
    logarithmic_x: bool,
    series: &[Series],
) -> Result<(), Box<dyn std::error::Error>> {
    // Both axes show logarithms to base 10 (x only if wanted); the labels show the numbers themselves.
    let x_of = |x: f64| if logarithmic_x { x.log10() } else { x };
    let shown: Vec<(&str, Vec<(f64, f64)>)> = series
        .iter()
        .map(|one| {
            let positive = one.points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0);
            let points = positive.map(|(x, y)| (x_of(*x), y.log10())).collect();
            (one.name.as_str(), points)
        })
        .collect();
    let all = || shown.iter().flat_map(|(_, points)| points);
    let range = |pick: fn(&(f64, f64)) -> f64| {
        let least = all().map(pick).fold(f64::INFINITY, f64::min);
        let largest = all().map(pick).fold(f64::NEG_INFINITY, f64::max);
        match least <= largest {
            true => {
                (least - 0.05 * (largest - least) - 0.01)
                    ..(largest + 0.05 * (largest - least) + 0.01)
            }
            false => 0.0..1.0,
        }
    };
    let root = SVGBackend::with_string(text, (760, 460)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(range(|p| p.0), range(|p| p.1))?;
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
    for ((name, points), colour) in shown.iter().zip(COLOURS.iter().cycle()) {
        let colour = *colour;
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
