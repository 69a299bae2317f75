//! Figures: those of one paper by their numbers, and each as a chart, a table, verdicts and notes.

use super::anchors::{failed_id, figure_id, group_id, paper_id, verdict_id};
use super::outcomes::outcome_word;
use crate::render::columns::columns;
use crate::render::markup::escaped;
use crate::render::{short, svg};
use crate::report::{LabReport, ReportTopic, TopicState};
use crate::{Figure, Paper, SeriesOrigin};
use std::fmt::Write as _;

/// Longer tables of figures that are of no paper are folded.
const OPEN_ROWS_MAX: usize = 20;

/// What failed first, and then all figures by their numbers.
pub(super) fn paper(html: &mut String, report: &LabReport, paper: Paper) {
    let _ = writeln!(
        html,
        "<section id=\"{}\"><h2>Paper {}: {}</h2>",
        paper_id(paper),
        paper.number(),
        escaped(paper.citation())
    );
    for topic in report.topics.iter().filter(|topic| topic.paper == paper) {
        not_measured(html, topic);
    }
    for group in report.groups(paper) {
        let id = group_id(paper, &group.heading);
        let heading = escaped(&group.heading);
        let _ = writeln!(html, "<section id=\"{id}\"><h3>{heading}</h3>");
        for (topic, one) in group.figures {
            figure(html, Some(topic), one);
        }
        html.push_str("</section>\n");
    }
    html.push_str("</section>\n");
}

fn not_measured(html: &mut String, topic: &ReportTopic) {
    let name = escaped(&topic.name);
    let about = escaped(&topic.about);
    match &topic.state {
        TopicState::Measured { .. } => {}
        TopicState::Waiting => {
            let _ = writeln!(
                html,
                "<p class=\"quiet\"><b>{name}</b> ({about}) is not measured yet.</p>"
            );
        }
        TopicState::Failed { error, elapsed } => {
            let _ = writeln!(
                html,
                "<p class=\"failed\" id=\"{}\"><b>{name}</b> ({about}) could not be measured; it failed after {:.1} s: {}</p>",
                failed_id(topic),
                elapsed.as_secs_f64(),
                escaped(error)
            );
        }
    }
}

/// A chart and all that is below and above it; `topic` is the one that measures it, for a figure of a paper.
pub(super) fn figure(html: &mut String, topic: Option<&ReportTopic>, figure: &Figure) {
    let title = escaped(&figure.title);
    let command = topic.map_or_else(String::new, |topic| {
        format!("quire lab {}; ", escaped(&topic.name))
    });
    let _ = writeln!(
        html,
        "<article id=\"{}\"><h4>{title}</h4>\n<p class=\"quiet\">{command}values: {}</p>",
        figure_id(figure),
        escaped(&figure.y.label())
    );
    verdicts(html, figure);
    let _ = writeln!(
        html,
        "<div class=\"scroll chart\" tabindex=\"0\" role=\"region\" aria-label=\"Chart: {title}\">\n{}</div>",
        svg(figure)
    );
    // A series of many moments is long as a table; figures of papers are shown with their numbers.
    if topic.is_none() && figure.positions.count() > OPEN_ROWS_MAX {
        html.push_str("<details><summary>Values</summary>\n");
        table(html, figure, &title);
        html.push_str("</details>\n");
    } else {
        table(html, figure, &title);
    }
    notes(html, figure);
    html.push_str("</article>\n");
}

fn verdicts(html: &mut String, figure: &Figure) {
    if figure.verdicts.is_empty() {
        return;
    }
    html.push_str("<ul>\n");
    for (place, verdict) in figure.verdicts.iter().enumerate() {
        let text = verdict.text();
        let rest = text.strip_prefix(verdict.outcome.name()).unwrap_or(&text);
        let _ = writeln!(
            html,
            "<li id=\"{}\">{}{}</li>",
            verdict_id(figure, place),
            outcome_word(verdict.outcome),
            escaped(rest)
        );
    }
    html.push_str("</ul>\n");
}

/// A line for each position, a column for each series; `title` is escaped.
fn table(html: &mut String, figure: &Figure, title: &str) {
    let columns = columns(figure);
    let _ = write!(
        html,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table: {title}\"><table>\n<tr><th>{}</th>",
        escaped(&figure.x.label())
    );
    let class = |origin: &str| {
        if origin == SeriesOrigin::Paper.name() {
            " class=\"of-paper\""
        } else {
            ""
        }
    };
    for column in &columns {
        let name = escaped(&column.name);
        let (origin, class) = (column.origin, class(column.origin));
        let _ = write!(html, "<th{class}>{name}<small>{origin}</small></th>");
    }
    html.push_str("</tr>\n");
    for (place, name) in figure.positions.names().iter().enumerate() {
        let _ = write!(html, "<tr><th>{}</th>", escaped(name));
        for column in &columns {
            let value = column.values.get(place).copied().flatten();
            let value = value.map_or_else(|| "–".to_owned(), short);
            let _ = write!(html, "<td{}>{value}</td>", class(column.origin));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table></div>\n");
}

fn notes(html: &mut String, figure: &Figure) {
    if figure.notes.is_empty() {
        return;
    }
    html.push_str("<details><summary>How it was measured, and what it shows</summary><ul>\n");
    for note in &figure.notes {
        let _ = writeln!(html, "<li>{}</li>", escaped(note));
    }
    html.push_str("</ul></details>\n");
}
