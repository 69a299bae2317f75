//! What stands before the figures: contents, all verdicts, how it was measured.

use super::anchors::{failed_id, figure_id, group_id, paper_id, verdict_id};
use super::outcomes::outcome_word;
use crate::render::markup::escaped;
use crate::report::{LabReport, TopicState};
use crate::{Paper, Verdict};
use std::fmt::Write as _;

/// Links to all parts of the page.
pub(super) fn contents(html: &mut String, report: &LabReport) {
    html.push_str(
        "<nav id=\"contents\"><h2>Contents</h2><ul>\n<li><a href=\"#verdicts\">What the papers claim, and whether it holds</a></li>\n\
         <li><a href=\"#measured\">How it was measured</a></li>\n",
    );
    for paper in shown_papers(report) {
        let _ = writeln!(
            html,
            "<li><a href=\"#{}\">Paper {}: {}</a><ul>",
            paper_id(paper),
            paper.number(),
            escaped(paper.citation())
        );
        for group in report.groups(paper) {
            let _ = write!(
                html,
                "<li><a href=\"#{}\">{}</a>: ",
                group_id(paper, &group.heading),
                escaped(&group.heading)
            );
            let links: Vec<String> = group
                .figures
                .iter()
                .map(|(_, figure)| {
                    // Figures of a number may differ in their unit alone.
                    let title = escaped(&format!("{}, {}", figure.title, figure.y.label()));
                    format!("<a href=\"#{}\">{title}</a>", figure_id(figure))
                })
                .collect();
            let _ = writeln!(html, "{}</li>", links.join("; "));
        }
        html.push_str("</ul></li>\n");
    }
    html.push_str("</ul></nav>\n");
}

/// Papers of which something is measured, was not measured, or is going to be.
pub(super) fn shown_papers(report: &LabReport) -> impl Iterator<Item = Paper> {
    let is_shown = |paper: &Paper| {
        let mut topics = report.topics.iter();
        topics.any(|topic| topic.paper == *paper)
    };
    Paper::ALL.into_iter().filter(is_shown)
}

/// All verdicts in one table, with links to the figures.
pub(super) fn verdicts(html: &mut String, report: &LabReport) {
    html.push_str(
        "<section id=\"verdicts\"><h2>What the papers claim, and whether it holds</h2>\n<p>",
    );
    let counts = report.outcomes();
    let counts: Vec<String> = counts
        .iter()
        .map(|(outcome, count)| format!("<b>{count}</b> {}", outcome_word(*outcome)))
        .collect();
    let _ = writeln!(
        html,
        "{}. A claim deviates if it does not hold for a reason that is known.</p>",
        counts.join(", ")
    );
    html.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Verdicts\"><table class=\"words\">\n\
         <tr><th>where</th><th>claim</th><th>verdict</th><th>measured</th></tr>\n",
    );
    for paper in shown_papers(report) {
        for one in report.verdicts(paper) {
            let _ = writeln!(
                html,
                "<tr><td><a href=\"#{}\">paper {}, {}</a></td><td>{}</td><td>{}</td><td>{}</td></tr>",
                verdict_id(one.figure, one.place),
                paper.number(),
                escaped(one.figure.number),
                escaped(&one.verdict.claim),
                outcome_word(one.verdict.outcome),
                escaped(&finding(one.verdict))
            );
        }
    }
    html.push_str("</table></div></section>\n");
}

/// What was measured, and why it deviates.
fn finding(verdict: &Verdict) -> String {
    match &verdict.reason {
        Some(reason) => format!("{}; reason: {reason}", verdict.finding),
        None => verdict.finding.clone(),
    }
}

/// Machine, version and options; what became of each topic.
pub(super) fn measured(html: &mut String, report: &LabReport) {
    html.push_str("<section id=\"measured\"><h2>How it was measured</h2>\n");
    facts(html, &report.facts);
    html.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Topics\"><table class=\"words\">\n\
         <tr><th>topic</th><th>what</th><th>paper</th><th>state</th></tr>\n",
    );
    for topic in &report.topics {
        let state = match &topic.state {
            TopicState::Waiting => "not measured yet".to_owned(),
            TopicState::Measured { figures, elapsed } => {
                let seconds = elapsed.as_secs_f64();
                format!("{} figures in {seconds:.1} s", figures.len())
            }
            TopicState::Failed { .. } => {
                let id = failed_id(topic);
                format!("<a class=\"bad\" href=\"#{id}\">failed</a>")
            }
        };
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{state}</td></tr>",
            escaped(&topic.name),
            escaped(&topic.about),
            topic.paper.number()
        );
    }
    html.push_str("</table></div></section>\n");
}

/// Names and values.
pub(super) fn facts(html: &mut String, facts: &[(String, String)]) {
    html.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Conditions\"><table class=\"words\">\n",
    );
    for (name, value) in facts {
        let (name, value) = (escaped(name), escaped(value));
        let _ = writeln!(html, "<tr><th>{name}</th><td>{value}</td></tr>");
    }
    html.push_str("</table></div>\n");
}
