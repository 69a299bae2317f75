//! A DataFusion filter as the engine's scan wants it.

use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::expressions::{CaseExpr, Column, LikeExpr};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_expr_common::physical_expr::snapshot_generation;
use datafusion::physical_optimizer::pruning::{PruningPredicate, PruningPredicateBuilder};
use quire_functions::FloatKey;
use quire_tables::{Predicate, StoredTests, ZoneTable};

use super::map_columns::map_columns;
use super::pruning::ZoneStatistics;
use super::stored_tests::StoredColumns;

/// One conjunct. Static filters keep one meaning; dynamic ones, which a join or a top-k above
/// tightens while the scan runs, are read anew whenever their generation changes.
#[derive(Debug)]
pub(super) struct ScanFilter {
    /// The filter over the table's schema.
    expr: Arc<dyn PhysicalExpr>,
    /// The same over only the columns it reads.
    narrow: Arc<dyn PhysicalExpr>,
    columns: Vec<usize>,
    table_schema: SchemaRef,
    prunes_zones: bool,
    stored_columns: Option<Arc<StoredColumns>>,
    pruning: ByGeneration<PruningPredicate>,
    stored_tests: ByGeneration<StoredTests>,
}

/// What follows from the filter in one generation.
#[derive(Debug)]
struct ByGeneration<T>(Mutex<Option<(u64, Option<Arc<T>>)>>);

impl<T> ByGeneration<T> {
    fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// What `make` made in this generation; other threads wait meanwhile, as they need the same.
    fn get(&self, generation: u64, make: impl FnOnce() -> Option<T>) -> Option<Arc<T>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((of, known)) if *of == generation => known.clone(),
            _ => {
                let made = make().map(Arc::new);
                *known = Some((generation, made.clone()));
                made
            }
        }
    }
}

impl ScanFilter {
    /// `expr` reads columns of `table_schema` by index.
    pub(super) fn new(
        expr: Arc<dyn PhysicalExpr>,
        table_schema: &SchemaRef,
        prunes_zones: bool,
    ) -> Result<Self> {
        let mut columns: Vec<usize> = collect_columns(&expr).iter().map(Column::index).collect();
        columns.sort_unstable();
        columns.dedup();
        let narrow = map_columns(&expr, |column| {
            let position = columns.binary_search(&column.index()).unwrap_or_default();
            Column::new(column.name(), position)
        })?;
        Ok(Self {
            expr,
            narrow,
            columns,
            table_schema: Arc::clone(table_schema),
            prunes_zones,
            stored_columns: None,
            pruning: ByGeneration::new(),
            stored_tests: ByGeneration::new(),
        })
    }

    /// Lets the scan test stored integers for the filter, if there are columns.
    pub(super) fn with_stored_columns(mut self, columns: Option<&Arc<StoredColumns>>) -> Self {
        self.stored_columns = columns.cloned();
        self
    }

    pub(super) fn expr(&self) -> &Arc<dyn PhysicalExpr> {
        &self.expr
    }

    fn current_pruning(&self) -> Option<Arc<PruningPredicate>> {
        let build = || build_pruning(&self.expr, &self.table_schema);
        self.pruning.get(self.generation(), build)
    }
}

fn build_pruning(expr: &Arc<dyn PhysicalExpr>, schema: &SchemaRef) -> Option<PruningPredicate> {
    let predicate = PruningPredicateBuilder::new()
        .with_file_schema(Arc::clone(schema))
        .try_build(without_float_keys(expr).ok()?)
        .ok()?;
    (!predicate.always_true()).then_some(predicate)
}

/// What the filter says of the bounds of zones, which hold for floats and for their keys: a bound that is zero has the sign that
/// takes in both zeros, and there is none on the side of a NaN.
fn without_float_keys(expr: &Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
    let bare = Arc::clone(expr).transform_up(|node| {
        Ok(match node.downcast_ref::<ScalarFunctionExpr>() {
            Some(call) if FloatKey::is_name(call.name()) => match call.args() {
                [argument] => Transformed::yes(Arc::clone(argument)),
                _ => Transformed::no(node),
            },
            _ => Transformed::no(node),
        })
    })?;
    Ok(bare.data)
}

impl Predicate for ScanFilter {
    fn columns(&self) -> &[usize] {
        &self.columns
    }

    fn evaluate(&self, batch: &RecordBatch) -> std::result::Result<BooleanArray, String> {
        let value = self
            .narrow
            .evaluate(batch)
            .map_err(|error| error.to_string())?;
        let array = value
            .into_array(batch.num_rows())
            .map_err(|error| error.to_string())?;
        match array.as_boolean_opt() {
            Some(selection) => Ok(selection.clone()),
            None => Err(format!("filter {} is not a condition", self.narrow)),
        }
    }

    fn prune(&self, zones: &ZoneTable) -> Option<Vec<bool>> {
        if !self.prunes_zones {
            return None;
        }
        let predicate = self.current_pruning()?;
        predicate
            .prune(&ZoneStatistics::new(zones, &self.table_schema))
            .ok()
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn stored_tests(&self) -> Option<Arc<StoredTests>> {
        let columns = self.stored_columns.as_ref()?;
        let tests = || columns.tests(&self.expr);
        self.stored_tests.get(self.generation(), tests)
    }

    fn generation(&self) -> u64 {
        snapshot_generation(&self.expr)
    }
}

/// Cheap filters first: what they drop, the costly ones need not see.
pub(super) fn cost_rank(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> u8 {
    let is_costly = |node: &Arc<dyn PhysicalExpr>| {
        let calls = node.downcast_ref::<ScalarFunctionExpr>();
        let calls = calls.is_some_and(|call| !FloatKey::is_name(call.name()));
        Ok(calls || node.is::<LikeExpr>() || node.is::<CaseExpr>())
    };
    let reads_text = || {
        let columns = collect_columns(expr);
        columns
            .iter()
            .any(|column| schema.field(column.index()).data_type().is_string())
    };
    match expr.exists(is_costly) {
        Ok(true) | Err(_) => 2,
        Ok(false) if reads_text() => 1,
        Ok(false) => 0,
    }
}
