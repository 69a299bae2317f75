//! A plan that has registers of its own: a query, one of its values, or rows that several places of it share.

use super::builder::{BuildContext, Builder};
use super::demand::Demand;
use super::relation::all_columns;
use crate::avm::{Register, RegisterPool, RegisterSet};
use crate::plan::Plan;
use crate::tuple::{LowerError, RegisterIterator};
use quire_tables::row_table::Value;

/// The iterator of a plan, its registers, and those of them that its columns are in.
pub(in crate::tuple) struct WholePlan {
    /// The registers that nobody uses yet.
    pub(super) pool: RegisterPool,
    pub(in crate::tuple) registers: RegisterSet,
    pub(in crate::tuple) iterator: Box<dyn RegisterIterator>,
    pub(in crate::tuple) columns: Vec<Register>,
}

impl Builder<'_> {
    /// Builds all of a plan, with these values of its parameters.
    pub(in crate::tuple) fn whole(
        plan: &Plan,
        context: BuildContext<'_>,
        parameters: &[Value],
    ) -> Result<WholePlan, LowerError> {
        let mut builder = Builder::new(plan, context, parameters);
        let columns = all_columns(plan)?;
        let built = builder.plan(plan, &Demand::all(columns.len()))?;
        let (built, columns) = builder.computed(built, &columns, &Demand::none(columns.len()))?;
        let built = builder.counted(plan, built)?;
        builder.announce();
        let Builder {
            pool,
            mut registers,
            ..
        } = builder;
        pool.load(&mut registers, parameters, context.options.now)?;
        Ok(WholePlan {
            pool,
            registers,
            iterator: built.iterator,
            columns,
        })
    }
}
