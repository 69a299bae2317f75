//! The columns of a figure as a table.

use crate::figure::stack_height;
use crate::{Figure, Series, SeriesOrigin};

/// One column: a series, or the sums of stacked ones.
pub(super) struct FigureColumn {
    pub(super) name: String,
    /// `measured`, `calculated`, `paper` or `sum`.
    pub(super) origin: &'static str,
    pub(super) values: Vec<Option<f64>>,
}

impl FigureColumn {
    fn of(series: &Series) -> Self {
        Self {
            name: series.name.clone(),
            origin: series.origin.name(),
            values: series.values.clone(),
        }
    }

    /// What each bar of a stacked chart adds up to.
    fn sums(parts: &[Series], positions: usize) -> Self {
        let bar = parts.first().and_then(|part| part.name.split_once(": "));
        Self {
            name: bar.map_or_else(|| "all".to_owned(), |(bar, _)| format!("{bar}: all")),
            origin: "sum",
            values: (0..positions)
                .map(|place| stack_height(parts, place))
                .collect(),
        }
    }
}

/// All columns: behind a series of ours that of the paper's with the same name, behind the parts of a bar their sum.
pub(super) fn columns(figure: &Figure) -> Vec<FigureColumn> {
    let mut columns = Vec::new();
    for parts in figure.stacks() {
        columns.extend(parts.iter().map(FigureColumn::of));
        columns.push(FigureColumn::sums(parts, figure.positions.count()));
    }
    if columns.is_empty() {
        let (mut papers, ours): (Vec<&Series>, Vec<&Series>) = figure
            .series
            .iter()
            .partition(|series| series.origin == SeriesOrigin::Paper);
        for series in ours {
            columns.push(FigureColumn::of(series));
            let beside = papers.iter().position(|paper| paper.name == series.name);
            columns.extend(beside.map(|at| FigureColumn::of(papers.remove(at))));
        }
        columns.extend(papers.into_iter().map(FigureColumn::of));
    }
    columns
}
