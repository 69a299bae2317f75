//! Rows of a table, in the order of their keys or of an index.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use quire_kv::btree::Direction;
use quire_kv::mvcc::BTreeScan;
use quire_kv::progress::StatementWork;
use quire_tables::row_table::{ColumnRange, KeyRange, TupleValue};
use quire_tables::{RowKeys, RowScanError, RowTable};

use super::rows::CopiedRows;
use super::{Explanation, ProgramStep, RegisterIterator};
use crate::access::fits;
use crate::avm::{Program, Register, RegisterSet, Trap, Tuple, TuplePlace, TupleSource};

/// Rows of an index that are looked up together, at first and at most: a query may need only the first.
const FIRST_ROWS: usize = 8;
const MOST_ROWS: usize = 256;

/// Which rows of a table are read, and in which order.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanPath {
    /// The position of the index that the ranges are of; none if they are of the keys of the rows.
    pub index: Option<usize>,
    /// The rows of a range come behind those of the one before.
    pub ranges: Vec<KeyRange>,
    /// The order within a range.
    pub direction: Direction,
    /// About how many rows that are, if somebody has estimated it.
    pub row_estimate: Option<u64>,
}

impl ScanPath {
    /// All rows, in the order of their keys.
    #[must_use]
    pub fn all() -> Self {
        Self {
            index: None,
            ranges: vec![KeyRange::all()],
            direction: Direction::Forward,
            row_estimate: None,
        }
    }
}

/// Where rows are that are looked up.
enum FetchedTuple {
    Nothing,
    /// There is one at most.
    Row,
    Range(KeyRange),
}

/// The rows of a table in some ranges of its keys, or of those of an index.
pub struct TableScan {
    table: Arc<RowTable>,
    index: Option<usize>,
    ranges: Vec<KeyRange>,
    /// The first that is not read yet.
    next_range: usize,
    shown_ranges: String,
    direction: Direction,
    row_estimate: Option<u64>,
    work: Option<Arc<StatementWork>>,
    scan: Option<BTreeScan>,
    /// Keys that the index has.
    keys: RowKeys,
    most_rows: usize,
    rows: CopiedRows,
    step: Option<ProgramStep>,
    /// That of the row that is looked up.
    key: Vec<u8>,
}

impl TableScan {
    /// Lets `register` point to each row that `program` does not reject. `columns` are the ordinals of those that any program
    /// reads.
    ///
    /// # Errors
    /// An index that the table does not have; constants of the program that are too long.
    pub fn new(
        table: Arc<RowTable>,
        path: ScanPath,
        (register, columns): (Tuple, &[usize]),
        program: Option<Program>,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        if let Some(index) = path.index.filter(|index| *index >= table.indexes().len()) {
            return Err(RowScanError::Index { index }.into());
        }
        registers.set_source(register, TupleSource::Rows(Arc::clone(&table)));
        let with_key = table.layout().needs_key(columns);
        let step = program.map(|program| ProgramStep::new(program, registers));
        let shown_ranges = match path.ranges.as_slice() {
            [range] if *range == KeyRange::all() => "all".to_owned(),
            [_] => "1 range".to_owned(),
            ranges => format!("{} ranges", ranges.len()),
        };
        Ok(Self {
            shown_ranges,
            table,
            index: path.index,
            ranges: path.ranges,
            next_range: 0,
            direction: path.direction,
            row_estimate: path.row_estimate,
            work: None,
            scan: None,
            keys: RowKeys::default(),
            most_rows: FIRST_ROWS,
            rows: CopiedRows::new(register, with_key, registers),
            step: step.transpose()?,
            key: Vec::new(),
        })
    }

    /// Has the rows counted that it reads.
    #[must_use]
    pub(super) fn counted_by(self, work: Option<Arc<StatementWork>>) -> Self {
        Self { work, ..self }
    }

