//! The parts of a shape: how each run is written as an integer, and how shapes are stored.

use super::{ALL_RUNS_MAX, RUN_BYTES_MAX, RUNS_MAX, SHAPES_MAX, VALUE_BYTES_MAX};
use crate::{Corrupt, ImageCursor};

/// What a run is, and how its integer stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShapeRun {
    /// Decimal digits of fixed number.
    Decimal { digits: usize },
    /// Decimal digits without leading zeros.
    Natural { digits_max: usize },
    /// Decimal digits; their number is a second integer.
    Counted { digits_max: usize },
    /// Symbols of an alphabet, ascending.
    Symbols { width: usize, alphabet: Vec<u8> },
}

/// A part of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShapePart {
    Text(Vec<u8>),
    Run(ShapeRun),
}

/// Bits that a symbol of an alphabet of `size` takes.
pub(super) fn symbol_bits(size: usize) -> u32 {
    usize::BITS - size.saturating_sub(1).leading_zeros()
}

/// The digits as a number; at most 16.
fn decimal(digits: &[u8]) -> u64 {
    digits
        .iter()
        .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// The bytes that occur in `runs`, ascending.
fn alphabet_of(runs: &[&[u8]]) -> Vec<u8> {
    let mut seen = [false; 256];
    runs.iter()
        .flat_map(|run| run.iter())
        .for_each(|byte| seen[usize::from(*byte)] = true);
    (0..=255).filter(|byte| seen[usize::from(*byte)]).collect()
}

/// The parts that stand for one run of all rows of a shape, each with the pieces of the run that it stands for:
/// fixed text if all are equal, two parts when the symbols would pass 64 bits.
pub(super) fn parts_of(runs: Vec<&[u8]>) -> Vec<(ShapePart, Vec<&[u8]>)> {
    let first = runs.first().copied().unwrap_or_default();
    if runs.iter().all(|run| *run == first) {
        return vec![(ShapePart::Text(first.to_vec()), Vec::new())];
    }
    let alphabet = alphabet_of(&runs);
    let width = first.len();
    if alphabet.iter().all(u8::is_ascii_digit) {
        let digits_max = runs.iter().map(|run| run.len()).max().unwrap_or(width);
        let run = if runs.iter().all(|run| run.len() == width) {
            ShapeRun::Decimal { digits: width }
        } else if runs.iter().all(|run| run.len() == 1 || run[0] != b'0') {
            ShapeRun::Natural { digits_max }
        } else {
            ShapeRun::Counted { digits_max }
        };
        return vec![(ShapePart::Run(run), runs)];
    }
    assert!(
        runs.iter().all(|run| run.len() == width),
        "words of a shape are equally long"
    );
    let widest = (u64::BITS / symbol_bits(alphabet.len())) as usize;
    if width > widest {
        let (left, right) = runs.iter().map(|run| run.split_at(widest)).unzip();
        return [parts_of(left), parts_of(right)].concat();
    }
    vec![(ShapePart::Run(ShapeRun::Symbols { width, alphabet }), runs)]
}

impl ShapeRun {
    /// The integers that stand for `runs`.
    pub(super) fn numbers(&self, runs: &[&[u8]]) -> Vec<i64> {
        match self {
            Self::Symbols { alphabet, .. } => {
                let bits = symbol_bits(alphabet.len());
                let mut places = [0u8; 256];
                for (place, symbol) in alphabet.iter().enumerate() {
                    places[usize::from(*symbol)] = place as u8;
                }
                let number = |run: &&[u8]| {
                    run.iter().fold(0u64, |number, symbol| {
                        number << bits | u64::from(places[usize::from(*symbol)])
                    }) as i64
                };
                runs.iter().map(number).collect()
            }
            _ => runs.iter().map(|run| decimal(run) as i64).collect(),
        }
    }

    /// Most bytes that the run can have.
    pub(super) fn bytes_max(&self) -> usize {
        match self {
            Self::Decimal { digits } => *digits,
            Self::Natural { digits_max } | Self::Counted { digits_max } => *digits_max,
            Self::Symbols { width, .. } => *width,
        }
    }
}

/// Appends the description of `shapes`.
pub(super) fn write(shapes: &[Vec<ShapePart>], out: &mut Vec<u8>) {
    assert!(shapes.len() <= SHAPES_MAX, "too many shapes");
    out.push(shapes.len() as u8);
    for parts in shapes {
        assert!(parts.len() <= usize::from(u8::MAX), "too many parts");
        out.push(parts.len() as u8);
        for part in parts {
            match part {
                ShapePart::Text(text) => {
                    assert!((1..=255).contains(&text.len()), "text of a part");
                    out.extend([0, text.len() as u8]);
                    out.extend_from_slice(text);
                }
                ShapePart::Run(ShapeRun::Decimal { digits }) => out.extend([1, *digits as u8]),
                ShapePart::Run(ShapeRun::Natural { digits_max }) => {
                    out.extend([2, *digits_max as u8])
                }
                ShapePart::Run(ShapeRun::Counted { digits_max }) => {
                    out.extend([3, *digits_max as u8])
                }
                ShapePart::Run(ShapeRun::Symbols { width, alphabet }) => {
                    out.extend([4, *width as u8, alphabet.len() as u8]);
                    out.extend_from_slice(alphabet);
                }
            }
        }
    }
}

/// Reads what [`write()`] wrote, and no more than that.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Vec<ShapePart>>, Corrupt> {
    let mut cursor = ImageCursor::new(bytes, 0..bytes.len())?;
    let count = usize::from(cursor.u8("number of shapes")?);
    if count > SHAPES_MAX {
        return Err(cursor.corrupt("too many shapes"));
    }
    let mut shapes = Vec::with_capacity(count);
    let mut all_runs = 0;
    for _ in 0..count {
        let part_count = cursor.u8("number of parts")?;
        let mut parts = Vec::new();
        let (mut runs, mut text_bytes) = (0, 0);
        for _ in 0..part_count {
            let part = read_part(&mut cursor)?;
            match &part {
                ShapePart::Text(text) => text_bytes += text.len(),
                ShapePart::Run(_) => runs += 1,
            }
            parts.push(part);
        }
        all_runs += runs;
        if runs > RUNS_MAX || all_runs > ALL_RUNS_MAX || text_bytes > VALUE_BYTES_MAX {
            return Err(cursor.corrupt("shape is too long"));
        }
        shapes.push(parts);
    }
    cursor.finish("shapes")?;
    Ok(shapes)
}

