//! A report as one page: well-formed, all text escaped, links that lead somewhere.

use crate::markup::parse_xml;
use quire_lab::{
    Axis, Chart, Figure, LabReport, Paper, Positions, ReportTopic, Series, SeriesOrigin,
    TopicState, Verdict, render,
};
use std::collections::BTreeMap;
use std::time::Duration;

fn figure(stem: &'static str, paper: Paper, number: &'static str) -> Figure {
    Figure {
        stem,
        title: format!("title of {stem} <&\">"),
        paper,
        number,
        chart: Chart::Bars,
        x: Axis::linear("x <&\">", "u <&\">"),
        y: Axis::linear("y <&\">", "v <&\">"),
        positions: Positions::labels(["p <&\">", "q"]),
        series: vec![
            Series::new("s <&\">", SeriesOrigin::Measured, vec![1.5, 2.5]),
            Series::new("t", SeriesOrigin::Calculated, vec![3.5, 4.5]),
            Series::paper("s <&\">", vec![Some(5.5), None]),
        ],
        verdicts: vec![
            Verdict::of_one("claim A <&\">", true, "finding A <&\">"),
            Verdict::of_one("claim B", false, "finding B")
                .deviating_by(Some("reason B <&\">".to_owned())),
            Verdict::of_one("claim C", false, "finding C"),
            Verdict::not_measured("claim D"),
        ],
        notes: vec!["note <&\">".to_owned()],
    }
}

fn topic(name: &str, paper: Paper, state: TopicState) -> ReportTopic {
    ReportTopic {
        name: name.to_owned(),
        about: format!("about {name} <&\">"),
        paper,
        state,
    }
}

fn report() -> LabReport {
    let paper = Paper::SuperScalarCompression;
    let figures = vec![
        figure("figure-6.10", paper, "figure 6.10"),
        figure("figure-6.9", paper, "figure 6.9"),
        figure("figure-6.9-again", paper, "figure 6.9"),
        figure("beside", paper, "§6.4"),
        figure("table-6.1", paper, "table 6.1"),
    ];
    let elapsed = Duration::from_millis(12_340);
    LabReport {
        title: "report <&\">".to_owned(),
        facts: vec![("fact <&\">".to_owned(), "value <&\">".to_owned())],
        topics: vec![
            topic(
                "one <&\">",
                paper,
                TopicState::Measured { figures, elapsed },
            ),
            topic(
                "two",
                Paper::CompressedDatabases,
                TopicState::Failed {
                    error: "error <&\">".to_owned(),
                    elapsed,
                },
            ),
            topic("three", Paper::DualPageFormat, TopicState::Waiting),
        ],
    }
}

/// Texts between tags, as a reader sees them.
fn shown(page: &str) -> Vec<String> {
    let (first, document) = page.split_once('\n').unwrap();
    assert_eq!(first, "<!DOCTYPE html>");
    let texts = parse_xml(document).into_iter();
    let texts = texts.map(|text| {
        let text = text.replace("&lt;", "<").replace("&gt;", ">");
        text.replace("&quot;", "\"").replace("&amp;", "&")
    });
    texts.collect()
}

/// The values of an attribute, in order.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let beginning = format!(" {name}=\"");
    let values = page.split(&beginning).skip(1);
    values.map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn all_text_is_shown_and_none_of_it_is_read_as_markup() {
    let shown = shown(&render::page(&report()));
    let has = |text: &str| {
        let found = shown.iter().any(|one| one.contains(text));
        assert!(found, "{text} in {shown:#?}");
    };
    for text in [
        "report <&\">",
        "fact <&\">",
        "value <&\">",
        "about one <&\">",
        "about two <&\">",
        "error <&\">",
        "title of figure-6.9 <&\">",
        "x <&\"> (u <&\">)",
        "y <&\"> (v <&\">)",
        "p <&\">",
        "s <&\">",
        "claim A <&\">",
        "finding A <&\">",
        "reason B <&\">",
        "note <&\">",
    ] {
        has(text);
    }
    // Attributes, too: those of the scrolling tables.
    let page = render::page(&report());
    assert!(page.contains("aria-label=\"Table: title of beside &lt;&amp;&quot;&gt;\""));
}

#[test]
fn every_link_leads_to_one_place() {
    let page = render::page(&report());
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for id in attributes(&page, "id") {
        *places.entry(id).or_default() += 1;
    }
    assert!(places.values().all(|count| *count == 1), "{places:?}");
    let links = attributes(&page, "href");
    for link in &links {
        let id = link.strip_prefix('#').unwrap();
        assert!(places.contains_key(id), "{link}");
    }
    // Each verdict is linked from the table of all, each figure from the contents.
    for id in places.keys() {
        let is_verdict = id.contains("-verdict-");
        let is_figure = [
            "figure-6-9",
            "figure-6-10",
            "figure-6-9-again",
            "beside",
            "table-6-1",
        ];
        if is_verdict || is_figure.contains(id) {
            assert!(links.contains(&format!("#{id}").as_str()), "{id}");
        }
    }
    let verdicts = places.keys().filter(|id| id.contains("-verdict-"));
    assert_eq!(verdicts.count(), 20);
}

#[test]
fn figures_are_in_the_order_of_the_papers_numbers() {
    let page = render::page(&report());
    let places: Vec<usize> = [
        "<h3>table 6.1</h3>",
        "<h3>figure 6.9</h3>",
        "<article id=\"figure-6-9\">",
        "<article id=\"figure-6-9-again\">",
        "<h3>figure 6.10</h3>",
        "<h3>section 6.4</h3>",
    ]
    .iter()
    .map(|text| page.find(text).unwrap_or_else(|| panic!("{text}")))
    .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn verdicts_are_counted_and_named() {
    let page = render::page(&report());
    // Four of five figures each.
    for (class, word) in [
        ("good", "holds"),
        ("odd", "deviates"),
        ("bad", "does not hold"),
        ("none", "not measured"),
    ] {
        let counted = format!("<b>5</b> <span class=\"outcome {class}\">{word}</span>");
        assert!(page.contains(&counted), "{word}");
    }
    let row = "<td>claim B</td><td><span class=\"outcome odd\">deviates</span></td><td>finding B; reason: reason B";
    assert_eq!(page.matches(row).count(), 5);
}

#[test]
fn what_failed_and_what_is_not_measured_yet_is_said() {
    let page = render::page(&report());
    assert!(page.contains("<a class=\"bad\" href=\"#failed-two\">failed</a>"));
    assert!(page.contains("could not be measured; it failed after 12.3 s: error &lt;"));
    assert!(page.contains("<b>three</b> (about three &lt;&amp;&quot;&gt;) is not measured yet."));
    assert!(page.contains("5 figures in 12.3 s"));
}

#[test]
fn each_figure_has_a_chart_and_a_table_with_the_papers_values_beside_ours() {
    let page = render::page(&report());
    assert_eq!(page.matches("<svg ").count(), 5);
    let rows = [
        "<td>1.50</td><td class=\"of-paper\">5.50</td><td>3.50</td>",
        "<td>2.50</td><td class=\"of-paper\">–</td><td>4.50</td>",
    ];
    for row in rows {
        assert_eq!(page.matches(row).count(), 5, "{row}");
    }
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let page = render::page(&report());
    for word in ["<script", "<link", "<img", "src=", "url(", "@import"] {
        assert!(!page.contains(word), "{word}");
    }
    let outside = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    assert!(!outside.contains("http"));
}