    /// Starts anew, with the rows that have what these registers hold in the first columns of the key.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub(super) fn look_up(
        &mut self,
        values: &[Register],
        registers: &mut RegisterSet,
    ) -> Result<(), Trap> {
        registers.cancellation.check()?;
        self.look_up_nothing();
        let found = self.found_by(values, registers)?;
        let started = registers.is_counted.then(Instant::now);
        let is_done = self.fetch(found, registers);
        note_pages(started, registers);
        is_done
    }

    /// Copies what was looked up, or goes to its first row.
    fn fetch(&mut self, found: FetchedTuple, registers: &mut RegisterSet) -> Result<(), Trap> {
        match found {
            FetchedTuple::Nothing => {}
            FetchedTuple::Row => {
                let (rows, key) = (&mut self.rows, &self.key);
                let mut bytes = rows.start(registers);
                let found = self
                    .table
                    .get(key, |tuple| rows.push(&mut bytes, key, tuple));
                rows.finish(bytes, registers);
                found?;
            }
            FetchedTuple::Range(range) if range.is_empty() => {}
            FetchedTuple::Range(range) => self.scan = Some(self.scan_of(&range)?),
        }
        Ok(())
    }

    /// Starts anew, without any rows.
    pub(super) fn look_up_nothing(&mut self) {
        self.ranges = Vec::new();
        self.scan = None;
        self.most_rows = FIRST_ROWS;
        self.rows.forget();
    }

    /// Where the rows with these values are. The key is set if there is one row at most.
    fn found_by(
        &mut self,
        values: &[Register],
        registers: &RegisterSet,
    ) -> Result<FetchedTuple, Trap> {
        let layout = self.table.layout();
        let index = self.index.and_then(|index| self.table.indexes().get(index));
        let ordinals = match index {
            Some(index) => index.layout.ordinals(),
            None => layout.key_ordinals(),
        };
        let columns = &self.table.definition().columns;
        let mut given = Vec::with_capacity(values.len());
        for (register, ordinal) in values.iter().zip(ordinals) {
            let value = registers.tuple_value(*register);
            let is_null = value == TupleValue::Null;
            let may_be_null = columns.get(*ordinal).is_some_and(|column| column.nullable);
            let fits = layout
                .sql_type(*ordinal)
                .is_some_and(|sql_type| fits(&value, sql_type));
            if !fits || (is_null && !may_be_null) {
                return Ok(FetchedTuple::Nothing);
            }
            given.push(value);
        }
        let found = match index {
            None if given.len() == ordinals.len() => {
                self.key.clear();
                let encoded = layout.encode_key(&given, &mut self.key);
                encoded.map(|()| FetchedTuple::Row)
            }
            None => layout
                .key_range(&given, ColumnRange::All)
                .map(FetchedTuple::Range),
            Some(index) => index
                .layout
                .range(&given, ColumnRange::All)
                .map(FetchedTuple::Range),
        };
        // A value that is too long for a key is in no row.
        Ok(found.unwrap_or(FetchedTuple::Nothing))
    }

    /// Lets the register point to a row whose columns are all NULL.
    pub(super) fn point_to_nulls(&self, registers: &mut RegisterSet) {
        registers.set_tuple(self.rows.register(), TuplePlace::NULLS);
    }

    pub(super) fn table(&self) -> &RowTable {
        &self.table
    }

    pub(super) fn index(&self) -> Option<usize> {
        self.index
    }

    pub(super) fn row_estimate(&self) -> Option<u64> {
        self.row_estimate
    }

    pub(super) fn register(&self) -> Tuple {
        self.rows.register()
    }

    pub(super) fn step(&self) -> Option<&ProgramStep> {
        self.step.as_ref()
    }

    /// What it has read.
    pub(super) fn shown_reads(&self) -> String {
        match self.rows.copied() {
            (0, _) => String::new(),
            (rows, bytes) => format!(", has read {rows} rows of {bytes} bytes"),
        }
    }

    /// Copies the next rows, of a leaf or of some entries of an index; false behind the last.
    fn read_rows(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        registers.cancellation.check()?;
        loop {
            let Some(scan) = &mut self.scan else {
                let Some(range) = self.ranges.get(self.next_range) else {
                    return Ok(false);
                };
                if !range.is_empty() {
                    self.scan = Some(self.scan_of(range)?);
                }
                self.next_range += 1;
                continue;
            };
            let has_rows = match self.index {
                None => copy_leaf(scan, &mut self.rows, registers)?,
                Some(index) => {
                    let has_keys =
                        self.keys
                            .read(scan, index, self.table.parts(), self.most_rows)?;
                    if has_keys {
                        self.most_rows = (self.most_rows * 4).min(MOST_ROWS);
                        self.copy_rows(index, registers)?;
                    }
                    has_keys
                }
            };
            if has_rows {
                if let Some(work) = &self.work {
                    work.note_read(self.rows.len() as u64, 0);
                }
                return Ok(true);
            }
            self.scan = None;
        }
    }

    fn scan_of(&self, range: &KeyRange) -> Result<BTreeScan, Trap> {
        let tree = self.table.tree(self.index)?;
        let high = range.high.as_deref().unwrap_or_default();
        let scan = self
            .table
            .view()
            .scan(tree, &range.low, high, self.direction);
        Ok(scan.map_err(RowScanError::from)?)
    }

    /// Copies the rows whose keys the index has.
    fn copy_rows(&mut self, index: usize, registers: &mut RegisterSet) -> Result<(), Trap> {
        let (parts, rows) = (self.table.parts(), &mut self.rows);
        let mut bytes = rows.start(registers);
        let mut keys = self.keys.iter();
        let copied = keys.try_for_each(|key| {
            let found = self
                .table
                .get(key, |tuple| rows.push(&mut bytes, key, tuple))?;
            found.map(drop).ok_or_else(|| {
                let index = self.table.indexes().get(index);
                let name = index.map_or("", |index| &index.definition.key.name);
                parts.index_without_row(name)
            })
        });
        rows.finish(bytes, registers);
        Ok(copied?)
    }
}

