//! A page of figures that are of no paper.

use crate::markup::parse_xml;
use quire_lab::{
    Axis, Chart, Figure, FigurePage, PageTable, Paper, Positions, Series, SeriesOrigin, render,
};

fn figure(stem: &'static str) -> Figure {
    Figure {
        stem,
        title: format!("title of {stem} <&\">"),
        paper: Paper::None,
        number: "",
        chart: Chart::Lines,
        x: Axis::linear("time", "s"),
        y: Axis::logarithmic("latency", "µs"),
        positions: Positions::Numbers(vec![1.0, 2.0]),
        series: vec![Series::new(
            "one",
            SeriesOrigin::Measured,
            vec![10.0, 2_000.0],
        )],
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

fn page() -> String {
    render::figure_page(&FigurePage {
        title: "page <&\">".to_owned(),
        facts: vec![("fact <&\">".to_owned(), "value".to_owned())],
        tables: vec![PageTable {
            title: "table <&\">".to_owned(),
            columns: vec!["name".to_owned(), "count".to_owned()],
            rows: vec![vec!["row <&\">".to_owned(), "5".to_owned()]],
        }],
        figures: vec![figure("first"), figure("second")],
    })
}

#[test]
fn tables_and_figures_are_shown_as_text() {
    let page = page();
    let (first, document) = page.split_once('\n').unwrap();
    assert_eq!(first, "<!DOCTYPE html>");
    let shown = parse_xml(document).join("\n");
    for name in ["page", "fact", "table", "row", "title of first"] {
        assert!(
            shown.contains(&format!("{name} &lt;&amp;&quot;&gt;")),
            "{name}"
        );
    }
    assert_eq!(page.matches("<svg ").count(), 2);
    assert!(page.contains("<th>row &lt;&amp;&quot;&gt;</th><td>5</td>"));
}

#[test]
fn each_figure_is_linked_once_from_its_list() {
    let page = page();
    for stem in ["first", "second"] {
        assert_eq!(page.matches(&format!("href=\"#{stem}\"")).count(), 1);
        assert_eq!(page.matches(&format!("id=\"{stem}\"")).count(), 1);
    }
}

#[test]
fn a_figure_of_no_paper_names_none() {
    let text = render::text(&figure("first"));
    assert!(text.starts_with("title of first <&\">\nvalues: latency (µs)\n"));
    let svg = render::svg(&figure("first"));
    assert!(svg.contains(">title of first &lt;&amp;&quot;&gt;</text>"));
    assert!(!page().contains("aper "));
}

#[test]
fn a_long_table_is_folded() {
    let mut long = figure("long");
    long.positions = Positions::Numbers((0..50).map(f64::from).collect());
    long.series[0].values = vec![Some(5.0); 50];
    let page = render::figure_page(&FigurePage {
        title: "page".to_owned(),
        facts: Vec::new(),
        tables: Vec::new(),
        figures: vec![figure("short"), long],
    });
    assert_eq!(
        page.matches("<details><summary>Values</summary>").count(),
        1
    );
    parse_xml(page.split_once('\n').unwrap().1);
}
