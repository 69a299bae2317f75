//! What is written of a figure can be read back.
#![allow(clippy::unwrap_used)]

use quire_lab::{Axis, Chart, Figure, Paper, Positions, Series, SeriesOrigin, render};

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

/// The text of all elements, after a check that every element is closed in order, attributes are quoted, and no
/// character is bare that must be escaped.
fn parse_xml(text: &str) -> Vec<String> {
    let (mut open, mut texts, mut rest) = (Vec::<&str>::new(), vec![], text.trim_end());
    while let Some(start) = rest.find('<') {
        let between = &rest[..start];
        assert!(!between.contains('>'), "bare >");
        for entity in between.split('&').skip(1) {
            assert!(
                ["amp;", "lt;", "gt;", "quot;"]
                    .iter()
                    .any(|one| entity.starts_with(one))
            );
        }
        texts.push(between.to_owned());
        let end = start + rest[start..].find('>').unwrap();
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else {
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            assert_eq!(
                tag.matches("=\"").count() * 2,
                tag.matches('"').count(),
                "{tag}"
            );
            assert!(!tag.contains("NaN") && !tag.contains("inf"), "{tag}");
            if !tag.ends_with('/') {
                open.push(tag.split_whitespace().next().unwrap());
            }
        }
        assert!(!open.is_empty() || rest.is_empty(), "more than one root");
    }
    assert!(open.is_empty() && rest.is_empty());
    texts
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
            Chart::Bars => svg.matches("fill-opacity").count(),
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
        assert!(text.ends_with("- measured <somewhere> & then\n"));
    }
}
