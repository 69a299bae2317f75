//! What builds the iterators of a query: its registers and programs, and the walk over the nodes.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::base_scan::BaseScan;
use super::demand::Demand;
use super::estimate::PlanCost;
use super::shared_plans::SharedPlans;
use super::spilling::Spilling;
use super::wanted_merge::WantedMerge;
use crate::avm::{
    ColumnBinding, CompileError, Compiler, Program, Register, RegisterPool, RegisterSet, Tuple,
};
use crate::costs::CostModel;
use crate::plan::{Environment, Expression, Plan, PlanNode};
use crate::tuple::counted::Counted;
use crate::tuple::spill::SpillCosts;
use crate::tuple::{Filter, LowerError, QueryOptions, RegisterIterator, SharedSink, Workspace};
use quire_kv::progress::StatementWork;
use quire_tables::row_table::Value;
use quire_tables::{RowStatistics, RowTable};

/// An iterator, and where the columns of its rows are.
pub(in crate::tuple) struct Built {
    pub(in crate::tuple) iterator: Box<dyn RegisterIterator>,
    pub(in crate::tuple) places: Vec<ColumnBinding>,
}

/// What all iterators of a query are built from.
#[derive(Clone, Copy)]
pub(in crate::tuple) struct BuildContext<'a> {
    pub(in crate::tuple) tables: &'a dyn Fn(&str) -> Option<Arc<RowTable>>,
    pub(in crate::tuple) options: &'a QueryOptions,
    pub(in crate::tuple) shared: &'a SharedPlans,
}

/// Builds the iterators of one query over one set of registers.
pub(in crate::tuple) struct Builder<'a> {
    pub(in crate::tuple) pool: RegisterPool,
    pub(in crate::tuple) registers: RegisterSet,
    /// All tuple registers, with how many columns their tuples have.
    pub(super) tuples: Vec<(Tuple, u16)>,
    pub(super) context: BuildContext<'a>,
    pub(super) parameters: &'a [Value],
    /// The parameters and the time.
    pub(super) environment: Environment<'a>,
    /// The share of each node that keeps rows.
    pub(super) workspace: Workspace,
    /// Of the nodes of the plan, by their addresses.
    pub(super) estimates: RefCell<HashMap<usize, Rc<PlanCost>>>,
    /// About how many bytes the tuples of a register have that are no rows of a table.
    pub(super) kept_bytes: BTreeMap<Tuple, f64>,
    /// Of tables, by their ids.
    pub(super) statistics: RefCell<HashMap<u64, Rc<RowStatistics>>>,
    pub(super) is_counted: bool,
    pub(super) costs: CostModel,
    /// What rows are written to.
    pub(super) sink: Option<SharedSink>,
    /// Threads that batches would have.
    pub(super) batch_threads: f64,
    /// What the node that is being built may spill, until it is counted.
    pub(super) spilling: RefCell<Option<Spilling>>,
    pub(super) work: Option<Arc<StatementWork>>,
    /// Rows that the scans up to now will read; nothing, if one of them may end early.
    pub(super) expected_rows: Option<u64>,
    /// Whether what is being built may be left before its last row.
    pub(super) may_end_early: bool,
    /// A join whose rows are wanted in the order of its keys.
    pub(super) wanted_merge: Option<WantedMerge>,
}

impl<'a> Builder<'a> {
    pub(in crate::tuple) fn new(
        plan: &Plan,
        context: BuildContext<'a>,
        parameters: &'a [Value],
    ) -> Self {
        let BuildContext {
            options, shared, ..
        } = context;
        let mut registers = RegisterSet::new();
        registers.cancellation = options.cancellation.clone();
        registers.is_counted = options.is_counted;
        Self {
            pool: RegisterPool::default(),
            registers,
            tuples: Vec::new(),
            context,
            parameters,
            environment: Environment::at(parameters, options.now),
            workspace: Workspace {
                memory_bytes: options.memory_bytes / shared.keeping_nodes(plan).max(1),
                disks: options.temporary_disks.clone(),
                costs: SpillCosts::of(&options.costs),
                counts: Arc::default(),
                cancellation: options.cancellation.clone(),
            },
            estimates: RefCell::default(),
            kept_bytes: BTreeMap::new(),
            statistics: RefCell::default(),
            is_counted: options.is_counted,
            costs: options.costs,
            sink: options.sink.clone(),
            batch_threads: options.batch_threads.max(1) as f64,
            spilling: RefCell::default(),
            work: options.work.clone(),
            expected_rows: Some(0),
            may_end_early: false,
            wanted_merge: None,
        }
    }

