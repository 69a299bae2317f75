//! A temporary that several iterators read: the rows of a shared plan (paper 1 §4.2).
//!
//! The first reader that wants a row has all of them made, by iterators with registers of their own, and kept. So one that stops early has
//! left all rows for the others, and how far one has come is no matter of another. When making them fails, no reader has any.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quire_format::tuple::TupleLayout;

use super::rows::CopiedRows;
use super::stored_tuples::{StoredPosition, StoredTuples};
use super::temporary::Temporary;
use super::{Explanation, RegisterIterator, Workspace};
use crate::avm::{ProgramCompiler, RegisterSet, Tally, Trap, TrapReason, Tuple, TupleSource};
use crate::explained::ExplainedOperator;

/// Rows that are made before it is asked again whether the query goes on.
const ROWS_BETWEEN_QUESTIONS: usize = 1024;

/// What makes the rows: iterators, and the registers that they share.
pub(super) struct TemporaryMaker {
    pub(super) registers: RegisterSet,
    pub(super) iterator: Box<dyn RegisterIterator>,
    /// Of the columns that the iterator makes.
    pub(super) temporary: Temporary,
    pub(super) workspace: Workspace,
}

/// Rows that were made.
struct MadeTemporary {
    tuples: StoredTuples,
    /// What made them, as it is shown with and without its programs. Only a query that is counted is shown after it has run.
    shown: Option<[ExplainedOperator; 2]>,
}

enum SharedState {
    Waiting(Box<TemporaryMaker>),
    Made(Box<MadeTemporary>),
    /// Making them has failed, or goes on.
    Unmade,
}

/// The rows of one shared plan in one query.
pub(super) struct SharedTemporary {
    /// Of the plan among those that are shared.
    id: usize,
    /// How many places read the rows.
    place_count: usize,
    layout: Arc<TupleLayout>,
    state: Mutex<SharedState>,
}

impl SharedTemporary {
    pub(super) fn new(id: usize, place_count: usize, maker: TemporaryMaker) -> Self {
        Self {
            id,
            place_count,
            layout: Arc::clone(maker.temporary.layout()),
            state: Mutex::new(SharedState::Waiting(Box::new(maker))),
        }
    }

    /// A reader that lets `register` point to the rows. The first of them shows what makes the rows.
    pub(super) fn reader(
        self: &Arc<Self>,
        register: Tuple,
        is_first: bool,
        registers: &mut RegisterSet,
    ) -> SharedTemporaryReader {
        registers.set_source(register, TupleSource::Temporary(Arc::clone(&self.layout)));
        SharedTemporaryReader {
            shared: Arc::clone(self),
            rows: CopiedRows::new(register, false, registers),
            position: StoredPosition::default(),
            is_first,
        }
    }

    /// Programs that run often become machine code. Before the first row.
    pub(super) fn compile_with(&self, compiler: &Arc<dyn ProgramCompiler>) {
        if let SharedState::Waiting(maker) = &mut *self.state() {
            maker.registers.compile_with(Arc::clone(compiler));
        }
    }

    fn state(&self) -> MutexGuard<'_, SharedState> {
        // What a panic has left is [`SharedState::Unmade`].
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies the next rows to those of a reader. Before the first, makes all of them.
    fn read_block(
        &self,
        position: &mut StoredPosition,
        rows: &mut CopiedRows,
        registers: &mut RegisterSet,
    ) -> Result<(), Trap> {
        let mut state = self.state();
        if matches!(*state, SharedState::Waiting(_))
            && let SharedState::Waiting(maker) = std::mem::replace(&mut *state, SharedState::Unmade)
        {
            *state = SharedState::Made(Box::new(maker.made(registers)?));
        }
        match &*state {
            SharedState::Made(made) => made.tuples.read_block(position, rows, registers),
            SharedState::Waiting(_) | SharedState::Unmade => {
                Err(TrapReason::NoSharedRows(self.id).into())
            }
        }
    }

    fn shown(&self, with_programs: bool) -> Option<ExplainedOperator> {
        match &*self.state() {
            SharedState::Waiting(maker) => Some(Explanation::of(&*maker.iterator, with_programs)),
            SharedState::Made(made) => {
                let [with, without] = made.shown.as_ref()?;
                Some(if with_programs { with } else { without }.clone())
            }
            SharedState::Unmade => None,
        }
    }
}

impl TemporaryMaker {
    /// Makes all rows. What that has taken is work of an input of the reader.
    fn made(mut self, reader: &mut RegisterSet) -> Result<MadeTemporary, Trap> {
        let started = Instant::now();
        let mut tuples = StoredTuples::new(&self.workspace);
        let mut row_count: usize = 0;
        while self.iterator.next(&mut self.registers)? {
            if row_count.is_multiple_of(ROWS_BETWEEN_QUESTIONS) {
                self.workspace.cancellation.check()?;
            }
            row_count += 1;
            let tuple = self.temporary.encoded(&mut self.registers)?;
            tuples.push(tuple, &self.workspace)?;
        }
        tuples.finish()?;
        let tally = self.registers.tally;
        reader.tally.add(Tally {
            time: Duration::ZERO,
            ..tally
        });
        reader.of_inputs.add(Tally {
            time: started.elapsed(),
            ..tally
        });
        let shown = |with_programs| Explanation::of(&*self.iterator, with_programs);
        Ok(MadeTemporary {
            tuples,
            shown: reader.is_counted.then(|| [shown(true), shown(false)]),
        })
    }
}

/// A place that reads the rows.
pub(super) struct SharedTemporaryReader {
    shared: Arc<SharedTemporary>,
    rows: CopiedRows,
    position: StoredPosition,
    is_first: bool,
}

impl RegisterIterator for SharedTemporaryReader {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        if self.rows.next(registers) {
            return Ok(true);
        }
        registers.cancellation.check()?;
        self.shared
            .read_block(&mut self.position, &mut self.rows, registers)?;
        Ok(self.rows.next(registers))
    }

    fn restart(&mut self) -> bool {
        self.rows.forget();
        self.position = StoredPosition::default();
        true
    }

    fn explain(&self, explanation: &mut Explanation) {
        let SharedTemporary {
            id, place_count, ..
        } = *self.shared;
        let tuple = self.rows.register().0;
        if self.is_first {
            explanation.line(format_args!(
                "shared rows {id} to t{tuple}, made once for {place_count} places"
            ));
            explanation.input_as(|with_programs| self.shared.shown(with_programs));
        } else {
            explanation.line(format_args!("shared rows {id} to t{tuple}"));
        }
    }
}
