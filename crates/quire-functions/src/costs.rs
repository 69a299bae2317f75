//! `quire_costs()`: what the work of queries is taken to cost.

use std::sync::Arc;

use datafusion::arrow::array::{Float64Array, StringViewArray};
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Result, plan_err};
use quire_exec::costs::{CostModel, CostSource};

use super::storage::table_of;

/// Those of one connection.
#[derive(Debug)]
pub struct CostsFunction(pub CostModel);

impl TableFunctionImpl for CostsFunction {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().is_empty() {
            return plan_err!("quire_costs takes no arguments");
        }
        let texts = |text: fn(&quire_exec::costs::ShownCost) -> &'static str| {
            let texts = self.0.shown().map(|shown| Some(text(&shown)));
            Arc::new(texts.collect::<StringViewArray>())
        };
        let ns: Float64Array = self.0.shown().map(|shown| Some(shown.ns)).collect();
        table_of(vec![
            ("name", texts(|shown| shown.name)),
            ("ns", Arc::new(ns)),
            ("source", texts(|shown| source(shown.source))),
            ("of", texts(|shown| shown.of)),
        ])
    }
}

fn source(source: CostSource) -> &'static str {
    match source {
        CostSource::BuiltIn => "built in",
        CostSource::Measured => "measured",
        CostSource::Set => "set",
    }
}
