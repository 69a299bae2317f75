//! Rows of a statement, taken one by one or in batches.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use quire::{CancelHandle, Rows};

use crate::errors;
use crate::to_python::tuples;
use crate::waiting::without_lock;

/// A reader that its connection can close; nothing when it has.
pub type ReaderCell = Arc<Mutex<Option<RowReader>>>;

/// Rows, some of which may have been taken.
pub struct RowReader {
    schema: SchemaRef,
    /// What is to come; nothing behind the last.
    rows: Option<Rows>,
    cancel: CancelHandle,
    /// Batches that were looked at.
    waiting: VecDeque<RecordBatch>,
    current: Option<Current>,
}

/// A batch that is handed out row by row.
struct Current {
    batch: RecordBatch,
    tuples: std::vec::IntoIter<Py<PyTuple>>,
}

impl RowReader {
    pub fn new(rows: Rows) -> Self {
        Self {
            schema: rows.schema(),
            cancel: rows.cancel_handle(),
            rows: Some(rows),
            waiting: VecDeque::new(),
            current: None,
        }
    }

    pub fn of_batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self {
            schema,
            rows: None,
            cancel: CancelHandle::default(),
            waiting: batches.into(),
            current: None,
        }
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// What is to come, for somebody who waits by other means; the batches that are here already come first.
    pub fn into_parts(mut self) -> (SchemaRef, Vec<RecordBatch>, Option<Rows>) {
        let mut batches: Vec<RecordBatch> = self.rest_of_current().into_iter().collect();
        batches.extend(self.waiting.drain(..));
        (self.schema, batches, self.rows.take())
    }

    /// The rows of the current batch that nobody has taken.
    fn rest_of_current(&mut self) -> Option<RecordBatch> {
        let Current { batch, tuples } = self.current.take()?;
        let taken = batch.num_rows() - tuples.len();
        Some(batch.slice(taken, tuples.len()))
    }

    fn produce(&mut self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        let Some(rows) = &mut self.rows else {
            return Ok(None);
        };
        let (next, raised) = without_lock(py, &self.cancel, || rows.next_batch());
        if raised.is_some() || !matches!(next, Ok(Some(_))) {
            self.rows = None;
        }
        match raised {
            Some(exception) => Err(exception),
            None => next.map_err(|error| errors::exception(py, &error)),
        }
    }

    /// The next batch that nobody has taken a row of.
    pub fn next_batch(&mut self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        if let Some(rest) = self.rest_of_current().filter(|rest| rest.num_rows() > 0) {
            return Ok(Some(rest));
        }
        match self.waiting.pop_front() {
            Some(batch) => Ok(Some(batch)),
            None => self.produce(py),
        }
    }

    /// All that is left.
    pub fn rest(&mut self, py: Python<'_>) -> PyResult<Vec<RecordBatch>> {
        let mut batches = Vec::new();
        while let Some(batch) = self.next_batch(py)? {
            batches.push(batch);
        }
        Ok(batches)
    }

    /// The first rows of what is left, at least `row_count` if there are as many; they stay.
    pub fn peek(&mut self, py: Python<'_>, row_count: usize) -> PyResult<Vec<RecordBatch>> {
        if let Some(rest) = self.rest_of_current() {
            self.waiting.push_front(rest);
        }
        let count = |batches: &VecDeque<RecordBatch>| -> usize {
            batches.iter().map(RecordBatch::num_rows).sum()
        };
        while count(&self.waiting) < row_count {
            match self.produce(py)? {
                Some(batch) => self.waiting.push_back(batch),
                None => break,
            }
        }
        Ok(self.waiting.iter().cloned().collect())
    }

    pub fn fetch_one<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        loop {
            if let Some(current) = &mut self.current
                && let Some(tuple) = current.tuples.next()
            {
                return Ok(Some(tuple.into_bound(py)));
            }
            let Some(batch) = self.next_batch(py)? else {
                return Ok(None);
            };
            let tuples: Vec<Py<PyTuple>> =
                tuples(py, &batch)?.into_iter().map(Bound::unbind).collect();
            let tuples = tuples.into_iter();
            self.current = Some(Current { batch, tuples });
        }
    }

    pub fn fetch_many<'py>(
        &mut self,
        py: Python<'py>,
        row_count: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        while list.len() < row_count
            && let Some(tuple) = self.fetch_one(py)?
        {
            list.append(tuple)?;
        }
        Ok(list)
    }

    pub fn fetch_all<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut all: Vec<Bound<'py, PyTuple>> = match self.current.take() {
            Some(current) => current.tuples.map(|tuple| tuple.into_bound(py)).collect(),
            None => Vec::new(),
        };
        while let Some(batch) = self.next_batch(py)? {
            all.extend(tuples(py, &batch)?);
        }
        PyList::new(py, all)
    }
}