fn read_part(cursor: &mut ImageCursor<'_>) -> Result<ShapePart, Corrupt> {
    let run = match cursor.u8("kind of a part")? {
        0 => {
            let length = usize::from(cursor.u8("length of a text")?);
            let text = cursor.bytes(length, "text of a shape")?;
            if text.is_empty() {
                return Err(cursor.corrupt("text of a shape is empty"));
            }
            return Ok(ShapePart::Text(text.to_vec()));
        }
        1 => ShapeRun::Decimal {
            digits: read_width(cursor)?,
        },
        2 => ShapeRun::Natural {
            digits_max: read_width(cursor)?,
        },
        3 => ShapeRun::Counted {
            digits_max: read_width(cursor)?,
        },
        4 => {
            let width = read_width(cursor)?;
            let size = usize::from(cursor.u8("size of an alphabet")?);
            let alphabet = cursor.bytes(size, "alphabet")?.to_vec();
            let ascends = alphabet.is_sorted_by(|left, right| left < right);
            if !(2..=64).contains(&size) || !ascends {
                return Err(cursor.corrupt("alphabet is not of 2 to 64 ascending bytes"));
            }
            if width as u32 * symbol_bits(size) > u64::BITS {
                return Err(cursor.corrupt("symbols pass 64 bits"));
            }
            ShapeRun::Symbols { width, alphabet }
        }
        _ => return Err(cursor.corrupt("unknown kind of a part")),
    };
    Ok(ShapePart::Run(run))
}

fn read_width(cursor: &mut ImageCursor<'_>) -> Result<usize, Corrupt> {
    let width = usize::from(cursor.u8("width of a run")?);
    if (1..=RUN_BYTES_MAX).contains(&width) {
        Ok(width)
    } else {
        Err(cursor.corrupt("run is not of 1 to 16 bytes"))
    }
}