    /// The iterator of a plan, of whose columns those above ask for each so often.
    pub(in crate::tuple) fn plan(
        &mut self,
        plan: &Plan,
        demand: &Demand,
    ) -> Result<Built, LowerError> {
        let built = self.node(plan, demand)?;
        self.counted(plan, built)
    }

    /// The same, counted if somebody wants to know.
    pub(in crate::tuple) fn counted(&self, plan: &Plan, built: Built) -> Result<Built, LowerError> {
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
    pub(super) fn input(
        &mut self,
        plan: &Plan,
        demand: &Demand,
        may_end_early: bool,
    ) -> Result<Built, LowerError> {
        let before = std::mem::replace(&mut self.may_end_early, may_end_early);
        let built = self.plan(plan, demand);
        self.may_end_early = before;
        built
    }

    /// What the scans will read is expected from now on.
    pub(in crate::tuple) fn announce(&self) {
        if let Some(work) = &self.work {
            work.foresee(self.expected_rows, 0);
        }
    }

    pub(super) fn node(&mut self, plan: &Plan, demand: &Demand) -> Result<Built, LowerError> {
        if let Some(base) = BaseScan::of(plan) {
            return self.scan(&base, demand);
        }
        match &plan.node {
            PlanNode::Scan(scan) => Err(LowerError::Table(scan.table.clone())),
            PlanNode::Values(rows) => self.values(rows, plan),
            PlanNode::Filter(input, condition) => self.filter(input, condition, demand),
            PlanNode::Project(input, expressions) => self.project(input, expressions, demand),
            PlanNode::Join(join) => self.join(join, demand),
            PlanNode::Aggregate(aggregate) => self.aggregate(aggregate),
            PlanNode::Sort(sort) => self.sort(sort, demand),
            PlanNode::Limit { input, skip, fetch } => {
                self.limit(input, (skip.as_ref(), fetch.as_ref()), demand)
            }
            PlanNode::Distinct(input) => self.distinct(input),
            PlanNode::UnionAll(inputs) => self.union(inputs, plan),
            PlanNode::Shared(shared) => self.shared(plan, shared, demand),
            PlanNode::Write(write) => self.write(write, demand),
        }
    }

    /// A tuple register for tuples of so many columns.
    pub(super) fn tuple(&mut self, column_count: usize) -> Result<Tuple, LowerError> {
        let tuple = self.pool.tuple()?;
        let count = u16::try_from(column_count);
        let count = count.map_err(|_| LowerError::Unsupported("a table of so many columns"))?;
        self.tuples.push((tuple, count));
        Ok(tuple)
    }

    /// A program over rows whose columns are at `places`. Afterwards these are where the program has left them.
    pub(super) fn program<'e>(
        &mut self,
        places: &mut Vec<ColumnBinding>,
        demand: &Demand,
        expressions: impl IntoIterator<Item = &'e Expression>,
        emit: impl FnOnce(&mut Compiler<'e, '_>) -> Result<(), CompileError>,
    ) -> Result<Program, LowerError> {
        demand.mark(places);
        let mut compiler = Compiler::new(&mut self.pool, places.clone(), &self.tuples);
        compiler.announce(expressions);
        emit(&mut compiler)?;
        let (program, after) = compiler.finish()?;
        *places = after;
        Ok(program)
    }

    /// The same rows with the values of some expressions in registers.
    pub(in crate::tuple) fn computed(
        &mut self,
        built: Built,
        expressions: &[Expression],
        demand: &Demand,
    ) -> Result<(Built, Vec<Register>), LowerError> {
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
    pub(super) fn step(
        &mut self,
        iterator: Box<dyn RegisterIterator>,
        program: Program,
    ) -> Result<Box<dyn RegisterIterator>, LowerError> {
        // A program that only stops has nothing to do.
        if program.draft().instructions.len() == 1 {
            return Ok(iterator);
        }
        let filter = Filter::new(iterator, program, &mut self.registers)?;
        Ok(Box::new(filter))
    }
}
