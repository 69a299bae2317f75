//! A figure: positions along one axis, and series of values over them.

use crate::verdict::Verdict;
use std::slice::Chunks;

/// The paper a figure is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// T. Westmann, D. Kossmann, S. Helmer, G. Moerkotte, *The Implementation and Performance of Compressed Databases*.
    CompressedDatabases,
    /// M. Zukowski, *Balancing Vectorized Query Execution with Bandwidth-Optimized Storage*, chapter 6.
    SuperScalarCompression,
    /// Y. Qiao et al., *Improving Relational Database Upon the Arrival of Storage Hardware with Built-in
    /// Transparent Compression*.
    DualPageFormat,
    /// J. Ma et al., *Leveraging Page-Level Compression in MySQL – a Practice at Baidu*.
    PageCompression,
    /// Suharjito and A. B. Kurnadi, *OLTP performance improvement using file-systems layer compression*.
    FileSystemCompression,
    /// No paper: what a [`FigurePage`](crate::FigurePage) shows.
    None,
}

impl Paper {
    /// The papers, in the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::CompressedDatabases,
        Self::SuperScalarCompression,
        Self::DualPageFormat,
        Self::PageCompression,
        Self::FileSystemCompression,
    ];

    /// 1 to 5, as the documents of the project count them; 0 for none.
    pub fn number(self) -> usize {
        match self {
            Self::None => 0,
            Self::CompressedDatabases => 1,
            Self::SuperScalarCompression => 2,
            Self::DualPageFormat => 3,
            Self::PageCompression => 4,
            Self::FileSystemCompression => 5,
        }
    }

    /// Author and short title; empty for none.
    pub fn citation(self) -> &'static str {
        match self {
            Self::None => "",
            Self::CompressedDatabases => {
                "T. Westmann et al., The Implementation and Performance of Compressed Databases"
            }
            Self::SuperScalarCompression => {
                "M. Zukowski, Balancing Vectorized Query Execution with Bandwidth-Optimized Storage"
            }
            Self::DualPageFormat => {
                "Y. Qiao et al., Improving Relational Database Upon the Arrival of Storage Hardware \
                 with Built-in Transparent Compression"
            }
            Self::PageCompression => {
                "J. Ma et al., Leveraging Page-Level Compression in MySQL – a Practice at Baidu"
            }
            Self::FileSystemCompression => {
                "Suharjito and A. B. Kurnadi, OLTP performance improvement using file-systems layer compression"
            }
        }
    }
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chart {
    Lines,
    /// A bar for each series at every position.
    Bars,
    /// Bars of parts that lie on each other. Each `parts` series after another are one bar at every position, the first of them at the
    /// bottom. Their names are `BAR: PART`; the same part of each bar has the same colour.
    StackedBars {
        parts: usize,
    },
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisScale {
    /// From 0.
    Linear,
    /// By powers of ten; values are positive.
    Logarithmic,
}

/// What is counted along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    pub name: &'static str,
    /// Empty for a plain number or a name.
    pub unit: &'static str,
    pub scale: AxisScale,
}

impl Axis {
    /// A linear axis.
    pub const fn linear(name: &'static str, unit: &'static str) -> Self {
        Self {
            name,
            unit,
            scale: AxisScale::Linear,
        }
    }

    /// A logarithmic axis.
    pub const fn logarithmic(name: &'static str, unit: &'static str) -> Self {
        Self {
            name,
            unit,
            scale: AxisScale::Logarithmic,
        }
    }

    /// `name (unit)`.
    pub fn label(&self) -> String {
        match self.unit {
            "" => self.name.to_owned(),
            unit => format!("{} ({unit})", self.name),
        }
    }
}

/// Where the values of all series lie along the horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Positions {
    Numbers(Vec<f64>),
    Labels(Vec<String>),
}

impl Positions {
    /// Positions by names.
    pub fn labels<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Labels(names.into_iter().map(str::to_owned).collect())
    }

    /// Number of positions.
    pub fn count(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Labels(labels) => labels.len(),
        }
    }

    /// Each position as text.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Numbers(numbers) => numbers.iter().map(f64::to_string).collect(),
            Self::Labels(labels) => labels.clone(),
        }
    }
}

/// Where the values of a series come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesOrigin {
    /// This machine, just now.
    Measured,
    /// A formula.
    Calculated,
    /// The text of the paper.
    Paper,
}

impl SeriesOrigin {
    /// As written beside a series.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Calculated => "calculated",
            Self::Paper => "paper",
        }
    }
}

/// Values of one kind, one for each position; `None` where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    pub origin: SeriesOrigin,
    pub values: Vec<Option<f64>>,
}

impl Series {
    /// A series with a value at every position.
    pub fn new(name: impl Into<String>, origin: SeriesOrigin, values: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            origin,
            values: values.into_iter().map(Some).collect(),
        }
    }

    /// Values that the paper prints, for some of the positions.
    pub fn paper(name: impl Into<String>, values: Vec<Option<f64>>) -> Self {
        Self {
            name: name.into(),
            origin: SeriesOrigin::Paper,
            values,
        }
    }
}

/// A figure or a column of a table of a paper, measured again, or a figure of no paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What a file of the figure is called, without its extension.
    pub stem: &'static str,
    pub title: String,
    pub paper: Paper,
    /// `figure 6.4`, `table 6.2`; empty for a figure of no paper.
    pub number: &'static str,
    pub chart: Chart,
    pub x: Axis,
    pub y: Axis,
    pub positions: Positions,
    /// Each with as many values as there are positions.
    pub series: Vec<Series>,
    /// What the paper claims of it, and whether that holds.
    pub verdicts: Vec<Verdict>,
    /// How it was measured, on which machine, and what it shows.
    pub notes: Vec<String>,
}

impl Figure {
    /// The series of that name.
    pub fn series(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name)
    }

    /// The series of each bar, from below to above; none of a chart without stacks.
    pub(crate) fn stacks(&self) -> Chunks<'_, Series> {
        match self.chart {
            Chart::StackedBars { parts } => self.series.chunks(parts.max(1)),
            Chart::Lines | Chart::Bars => [].chunks(1),
        }
    }

    /// The title, with the number if there is one.
    pub(crate) fn numbered_title(&self) -> String {
        match self.number {
            "" => self.title.clone(),
            number => format!("{} ({number})", self.title),
        }
    }

    /// Verdicts and notes, a line each.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = String> {
        let verdicts = self.verdicts.iter().map(Verdict::text);
        verdicts.chain(self.notes.iter().cloned())
    }

    /// The same figure in another unit: each measured value is replaced by `convert` of it.
    pub(crate) fn converted(
        &self,
        stem: &'static str,
        y: Axis,
        convert: impl Fn(f64) -> f64,
    ) -> Self {
        let mut figure = self.clone();
        figure.stem = stem;
        figure.y = y;
        figure
            .series
            .retain(|series| series.origin == SeriesOrigin::Measured);
        for value in figure.series.iter_mut().flat_map(|one| &mut one.values) {
            *value = value.map(&convert);
        }
        figure
    }
}

/// What the parts of a bar add up to at a position; none where no part has a value.
pub(crate) fn stack_height(parts: &[Series], place: usize) -> Option<f64> {
    let values = parts.iter().filter_map(|part| *part.values.get(place)?);
    values.reduce(|sum, value| sum + value)
}
