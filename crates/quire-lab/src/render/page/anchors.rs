//! What links of the page lead to.

use crate::report::ReportTopic;
use crate::{Figure, Paper};

pub(super) fn paper_id(paper: Paper) -> String {
    format!("paper-{}", paper.number())
}

/// Of a number of a paper; never that of a figure, whose file name may be the paper and its number.
pub(super) fn group_id(paper: Paper, heading: &str) -> String {
    format!("in-paper-{}-{}", paper.number(), words(heading))
}

pub(super) fn figure_id(figure: &Figure) -> String {
    words(figure.stem)
}

pub(super) fn verdict_id(figure: &Figure, place: usize) -> String {
    format!("{}-verdict-{}", figure_id(figure), place + 1)
}

pub(super) fn failed_id(topic: &ReportTopic) -> String {
    format!("failed-{}", words(&topic.name))
}

/// Letters and digits, with hyphens between them.
fn words(text: &str) -> String {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_ascii_lowercase()
}
