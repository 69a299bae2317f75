//! Bars of parts that lie on each other.

use crate::markup::parse_xml;
use quire_lab::{Axis, Chart, Figure, Paper, Positions, Series, SeriesOrigin, render};

/// Two bars of three parts at two positions. One part is missing.
fn figure() -> Figure {
    let series = |name: &str, values: [Option<f64>; 2]| Series {
        name: name.to_owned(),
        origin: SeriesOrigin::Measured,
        values: values.to_vec(),
    };
    Figure {
        stem: "stacked",
        title: "Where the time goes".to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "figure 6.9",
        chart: Chart::StackedBars { parts: 3 },
        x: Axis::linear("query", ""),
        y: Axis::logarithmic("time", "s"),
        positions: Positions::labels(["Q1", "Q6"]),
        series: vec![
            series("plain: processing", [Some(1.0), Some(0.5)]),
            series("plain: decompression", [Some(2.0), None]),
            series("plain: I/O wait", [Some(3.0), Some(0.25)]),
            series("packed: processing", [Some(1.0), Some(0.5)]),
            series("packed: decompression", [Some(1.0), Some(0.0)]),
            series("packed: I/O wait", [Some(0.5), Some(0.25)]),
        ],
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

/// x, y, height and class of each bar, without those of the legend.
fn drawn_bars(svg: &str) -> Vec<(f64, f64, f64, String)> {
    let bars = svg.lines().filter(|line| line.contains("fill-opacity"));
    let attribute = |bar: &str, name: &str| -> String {
        let from = bar.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        bar[from..].split('"').next().unwrap().to_owned()
    };
    let bars = bars.map(|bar| {
        let number = |name: &str| attribute(bar, name).parse::<f64>().unwrap();
        (
            number("x"),
            number("y"),
            number("height"),
            attribute(bar, "class"),
        )
    });
    bars.filter(|(x, ..)| *x < 660.0).collect()
}

#[test]
fn parts_lie_on_each_other_and_their_heights_are_in_proportion() {
    let svg = render::svg(&figure());
    parse_xml(&svg);
    let bars = drawn_bars(&svg);
    // Three and three parts of Q1, two and two of Q6: one is missing, one is 0.
    assert_eq!(bars.len(), 10);
    let [processing, decompression, wait, ..] = bars.as_slice() else {
        panic!("{bars:?}");
    };
    let unit = processing.2;
    assert!((decompression.2 / unit - 2.0).abs() < 0.01, "{bars:?}");
    assert!((wait.2 / unit - 3.0).abs() < 0.01, "{bars:?}");
    for (upper, lower) in [(decompression, processing), (wait, decompression)] {
        assert_eq!(upper.0, lower.0);
        assert!((upper.1 + upper.2 - lower.1).abs() < 0.11, "{bars:?}");
    }
    // The same part has the same colour in the other bar, which stands beside the first.
    assert_eq!(bars[3].3, processing.3);
    assert_ne!(decompression.3, processing.3);
    assert!(bars[3].0 > processing.0);
    assert!((bars[3].1 + bars[3].2 - (processing.1 + processing.2)).abs() < 0.11);
}

#[test]
fn the_highest_bar_is_within_the_axis() {
    let svg = render::svg(&figure());
    let top = drawn_bars(&svg).into_iter().map(|bar| bar.1);
    let top = top.fold(f64::INFINITY, f64::min);
    // 6 s are the whole bar; the axis ends with the next round number, at 60.
    assert!((60.0..=200.0).contains(&top), "{top}");
}

#[test]
fn text_has_the_sum_of_each_bar_behind_its_parts() {
    let text = render::text(&figure());
    let line = |name: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    };
    let number = |words: &[String], at: usize| words[at].parse::<f64>().unwrap();
    let all = line("Q1");
    assert_eq!(all.len(), 9);
    assert_eq!((number(&all, 4), number(&all, 8)), (6.0, 2.5));
    let all = line("Q6");
    assert_eq!(all[2], "-");
    assert_eq!((number(&all, 4), number(&all, 8)), (0.75, 0.75));
    assert!(text.contains("plain: all") && text.contains("packed: all"));
}

#[test]
fn csv_has_the_parts_and_no_sums() {
    let csv = render::csv(&figure());
    // A line of names, and eleven values.
    assert_eq!(csv.lines().count(), 12);
    assert!(csv.contains("figure 6.9,query,,Q6,packed: I/O wait,measured,time,s,0.25\r\n"));
    assert!(!csv.contains(": all"));
}
