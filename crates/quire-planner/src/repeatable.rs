//! Optimized plans that are kept for statements with the same text.
//!
//! A plan is the same again if it calls nothing that depends on the time, the session or chance, and if the column tables that it reads are as they were: what
//! the optimizer knows of their values decides the order of joins, and replaces conditions by constants. Of row tables it knows estimates only, which choose
//! between plans with the same answer: a plan stays as long as such a table has about as many rows. A plan that is kept has no tables, which
//! would keep pages from being freed, but their names; it is bound to the tables of a snapshot when it is used.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, ScalarValue, internal_err};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{
    Expr, ExprSchemable, LogicalPlan, Operator, TableScan, TableSource, Volatility,
};
use quire_functions::QuireOptions;
use quire_tables::{ColumnTable, ColumnTableVersion, RowTable};

use crate::scan::{ColumnTableProvider, RowTableProvider};

/// Words of texts that mean a time when they become one.
const TIME_WORDS: [&str; 4] = ["now", "today", "tomorrow", "yesterday"];

/// An optimized plan without its tables.
pub struct RepeatablePlan {
    plan: LogicalPlan,
    tables: RepeatableTables,
}

/// The tables of a plan by name, and for what state of them it is the plan.
pub struct RepeatableTables(Vec<(String, KeptTable)>);

/// A table of a snapshot.
pub enum SnapshotTable {
    Columns(Arc<ColumnTable>),
    Rows(Arc<RowTable>),
}

/// What a plan was made for.
enum KeptTable {
    Columns(ColumnTableVersion),
    Rows { id: u64, row_count: u64 },
}

impl KeptTable {
    /// A row table, as long as its number of rows can be told.
    fn of_rows(table: &RowTable) -> Option<Self> {
        let row_count = table.row_count_estimate().ok()?;
        let id = table.id();
        Some(Self::Rows { id, row_count })
    }

    /// Whether the plan is good for a table.
    fn is_of(&self, table: &SnapshotTable) -> bool {
        match (self, table) {
            (Self::Columns(version), SnapshotTable::Columns(table)) => version.is_of(table),
            (Self::Rows { id, row_count }, SnapshotTable::Rows(table)) => {
                let found = table.row_count_estimate();
                *id == table.id() && found.is_ok_and(|found| are_about_as_many(found, *row_count))
            }
            _ => false,
        }
    }
}

/// Whether no plan is much better for one number of rows than for the other.
fn are_about_as_many(one: u64, other: u64) -> bool {
    let (fewer, more) = (one.min(other), one.max(other));
    more <= fewer.saturating_mul(2).saturating_add(FEW_ROWS)
}

/// Rows that any plan reads in a moment.
const FEW_ROWS: u64 = 100;

impl SnapshotTable {
    fn provider(self, options: &QuireOptions) -> Arc<dyn TableProvider> {
        match self {
            Self::Columns(table) => Arc::new(ColumnTableProvider::new(table, options.clone())),
            Self::Rows(table) => Arc::new(RowTableProvider::new(table)),
        }
    }
}

/// A table that a plan will be bound to.
#[derive(Debug)]
struct UnboundTable {
    name: String,
    schema: SchemaRef,
}

impl TableSource for UnboundTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl RepeatableTables {
    /// The tables of `optimized`, which was made of `plan`; `None` if it may be another one next time, or reads other tables than row tables and
    /// column tables without changes since their last merge. Parameters are taken for constants.
    ///
    /// # Errors
    /// As walking the plan fails.
    pub fn of(plan: &LogicalPlan, optimized: &LogicalPlan) -> Result<Option<Self>> {
        match tables_of(optimized)? {
            Some(tables) if is_repeatable(plan)? => Ok(Some(tables)),
            _ => Ok(None),
        }
    }

