//! Rows in order, all of them or the first few.
//!
//! D. Knuth, *The Art of Computer Programming*, volume 3, §5.4: what fits memory is sorted and written as a run, and runs are merged, as many
//! at a time as there may be streams, until one pass gives the rows.

use quire_format::key::{KeyColumn, KeyLayout};

use super::kept_shape::{KeptRowShape, tuple_type};
use super::spill::{IteratorSpillFile, STREAMS, SpillStream, StreamReader, Workspace};
use super::temporary::Temporary;
use super::{Explanation, RegisterIterator};
use crate::avm::{Register, RegisterSet, Trap, TuplePlace};

/// One of the values that rows are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TupleSortKey {
    pub register: Register,
    pub is_descending: bool,
    pub nulls_first: bool,
}

/// A row that is kept: where the bytes of its key are, whose order is that of the rows, and where it is.
#[derive(Clone, Copy, Debug)]
struct SortedRow {
    /// The first bytes of the key, as a number.
    prefix: u64,
    start: u32,
    bytes: u32,
    place: TuplePlace,
}

/// Rows that were written in order.
struct SortedRuns {
    file: IteratorSpillFile,
    runs: Vec<SpillStream>,
}

/// Where the rows that are given come from.
enum Sorted {
    /// Nothing is sorted yet.
    Not,
    /// Memory: the next of the kept rows.
    Kept(usize),
    /// Runs, each at a record; and how many rows may still come.
    Runs(IteratorSpillFile, Vec<StreamReader>, usize),
}

/// The rows of its input in order. Equal ones come in no particular order.
pub struct SortIterator<I> {
    input: I,
    keys: Vec<Register>,
    layout: KeyLayout,
    temporary: Temporary,
    /// What is kept of a row, as it is shown.
    kept: String,
    /// As many rows as are wanted; the others are forgotten now and then.
    most_rows: Option<usize>,
    workspace: Workspace,
    key_bytes: Vec<u8>,
    rows: Vec<SortedRow>,
    runs: Option<SortedRuns>,
    sorted: Sorted,
}

impl<I: RegisterIterator> SortIterator<I> {
    /// Lets the registers of `kept` point to the rows of `input` in the order of `keys`. With `most_rows` only the first so many come.
    ///
    /// # Errors
    /// Columns of which no tuple can be made.
    pub fn new(
        input: I,
        keys: &[TupleSortKey],
        kept: KeptRowShape,
        most_rows: Option<usize>,
        workspace: Workspace,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let column = |key: &TupleSortKey| KeyColumn {
            column_type: tuple_type(key.register.kind()),
            nullable: true,
            descending: key.is_descending,
            nulls_first: key.nulls_first,
        };
        let layout: Vec<KeyColumn> = keys.iter().map(column).collect();
        Ok(Self {
            input,
            keys: keys.iter().map(|key| key.register).collect(),
            layout: KeyLayout::new(&layout),
            kept: kept.to_string(),
            temporary: Temporary::of(kept, registers)?,
            most_rows,
            workspace,
            key_bytes: Vec::new(),
            rows: Vec::new(),
            runs: None,
            sorted: Sorted::Not,
        })
    }

    fn read_input(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        // So many rows more than are wanted are kept before some are forgotten: each row is compared a few times only.
        let limit = self.most_rows.map_or(usize::MAX, |most| {
            most.saturating_mul(2).saturating_add(1024)
        });
        while self.input.next(registers)? {
            self.keep(registers)?;
            let is_full = self.is_full(registers);
            if self.rows.len() >= limit || (is_full && self.has_too_many()) {
                self.forget(registers)?;
            }
            if is_full && self.is_full(registers) {
                self.write_run(registers)?;
            }
        }
        if self.runs.is_none() {
            self.sort_kept();
            let kept_bytes = self.temporary.len_bytes(registers);
            self.workspace.counts.note_kept(self.rows.len(), kept_bytes);
            self.sorted = Sorted::Kept(0);
            return Ok(());
        }
        self.write_run(registers)?;
        self.merge()
    }

    fn is_full(&self, registers: &RegisterSet) -> bool {
        let rows_bytes = self.rows.len() * size_of::<SortedRow>();
        let used_bytes = rows_bytes + self.key_bytes.len() + self.temporary.len_bytes(registers);
        self.workspace.is_full(used_bytes)
    }

    fn has_too_many(&self) -> bool {
        self.most_rows.is_some_and(|most| self.rows.len() > most)
    }

    /// Forgets the rows that are not among the first so many, and what they took.
    fn forget(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        let most = self.most_rows.unwrap_or(usize::MAX);
        let (rows, keys) = (&mut self.rows, &self.key_bytes);
        if most == 0 {
            rows.clear();
        } else if most < rows.len() {
            rows.select_nth_unstable_by(most - 1, |left, right| compare(keys, left, right));
            rows.truncate(most);
        }
        let mut kept_keys = Vec::new();
        let mut kept_tuples = Vec::new();
        for row in rows {
            let (_, tuple) = registers.tuple_bytes(row.place);
            let start = row.start as usize;
            let key = keys.get(start..start + row.bytes as usize);
            // They are no longer than they were.
            row.start = kept_keys.len() as u32;
            row.place.start = kept_tuples.len() as u32;
            kept_keys.extend_from_slice(key.unwrap_or_default());
            kept_tuples.extend_from_slice(tuple);
        }
        self.key_bytes = kept_keys;
        self.temporary.replace(kept_tuples, registers);
        Ok(())
    }

