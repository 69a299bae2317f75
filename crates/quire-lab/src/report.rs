//! A report: the figures of several experiments, how they were measured, and what failed. Beside it, figures that are of no paper.

use crate::verdict::{Verdict, VerdictOutcome};
use crate::{Figure, Paper};
use std::time::Duration;

/// All that is measured, for one page.
#[derive(Clone, Debug, PartialEq)]
pub struct LabReport {
    pub title: String,
    /// How it is measured: names and values, such as `scale` and `0.1`.
    pub facts: Vec<(String, String)>,
    /// In the order in which they are measured.
    pub topics: Vec<ReportTopic>,
}

/// Figures that are measured together.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportTopic {
    /// As a person names it.
    pub name: String,
    /// What it measures, in one line.
    pub about: String,
    pub paper: Paper,
    pub state: TopicState,
}

/// What there is of a topic.
#[derive(Clone, Debug, PartialEq)]
pub enum TopicState {
    /// It has not been measured yet.
    Waiting,
    Measured {
        figures: Vec<Figure>,
        elapsed: Duration,
    },
    /// It could not be measured.
    Failed { error: String, elapsed: Duration },
}

/// Figures that are of no paper, for one page.
#[derive(Clone, Debug, PartialEq)]
pub struct FigurePage {
    pub title: String,
    /// How it is measured: names and values.
    pub facts: Vec<(String, String)>,
    /// Before the figures.
    pub tables: Vec<PageTable>,
    /// Each with a stem that no other has.
    pub figures: Vec<Figure>,
}

/// A table of texts.
#[derive(Clone, Debug, PartialEq)]
pub struct PageTable {
    pub title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Each with as many cells as there are columns; the first names the row.
    pub rows: Vec<Vec<String>>,
}

/// The figures under one number of a paper.
pub(crate) struct ReportGroup<'a> {
    /// `figure 6.4`, `section 5.2`.
    pub(crate) heading: String,
    pub(crate) figures: Vec<(&'a ReportTopic, &'a Figure)>,
}

/// A verdict, and the figure that it is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportVerdict<'a> {
    pub(crate) figure: &'a Figure,
    /// Its place among the verdicts of the figure.
    pub(crate) place: usize,
    pub(crate) verdict: &'a Verdict,
}

impl LabReport {
    /// All figures with their topics.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (&ReportTopic, &Figure)> {
        self.topics.iter().flat_map(|topic| {
            let figures = match &topic.state {
                TopicState::Measured { figures, .. } => figures.as_slice(),
                TopicState::Waiting | TopicState::Failed { .. } => &[],
            };
            figures.iter().map(move |figure| (topic, figure))
        })
    }

    /// The figures of a paper by the paper's numbers: tables, figures, equations, sections, each in ascending order.
    pub(crate) fn groups(&self, paper: Paper) -> Vec<ReportGroup<'_>> {
        let mut groups: Vec<ReportGroup<'_>> = Vec::new();
        for (topic, figure) in self.figures() {
            if figure.paper != paper {
                continue;
            }
            let heading = figure.number.replace('§', "section ");
            match groups.iter_mut().find(|group| group.heading == heading) {
                Some(group) => group.figures.push((topic, figure)),
                None => groups.push(ReportGroup {
                    heading,
                    figures: vec![(topic, figure)],
                }),
            }
        }
        groups.sort_by(|one, other| {
            NumberOrder::of(&one.heading).cmp(&NumberOrder::of(&other.heading))
        });
        groups
    }

    /// The verdicts of a paper, in the order of its figures.
    pub(crate) fn verdicts(&self, paper: Paper) -> Vec<ReportVerdict<'_>> {
        let groups = self.groups(paper).into_iter();
        let figures = groups.flat_map(|group| group.figures);
        let verdicts = figures.flat_map(|(_, figure)| {
            let verdicts = figure.verdicts.iter().enumerate();
            verdicts.map(move |(place, verdict)| ReportVerdict {
                figure,
                place,
                verdict,
            })
        });
        verdicts.collect()
    }

    /// How many verdicts of all papers there are of each kind.
    pub(crate) fn outcomes(&self) -> [(VerdictOutcome, usize); 4] {
        VerdictOutcome::ALL.map(|outcome| {
            let verdicts = self.figures().flat_map(|(_, figure)| &figure.verdicts);
            let of_kind = verdicts.filter(|verdict| verdict.outcome == outcome);
            (outcome, of_kind.count())
        })
    }
}

/// The place of a number within a paper.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NumberOrder<'a> {
    kind: u8,
    numbers: Vec<u32>,
    text: &'a str,
}

impl<'a> NumberOrder<'a> {
    fn of(text: &'a str) -> Self {
        let kinds = ["table", "figure", "equation", "section"];
        let kind = kinds.iter().position(|kind| text.starts_with(kind));
        let kind = kind.unwrap_or(kinds.len()).min(usize::from(u8::MAX)) as u8;
        let numbers = text.split(|character: char| !character.is_ascii_digit());
        Self {
            kind,
            numbers: numbers.filter_map(|digits| digits.parse().ok()).collect(),
            text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_as_numbers() {
        let mut numbers = vec![
            "section 5.2",
            "figure 6.10",
            "section 4.1.2",
            "section 6.4",
            "figure 6.9",
            "table 6.2",
            "figure 8 (b)",
            "figure 8 (a)",
            "equation 6.1",
            "section 4.1",
        ];
        numbers.sort_by_key(|&number| NumberOrder::of(number));
        let expected = [
            "table 6.2",
            "figure 6.9",
            "figure 6.10",
            "figure 8 (a)",
            "figure 8 (b)",
            "equation 6.1",
            "section 4.1",
            "section 4.1.2",
            "section 5.2",
            "section 6.4",
        ];
        assert_eq!(numbers, expected);
    }
}