    /// The tables that `find` gives by name; `None` if the plan is not one for their state.
    ///
    /// # Errors
    /// Those of `find`.
    pub fn find(
        &self,
        find: impl Fn(&str) -> Result<Option<SnapshotTable>>,
    ) -> Result<Option<Vec<(&str, SnapshotTable)>>> {
        let mut found = Vec::with_capacity(self.0.len());
        for (name, kept) in &self.0 {
            match find(name)?.filter(|table| kept.is_of(table)) {
                Some(table) => found.push((name.as_str(), table)),
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }
}

impl RepeatablePlan {
    /// What to keep of `optimized`, which was made of `plan`, if [`RepeatableTables::of`] gives its tables.
    ///
    /// # Errors
    /// As rewriting the plan fails.
    pub fn of(plan: &LogicalPlan, optimized: &LogicalPlan) -> Result<Option<Self>> {
        let Some(tables) = RepeatableTables::of(plan, optimized)? else {
            return Ok(None);
        };
        let unbound = optimized.clone().transform_down_with_subqueries(|node| {
            let LogicalPlan::TableScan(scan) = node else {
                return Ok(Transformed::no(node));
            };
            let Some(name) = table_name(&scan) else {
                return internal_err!("a plan to keep reads another table");
            };
            let schema = scan.source.schema();
            let source = UnboundTable { name, schema };
            Ok(Transformed::yes(with_source(scan, Arc::new(source))))
        })?;
        Ok(Some(Self {
            plan: unbound.data,
            tables,
        }))
    }

    /// The plan for the tables that `find` gives; `None` if one of them is no longer as it was.
    ///
    /// # Errors
    /// Those of `find`, and as rewriting the plan fails.
    pub fn bound(
        &self,
        find: impl Fn(&str) -> Result<Option<SnapshotTable>>,
        options: &QuireOptions,
    ) -> Result<Option<LogicalPlan>> {
        let Some(found) = self.tables.find(find)? else {
            return Ok(None);
        };
        let sources = found
            .into_iter()
            .map(|(name, table)| (name, provider_as_source(table.provider(options))));
        let sources: Vec<(&str, Arc<dyn TableSource>)> = sources.collect();
        let bound = self.plan.clone().transform_down_with_subqueries(|node| {
            let LogicalPlan::TableScan(scan) = node else {
                return Ok(Transformed::no(node));
            };
            let Some(unbound) = scan.source.downcast_ref::<UnboundTable>() else {
                return internal_err!("a kept plan has a table");
            };
            let source = sources.iter().find(|(name, _)| *name == unbound.name);
            let Some((_, source)) = source else {
                return internal_err!("a kept plan reads an unknown table");
            };
            Ok(Transformed::yes(with_source(scan, Arc::clone(source))))
        })?;
        Ok(Some(bound.data))
    }
}

/// The tables of a plan; `None` if it has other leaves, or tables with changes.
fn tables_of(plan: &LogicalPlan) -> Result<Option<RepeatableTables>> {
    let mut tables: Option<Vec<(String, KeptTable)>> = Some(Vec::new());
    plan.apply_with_subqueries(|node| {
        match node {
            LogicalPlan::Extension(_) => tables = None,
            LogicalPlan::TableScan(scan) => match (table_name(scan), &mut tables) {
                (Some(name), Some(found)) if found.iter().any(|(known, _)| *known == name) => {}
                (Some(name), Some(found)) => match kept_table(scan) {
                    Some(kept) => found.push((name, kept)),
                    None => tables = None,
                },
                _ => tables = None,
            },
            _ => {}
        }
        Ok(match tables {
            Some(_) => TreeNodeRecursion::Continue,
            None => TreeNodeRecursion::Stop,
        })
    })?;
    Ok(tables.map(RepeatableTables))
}

/// The name of a table of the database.
fn table_name(scan: &TableScan) -> Option<String> {
    let provider = source_as_provider(&scan.source).ok()?;
    let definition = match provider.downcast_ref::<RowTableProvider>() {
        Some(rows) => rows.whole_table()?.definition(),
        None => {
            let columns = provider.downcast_ref::<ColumnTableProvider>()?;
            columns.table().definition()
        }
    };
    Some(definition.name.clone())
}

/// The state of a table, if plans that read it may be kept.
fn kept_table(scan: &TableScan) -> Option<KeptTable> {
    let provider = source_as_provider(&scan.source).ok()?;
    if let Some(provider) = provider.downcast_ref::<RowTableProvider>() {
        return KeptTable::of_rows(provider.whole_table()?);
    }
    let table = provider.downcast_ref::<ColumnTableProvider>()?.table();
    Some(KeptTable::Columns(table.version()?))
}

/// Whether a scan reads a table of the database, in whatever state.
fn is_own_table(scan: &TableScan) -> bool {
    let provider = source_as_provider(&scan.source);
    provider.is_ok_and(|it| it.is::<ColumnTableProvider>() || it.is::<RowTableProvider>())
}

fn with_source(scan: TableScan, source: Arc<dyn TableSource>) -> LogicalPlan {
    LogicalPlan::TableScan(TableScan { source, ..scan })
}

/// Whether the plan, before it is optimized, means the same whenever it is asked, and reads tables of the database only. Views are looked into.
fn is_repeatable(plan: &LogicalPlan) -> Result<bool> {
    let mut is_repeatable = true;
    plan.apply_with_subqueries(|node| {
        is_repeatable &= match node {
            LogicalPlan::TableScan(scan) => match scan.source.get_logical_plan() {
                Some(view) => self::is_repeatable(&view)?,
                // The optimizer may take a table out that has to be opened, and may be denied.
                None => is_own_table(scan),
            },
            LogicalPlan::Extension(_) | LogicalPlan::RecursiveQuery(_) => false,
            _ => true,
        };
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                is_repeatable &= is_constant(part);
                Ok(TreeNodeRecursion::Continue)
            })?;
            Ok::<_, DataFusionError>(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(is_repeatable)
}

/// Whether a text can mean another time tomorrow, when it becomes one.
pub fn may_mean_a_time(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphabetic());
    words.any(|word| {
        TIME_WORDS
            .iter()
            .any(|time| word.eq_ignore_ascii_case(time))
    })
}

/// Whether an expression has the same value for the same values below it, and cannot be a text that means a time when it becomes one.
fn is_constant(expression: &Expr) -> bool {
    match expression {
        Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)), _) => {
            !may_mean_a_time(text)
        }
        Expr::Literal(..) | Expr::Column(_) | Expr::Alias(_) | Expr::Placeholder(_) => true,
        Expr::ScalarVariable(..) => false,
        Expr::ScalarFunction(call) if call.func.signature().volatility != Volatility::Immutable => {
            false
        }
        _ => !is_computed_text(expression),
    }
}

/// Whether an expression is a text that is put together from constants: any word can come of it.
fn is_computed_text(expression: &Expr) -> bool {
    let may_be = match expression {
        Expr::BinaryExpr(binary) => binary.op == Operator::StringConcat,
        Expr::ScalarFunction(_) | Expr::Case(_) | Expr::Cast(_) | Expr::TryCast(_) => true,
        Expr::AggregateFunction(_) => true,
        _ => false,
    };
    if !may_be || expression.any_column_refs() {
        return false;
    }
    match expression.get_type(&DFSchema::empty()) {
        Ok(data_type) => data_type.is_string(),
        // Aggregates of all rows, and what has no type by itself.
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_may_mean_a_time() {
        for text in [
            "now",
            "TODAY",
            "today 10:00",
            " tomorrow",
            "yesterday noon",
            "2024-01-01 now",
        ] {
            assert!(may_mean_a_time(text), "{text}");
        }
        for text in [
            "",
            "unknown",
            "nowhere",
            "snow",
            "todays",
            "2024-01-01 10:00",
        ] {
            assert!(!may_mean_a_time(text), "{text}");
        }
    }
}
