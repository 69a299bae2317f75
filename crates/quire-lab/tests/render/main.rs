//! What is written of a figure can be read back.
#![allow(clippy::unwrap_used)]

mod figure_page;
mod markup;
mod page;
mod stacked;

use markup::parse_xml;
use quire_lab::{Axis, Chart, Figure, Paper, Positions, Series, SeriesOrigin, Verdict, render};

fn figure(chart: Chart, positions: Positions) -> Figure {
    Figure {
        stem: "sample",
        title: "Speed & size, <both>".to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "figure 0",
        chart,
        x: Axis::linear("rate", "%"),
        y: Axis::logarithmic("speed", "GB/s"),
        positions,
        series: vec![
            Series::new(
                "one, \"quoted\"",
                SeriesOrigin::Measured,
                vec![0.125, 40.0, 3.5],
            ),
            Series::paper("two\nlines", vec![Some(1.5), None, Some(2e6)]),
        ],
        verdicts: vec![
            Verdict::of_one("one < two & \"three\"", false, "ours <0.5>")
                .deviating_by(Some("a <reason> & another".to_owned())),
        ],
        notes: vec!["measured <somewhere> & then".to_owned()],
    }
}

fn both() -> [Figure; 2] {
    [
        figure(Chart::Lines, Positions::Numbers(vec![0.0, 50.0, 100.0])),
        figure(Chart::Bars, Positions::labels(["a", "b,c", "d & e"])),
    ]
}

/// RFC 4180, read letter by letter.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut field, mut quoted) = (vec![], vec![], String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quoted, letter) {
            (true, '"') if letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            (true, '"') => quoted = false,
            (true, other) => field.push(other),
            (false, '"') => {
                assert!(field.is_empty(), "a quote within a field");
                quoted = true;
            }
            (false, ',') => line.push(std::mem::take(&mut field)),
            (false, '\r') => {
                assert_eq!(letters.next(), Some('\n'));
                line.push(std::mem::take(&mut field));
                lines.push(std::mem::take(&mut line));
            }
            (false, other) => field.push(other),
        }
    }
    assert!(
        !quoted && field.is_empty() && line.is_empty(),
        "the last line is cut short"
    );
    lines
}

#[test]
fn csv_gives_back_every_value_with_its_series_and_position() {
    for figure in both() {
        let lines = parse_csv(&render::csv(&figure));
        assert!(lines.iter().all(|line| line.len() == 9));
        assert_eq!(lines[0][8], "value");
        let mut read = lines[1..].iter();
        for series in &figure.series {
            for (name, value) in figure.positions.names().iter().zip(&series.values) {
                let Some(value) = value else { continue };
                let line = read.next().unwrap();
                assert_eq!(line[..4], ["figure 0", "rate", "%", name.as_str()]);
                assert_eq!(line[4..6], [series.name.as_str(), series.origin.name()]);
                assert_eq!(line[6..8], ["speed", "GB/s"]);
                assert_eq!(line[8].parse::<f64>().unwrap(), *value);
            }
        }
        assert!(read.next().is_none());
    }
}

#[test]
fn svg_is_well_formed_and_names_all_series() {
    for figure in both() {
        let svg = render::svg(&figure);
        let texts = parse_xml(&svg);
        let has = |text: &str| texts.iter().any(|one| one == text);
        assert!(has("Speed &amp; size, &lt;both&gt;"));
        assert!(has("one, &quot;quoted&quot; (measured)"));
        assert!(has("two\nlines (paper)"));
        assert!(has("rate (%)") && has("speed (GB/s)"));
        let drawn = match figure.chart {
            Chart::Lines => svg.matches("<circle").count(),
            Chart::Bars | Chart::StackedBars { .. } => svg.matches("fill-opacity").count(),
        };
        assert_eq!(drawn, 5);
    }
}

#[test]
fn a_larger_value_is_drawn_higher_in_the_right_proportion() {
    let mut figure = figure(Chart::Bars, Positions::labels(["a", "b"]));
    figure.y = Axis::linear("speed", "");
    figure.series = vec![Series::new("one", SeriesOrigin::Measured, vec![1.0, 4.0])];
    let svg = render::svg(&figure);
    let bars = svg.lines().filter(|line| line.contains("fill-opacity"));
    let heights: Vec<f64> = bars
        .map(|bar| {
            let from = bar.find(" height=\"").unwrap() + 9;
            bar[from..].split('"').next().unwrap().parse().unwrap()
        })
        .collect();
    assert!((heights[1] / heights[0] - 4.0).abs() < 0.01, "{heights:?}");
}

#[test]
fn text_has_a_line_for_each_position_and_all_notes() {
    for figure in both() {
        let text = render::text(&figure);
        for name in figure.positions.names() {
            assert!(text.lines().any(|line| line.starts_with(&name)), "{name}");
        }
        assert!(text.contains("values: speed (GB/s)"));
        assert!(text.contains(
            "- deviates: one < two & \"three\": ours <0.5>; reason: a <reason> & another\n"
        ));
        assert!(text.ends_with("- measured <somewhere> & then\n"));
    }
}

#[test]
fn a_value_of_the_paper_stands_beside_ours_of_the_same_name() {
    let [_, mut figure] = both();
    figure.series = vec![
        Series::new("one", SeriesOrigin::Measured, vec![1.0, 2.0, 3.0]),
        Series::new("two", SeriesOrigin::Measured, vec![4.0, 5.0, 6.0]),
        Series::paper("one", vec![Some(7.0), None, None]),
        Series::paper("three", vec![Some(8.0), None, None]),
    ];
    let text = render::text(&figure);
    let line = text.lines().find(|line| line.starts_with("a ")).unwrap();
    let values: Vec<f64> = line
        .split_whitespace()
        .skip(1)
        .map(|value| value.parse().unwrap())
        .collect();
    assert_eq!(values, [1.0, 7.0, 4.0, 8.0]);
}

#[test]
fn long_names_and_many_series_do_not_leave_the_chart() {
    let name = |number: usize| format!("a name of the position with the number {number}");
    let names: Vec<String> = (0..30).map(name).collect();
    let mut figure = figure(Chart::Bars, Positions::Labels(names));
    figure.series = (0..40)
        .map(|number| Series::new(name(number), SeriesOrigin::Measured, vec![1.0; 30]))
        .collect();
    let svg = render::svg(&figure);
    parse_xml(&svg);
    let size = svg.split("viewBox=\"0 0 ").nth(1).unwrap();
    let mut size = size.split('"').next().unwrap().split(' ');
    let width: f64 = size.next().unwrap().parse().unwrap();
    let height: f64 = size.next().unwrap().parse().unwrap();
    let number = |line: &str, name: &str| -> f64 {
        let from = line.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        line[from..].split('"').next().unwrap().parse().unwrap()
    };
    for text in svg.lines().filter(|line| line.starts_with("<text")) {
        assert!(
            number(text, "x") < width && number(text, "y") < height,
            "{text}"
        );
    }
    assert_eq!(svg.matches("rotate(").count(), 30);
}