/// Pages have been at work since then.
fn note_pages(started: Option<Instant>, registers: &mut RegisterSet) {
    if let Some(started) = started {
        registers.tally.page_time += started.elapsed();
    }
}

fn copy_leaf(
    scan: &mut BTreeScan,
    rows: &mut CopiedRows,
    registers: &mut RegisterSet,
) -> Result<bool, Trap> {
    let mut bytes = rows.start(registers);
    let has_leaf = scan.next_leaf(|key, tuple| {
        if rows.push(&mut bytes, key, tuple) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    rows.finish(bytes, registers);
    Ok(has_leaf.map_err(RowScanError::from)?)
}

impl RegisterIterator for TableScan {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        loop {
            while self.rows.next(registers) {
                match &self.step {
                    Some(step) if !step.run(registers)? => {}
                    _ => return Ok(true),
                }
            }
            let started = registers.is_counted.then(Instant::now);
            let has_rows = self.read_rows(registers);
            note_pages(started, registers);
            if !has_rows? {
                return Ok(false);
            }
        }
    }

    fn restart(&mut self) -> bool {
        self.next_range = 0;
        self.scan = None;
        self.most_rows = FIRST_ROWS;
        self.rows.forget();
        true
    }

    fn explain(&self, explanation: &mut Explanation) {
        let tuple = self.rows.register().0;
        let path = shown_path(&self.table, self.index);
        let mut line = format!("scan of {path} to t{tuple}, {}", self.shown_ranges);
        if let Some(rows) = self.row_estimate {
            line += &format!(", reads about {rows} rows");
        }
        explanation.line(line + &self.shown_reads());
        if let Some(step) = &self.step {
            explanation.program("rows", step);
        }
    }
}

/// A table, and how its rows are found.
pub(super) fn shown_path(table: &RowTable, index: Option<usize>) -> String {
    let definition = table.definition();
    let index = index.and_then(|index| table.indexes().get(index));
    let key = match index {
        Some(index) => Some(&index.definition.key),
        None => definition.primary_key.as_ref(),
    };
    match key {
        Some(key) => format!("{} by {}", definition.name, key.name),
        None => definition.name.clone(),
    }
}