    fn keep(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        let place = |at: usize| u32::try_from(at).map_err(|_| Trap::too_large());
        let start = self.key_bytes.len();
        let values: Vec<_> = self
            .keys
            .iter()
            .map(|key| registers.tuple_value(*key))
            .collect();
        self.layout.encode(&values, &mut self.key_bytes)?;
        let key = self.key_bytes.get(start..).unwrap_or_default();
        let bytes = place(key.len())?;
        self.rows.push(SortedRow {
            prefix: prefix_of(key),
            start: place(start)?,
            bytes,
            place: self.temporary.push(registers)?,
        });
        Ok(())
    }

    fn sort_kept(&mut self) {
        let (rows, keys) = (&mut self.rows, &self.key_bytes);
        rows.sort_unstable_by(|left, right| compare(keys, left, right));
        rows.truncate(self.most_rows.unwrap_or(usize::MAX));
    }

    fn write_run(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        self.sort_kept();
        let runs = match &mut self.runs {
            Some(runs) => runs,
            None => self.runs.insert(SortedRuns {
                file: self.workspace.file()?,
                runs: Vec::new(),
            }),
        };
        let mut run = SpillStream::default();
        for row in &self.rows {
            let start = row.start as usize;
            let key = self.key_bytes.get(start..start + row.bytes as usize);
            let (_, tuple) = registers.tuple_bytes(row.place);
            run.push(&mut runs.file, key.unwrap_or_default(), tuple)?;
        }
        run.finish(&mut runs.file)?;
        runs.runs.push(run);
        self.rows = Vec::new();
        self.key_bytes = Vec::new();
        self.temporary.replace(Vec::new(), registers);
        Ok(())
    }

    /// Merges runs until they are so few that the rest can be done while rows are given.
    fn merge(&mut self) -> Result<(), Trap> {
        let Some(SortedRuns { mut file, mut runs }) = self.runs.take() else {
            return Ok(());
        };
        let most = self.most_rows.unwrap_or(usize::MAX);
        while runs.len() > STREAMS {
            // One stream is written meanwhile.
            let merged: Vec<SpillStream> = runs.drain(..STREAMS - 1).collect();
            let mut readers = readers(&merged, &file)?;
            let mut run = SpillStream::default();
            while run.record_count() < most
                && let Some(least) = least(&readers)
                && let Some(reader) = readers.get_mut(least)
            {
                run.push(&mut file, reader.key(), reader.row())?;
                if !reader.advance(&file)? {
                    readers.swap_remove(least);
                }
            }
            run.finish(&mut file)?;
            runs.push(run);
        }
        let readers = readers(&runs, &file)?;
        self.sorted = Sorted::Runs(file, readers, most);
        Ok(())
    }
}

/// Each run at its first record; those without any are left out.
fn readers(runs: &[SpillStream], file: &IteratorSpillFile) -> Result<Vec<StreamReader>, Trap> {
    let mut readers = Vec::with_capacity(runs.len());
    for run in runs {
        let mut reader = run.reader();
        if reader.advance(file)? {
            readers.push(reader);
        }
    }
    Ok(readers)
}

/// The run whose record is first.
fn least(readers: &[StreamReader]) -> Option<usize> {
    let keys = readers.iter().enumerate();
    let least = keys.min_by_key(|(_, reader)| reader.key())?;
    Some(least.0)
}

/// The first eight bytes of a key, as a number that compares as they do.
fn prefix_of(key: &[u8]) -> u64 {
    let mut first = [0; 8];
    for (to, from) in first.iter_mut().zip(key) {
        *to = *from;
    }
    u64::from_be_bytes(first)
}

fn compare(keys: &[u8], left: &SortedRow, right: &SortedRow) -> std::cmp::Ordering {
    let key = |kept: &SortedRow| {
        let start = kept.start as usize;
        keys.get(start..start + kept.bytes as usize)
            .unwrap_or_default()
    };
    left.prefix
        .cmp(&right.prefix)
        .then_with(|| key(left).cmp(key(right)))
}

impl<I: RegisterIterator> RegisterIterator for SortIterator<I> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        if matches!(self.sorted, Sorted::Not) {
            self.read_input(registers)?;
        }
        match &mut self.sorted {
            Sorted::Not => Ok(false),
            Sorted::Kept(next) => {
                let Some(row) = self.rows.get(*next) else {
                    return Ok(false);
                };
                *next += 1;
                self.temporary.point_to(row.place, registers);
                Ok(true)
            }
            Sorted::Runs(file, readers, left) => {
                let Some(found) = least(readers).filter(|_| *left > 0) else {
                    return Ok(false);
                };
                *left -= 1;
                if let Some(reader) = readers.get_mut(found) {
                    self.temporary.hold(reader.row(), registers)?;
                    if !reader.advance(file)? {
                        readers.swap_remove(found);
                    }
                }
                Ok(true)
            }
        }
    }

    fn explain(&self, explanation: &mut Explanation) {
        let (count, kept) = (self.keys.len(), &self.kept);
        match self.most_rows {
            Some(most) => explanation.line(format_args!("first {most} by {count} keys")),
            None => explanation.line(format_args!("sort by {count} keys")),
        }
        explanation.line(format_args!("keeps {kept}"));
        explanation.input(&self.input);
    }
}
