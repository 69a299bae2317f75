//! Plans become iterators and their programs.
//!
//! Every node says where its columns are: in registers, or attributes of tuples that registers point to. What nobody asks for is never decoded.
//! How often the nodes above ask for a column goes down with the walk: a column that is asked for once may stay an operand where it is.

mod aggregate;
mod cost;
mod demand;
mod estimate;
mod join;
mod lookup;
mod merge;
mod order;
mod relation;
mod spilling;
mod write;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::counted::Counted;
use super::spill::SpillCosts;
use super::{Filter, QueryOptions, RegisterIterator, SharedSink, Workspace};
use crate::avm::{
    ColumnPlace, CompileError, Compiler, Program, Register, RegisterPool, RegisterSet, Trap, Tuple,
};
use crate::costs::Costs;
use crate::plan::{Environment, Expression, Node, Plan};
use quire_kv::progress::Work;
use quire_tables::row_table::Value;
use quire_tables::{RowStatistics, RowTable};

pub(super) use demand::Demand;
use estimate::Estimate;
use relation::BaseScan;
pub(super) use relation::all_columns;
pub(super) use spilling::Spilling;

/// Why a plan has no iterators.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An expression has no program.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// What was evaluated beforehand has no value.
    #[error(transparent)]
    Trap(#[from] Trap),
    /// A table that is no row table, or none at all.
    #[error("{0:?} is no row table; another engine must read it")]
    Table(String),
    /// What these iterators do not do.
    #[error("no iterator does this: {0}; another engine must")]
    Unsupported(&'static str),
    /// A LIMIT or OFFSET below zero.
    #[error("LIMIT and OFFSET must not be negative")]
    Count,
}

/// An iterator, and where the columns of its rows are.
pub(super) struct Built {
    pub(super) iterator: Box<dyn RegisterIterator>,
    pub(super) places: Vec<ColumnPlace>,
}

/// How many nodes of a plan may keep rows.
fn keeping_nodes(plan: &Plan) -> usize {
    let inputs = plan.node.inputs().into_iter();
    let keeps = matches!(
        plan.node,
        Node::Sort(_) | Node::Aggregate(_) | Node::Distinct(_) | Node::Join(_)
    );
    usize::from(keeps) + inputs.map(keeping_nodes).sum::<usize>()
}

/// Builds the iterators of one query over one set of registers.
pub(super) struct Builder<'a> {
    pub(super) pool: RegisterPool,
    pub(super) registers: RegisterSet,
    /// All tuple registers, with how many columns their tuples have.
    tuples: Vec<(Tuple, u16)>,
    tables: &'a dyn Fn(&str) -> Option<Arc<RowTable>>,
    /// The parameters and the time.
    environment: Environment<'a>,
    /// The share of each node that keeps rows.
    workspace: Workspace,
    /// Of the nodes of the plan, by their addresses.
    estimates: RefCell<HashMap<usize, Rc<Estimate>>>,
    /// Of tables, by their ids.
    statistics: RefCell<HashMap<u64, Rc<RowStatistics>>>,
    is_counted: bool,
    costs: Costs,
    /// What rows are written to.
    sink: Option<SharedSink>,
    /// Threads that batches would have.
    batch_threads: f64,
    /// What the node that is being built may spill, until it is counted.
    spilling: RefCell<Option<Spilling>>,
    work: Option<Arc<Work>>,
    /// Rows that the scans up to now will read; nothing, if one of them may end early.
    expected_rows: Option<u64>,
    /// Whether what is being built may be left before its last row.
    may_end_early: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        plan: &Plan,
        tables: &'a dyn Fn(&str) -> Option<Arc<RowTable>>,
        parameters: &'a [Value],
        options: &'a QueryOptions,
    ) -> Self {
        let mut registers = RegisterSet::new();
        registers.cancellation = options.cancellation.clone();
        Self {
            pool: RegisterPool::default(),
            registers,
            tuples: Vec::new(),
            tables,
            environment: Environment::at(parameters, options.now),
            workspace: Workspace {
                memory_bytes: options.memory_bytes / keeping_nodes(plan).max(1),
                directory: options.directory.clone(),
                is_compressed: false,
                costs: SpillCosts::of(&options.costs),
                counts: Arc::default(),
                cancellation: options.cancellation.clone(),
            },
            estimates: RefCell::default(),
            statistics: RefCell::default(),
            is_counted: options.is_counted,
            costs: options.costs,
            sink: options.sink.clone(),
            batch_threads: options.batch_threads.max(1) as f64,
            spilling: RefCell::default(),
            work: options.work.clone(),
            expected_rows: Some(0),
            may_end_early: false,
        }
    }

    /// The iterator of a plan, of whose columns those above ask for each so often.
    pub(super) fn plan(&mut self, plan: &Plan, demand: &Demand) -> Result<Built, BuildError> {
        let built = self.node(plan, demand)?;
        self.counted(plan, built)
    }

    /// The same, counted if somebody wants to know.
    pub(super) fn counted(&self, plan: &Plan, built: Built) -> Result<Built, BuildError> {
        if !self.is_counted {
            return Ok(built);
        }
        let estimate = self.estimate(plan)?;
        let spilling = self.spilling.take();
        let iterator = Counted::new(built.iterator, (estimate.rows, estimate.cost_ns), spilling);
        let iterator = Box::new(iterator);
        Ok(Built { iterator, ..built })
    }

    /// Builds what another iterator reads to its end, or perhaps not.
    fn input(
        &mut self,
        plan: &Plan,
        demand: &Demand,
        may_end_early: bool,
    ) -> Result<Built, BuildError> {
        let before = std::mem::replace(&mut self.may_end_early, may_end_early);
        let built = self.plan(plan, demand);
        self.may_end_early = before;
        built
    }

    /// What the scans will read is expected from now on.
    pub(super) fn announce(&self) {
        if let Some(work) = &self.work {
            work.foresee(self.expected_rows, 0);
        }
    }

    fn node(&mut self, plan: &Plan, demand: &Demand) -> Result<Built, BuildError> {
        if let Some(base) = BaseScan::of(plan) {
            return self.scan(&base, demand);
        }
        match &plan.node {
            Node::Scan(scan) => Err(BuildError::Table(scan.table.clone())),
            Node::Values(rows) => self.values(rows, plan),
            Node::Filter(input, condition) => self.filter(input, condition, demand),
            Node::Project(input, expressions) => self.project(input, expressions, demand),
            Node::Join(join) => self.join(join, demand),
            Node::Aggregate(aggregate) => self.aggregate(aggregate),
            Node::Sort(sort) => self.sort(sort, demand),
            Node::Limit { input, skip, fetch } => {
                self.limit(input, (skip.as_ref(), fetch.as_ref()), demand)
            }
            Node::Distinct(input) => self.distinct(input),
            Node::UnionAll(inputs) => self.union(inputs, plan),
            Node::Write(write) => self.write(write, demand),
        }
    }

    /// A tuple register for tuples of so many columns.
    fn tuple(&mut self, column_count: usize) -> Result<Tuple, BuildError> {
        let tuple = self.pool.tuple()?;
        let count = u16::try_from(column_count);
        let count = count.map_err(|_| BuildError::Unsupported("a table of so many columns"))?;
        self.tuples.push((tuple, count));
        Ok(tuple)
    }

    /// A program over rows whose columns are at `places`. Afterwards these are where the program has left them.
    fn program<'e>(
        &mut self,
        places: &mut Vec<ColumnPlace>,
        demand: &Demand,
        expressions: impl IntoIterator<Item = &'e Expression>,
        emit: impl FnOnce(&mut Compiler<'e, '_>) -> Result<(), CompileError>,
    ) -> Result<Program, BuildError> {
        demand.mark(places);
        let mut compiler = Compiler::new(&mut self.pool, places.clone(), &self.tuples);
        compiler.announce(expressions);
        emit(&mut compiler)?;
        let (program, after) = compiler.finish()?;
        *places = after;
        Ok(program)
    }

    /// The same rows with the values of some expressions in registers.
    pub(super) fn computed(
        &mut self,
        built: Built,
        expressions: &[Expression],
        demand: &Demand,
    ) -> Result<(Built, Vec<Register>), BuildError> {
        let Built {
            iterator,
            mut places,
        } = built;
        let mut computed = Vec::with_capacity(expressions.len());
        let program = self.program(&mut places, demand, expressions, |compiler| {
            for expression in expressions {
                computed.push(compiler.output(expression)?);
            }
            Ok(())
        })?;
        let iterator = self.step(iterator, program)?;
        Ok((Built { iterator, places }, computed))
    }

    /// The same rows, with a program run on each.
    fn step(
        &mut self,
        iterator: Box<dyn RegisterIterator>,
        program: Program,
    ) -> Result<Box<dyn RegisterIterator>, BuildError> {
        // A program that only stops has nothing to do.
        if program.draft().instructions.len() == 1 {
            return Ok(iterator);
        }
        let filter = Filter::new(iterator, program, &mut self.registers)?;
        Ok(Box::new(filter))
    }
}
