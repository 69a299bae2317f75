//! How many rows a plan returns, and how many distinct values its columns have.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::{Column, JoinType, TableReference};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, FetchType, Join, LogicalPlan, Projection, TableScan,
};
use quire_tables::distinct_drawn;

use crate::scan::{ColumnTableProvider, RowTableProvider};
use crate::statistics::{ColumnProfile, TableProfile, selectivity};

/// Rows of a source that says nothing of its size.
const UNKNOWN_ROWS: f64 = 10_000.0;
/// Share of groups that a condition on an aggregate keeps.
const HAVING: f64 = 0.1;

/// A plan's size.
#[derive(Debug, Clone)]
pub(in crate::optimize) struct JoinEstimate {
    pub(in crate::optimize) rows: f64,
    /// Rows before filters: the number of rows that a key of the plan can tell apart.
    pub(super) base_rows: f64,
    columns: HashMap<Column, ColumnProfile>,
}

impl JoinEstimate {
    fn of_rows(rows: f64) -> Self {
        Self {
            rows,
            base_rows: rows,
            columns: HashMap::new(),
        }
    }

    /// Rows, of which each column has so many distinct values.
    #[cfg(test)]
    pub(super) fn of_columns(rows: f64, base_rows: f64, columns: &[(Column, f64)]) -> Self {
        let profile = |distinct_count: f64| ColumnProfile {
            distinct_count,
            null_fraction: 0.0,
            null_count: 0,
            min: None,
            max: None,
            bounds_are_exact: false,
            value_bytes: 8.0,
            kept_bytes: 8.0,
        };
        let columns = columns.iter();
        Self {
            rows,
            base_rows,
            columns: columns
                .map(|(column, distinct)| (column.clone(), profile(*distinct)))
                .collect(),
        }
    }

    /// Distinct values of an expression, at most the rows.
    pub(in crate::optimize) fn distinct(&self, expr: &Expr) -> f64 {
        let mut product = 1.0;
        for column in expr.column_refs() {
            match self.columns.get(column) {
                Some(profile) => product *= profile.distinct_count,
                None => return self.rows.max(1.0),
            }
        }
        product.clamp(1.0, self.rows.max(1.0))
    }

    /// How many groups the rows have by these keys.
    pub(in crate::optimize) fn groups<'e>(&self, keys: impl IntoIterator<Item = &'e Expr>) -> f64 {
        let distinct: f64 = keys.into_iter().map(|key| self.distinct(key)).product();
        distinct.min(self.rows).max(1.0)
    }

    /// The estimate when only `share` of the rows is left.
    pub(super) fn scaled(mut self, share: f64) -> Self {
        let rows = (self.rows * share).max(1.0).min(self.rows.max(1.0));
        for profile in self.columns.values_mut() {
            profile.distinct_count = distinct_drawn(profile.distinct_count, self.rows, rows);
        }
        self.rows = rows;
        self
    }

    /// Average bytes of a value of a column that a join keeps; nothing where only its type is known.
    pub(super) fn kept_bytes(&self, column: &Column) -> Option<f64> {
        Some(self.profile(column)?.kept_bytes)
    }

    fn profile(&self, column: &Column) -> Option<&ColumnProfile> {
        self.columns.get(column)
    }
}

/// Share of rows kept by a condition over several estimated inputs.
pub(super) fn condition_share<'e>(
    condition: &Expr,
    inputs: impl Iterator<Item = &'e JoinEstimate> + Clone,
) -> f64 {
    let lookup = |column: &Column| inputs.clone().find_map(|input| input.profile(column));
    selectivity(std::slice::from_ref(condition), &lookup)
}

/// Share of left rows that a semi or anti join keeps.
pub(super) fn semi_share(join: &Join, left: &JoinEstimate) -> f64 {
    let right = estimate(&join.right);
    let matched = join.on.iter().map(|(l, r)| {
        let known = left.distinct(l).max(1.0);
        (right.distinct(r) / known).min(1.0)
    });
    let mut share = matched.fold(1.0, f64::min);
    if join.filter.is_some() {
        share *= 0.5;
    }
    if join.join_type == JoinType::LeftAnti {
        (1.0 - share).max(0.05)
    } else {
        share.max(1e-6)
    }
}

/// Estimates `plan`.
pub(in crate::optimize) fn estimate(plan: &LogicalPlan) -> JoinEstimate {
    match plan {
        LogicalPlan::TableScan(scan) => of_scan(scan),
        LogicalPlan::Projection(projection) => of_projection(projection),
        LogicalPlan::SubqueryAlias(alias) => requalified(estimate(&alias.input), &alias.alias),
        LogicalPlan::Filter(filter) => {
            let input = estimate(&filter.input);
            let lookup = |column: &Column| input.profile(column);
            let predicate = std::slice::from_ref(&filter.predicate);
            let reads_aggregate = predicate[0]
                .column_refs()
                .iter()
                .any(|c| lookup(c).is_none());
            let share = if reads_aggregate {
                HAVING
            } else {
                selectivity(predicate, &lookup)
            };
            input.scaled(share)
        }
        LogicalPlan::Aggregate(aggregate) => of_aggregate(aggregate),
        LogicalPlan::Distinct(Distinct::All(input)) => estimate(input),
        LogicalPlan::Join(join) => of_join(join),
        LogicalPlan::Limit(limit) => {
            let input = estimate(&limit.input);
            match limit.get_fetch_type() {
                Ok(FetchType::Literal(Some(rows))) if input.rows > rows as f64 => {
                    let share = rows as f64 / input.rows;
                    input.scaled(share)
                }
                _ => input,
            }
        }
        LogicalPlan::Union(union) => {
            JoinEstimate::of_rows(union.inputs.iter().map(|input| estimate(input).rows).sum())
        }
        LogicalPlan::EmptyRelation(_) => JoinEstimate::of_rows(1.0),
        LogicalPlan::Values(values) => JoinEstimate::of_rows(values.values.len() as f64),
        other => match other.inputs()[..] {
            [input] => estimate(input),
            _ => JoinEstimate::of_rows(UNKNOWN_ROWS),
        },
    }
}

fn of_scan(scan: &TableScan) -> JoinEstimate {
    let Ok(provider) = source_as_provider(&scan.source) else {
        return JoinEstimate::of_rows(UNKNOWN_ROWS);
    };
    let provider: &Arc<dyn TableProvider> = &provider;
    if let Some(table) = provider.downcast_ref::<RowTableProvider>() {
        // Filters stay above the scan and are counted there.
        return of_profile(scan, table.profile(), table.profile());
    }
    let Some(table) = provider.downcast_ref::<ColumnTableProvider>() else {
        let known = provider
            .statistics()
            .and_then(|s| s.num_rows.get_value().copied());
        return JoinEstimate::of_rows(known.map_or(UNKNOWN_ROWS, |rows| rows as f64));
    };
    let profile = table.profile();
    let filtered = profile.filtered(&scan.filters);
    let left = if scan.filters.is_empty() {
        profile.as_ref()
    } else {
        &filtered
    };
    of_profile(scan, profile, left)
}

/// The columns of a scan of a table, of which filters leave `left`.
fn of_profile(scan: &TableScan, table: &TableProfile, left: &TableProfile) -> JoinEstimate {
    let columns = scan.projected_schema.columns().into_iter();
    let columns = columns.filter_map(|c| Some((c.clone(), left.column(&c.name)?.clone())));
    JoinEstimate {
        rows: left.row_count,
        base_rows: table.row_count,
        columns: columns.collect(),
    }
}

fn of_projection(projection: &Projection) -> JoinEstimate {
    let input = estimate(&projection.input);
    let outputs = projection
        .schema
        .columns()
        .into_iter()
        .zip(&projection.expr);
    let columns = outputs.filter_map(|(output, expr)| {
        let source = match expr {
            Expr::Column(column) => column,
            Expr::Alias(alias) => match alias.expr.as_ref() {
                Expr::Column(column) => column,
                _ => return None,
            },
            _ => return None,
        };
        Some((output, input.profile(source)?.clone()))
    });
    JoinEstimate {
        columns: columns.collect(),
        ..input
    }
}

fn requalified(input: JoinEstimate, alias: &TableReference) -> JoinEstimate {
    let columns = input.columns.into_iter();
    let renamed = columns.map(|(c, profile)| (Column::new(Some(alias.clone()), c.name), profile));
    JoinEstimate {
        rows: input.rows,
        base_rows: input.base_rows,
        columns: renamed.collect(),
    }
}

fn of_aggregate(aggregate: &Aggregate) -> JoinEstimate {
    let input = estimate(&aggregate.input);
    let groups = input.groups(&aggregate.group_expr);
    let mut columns = HashMap::new();
    for (output, expr) in aggregate
        .schema
        .columns()
        .into_iter()
        .zip(&aggregate.group_expr)
    {
        if let Expr::Column(source) = expr
            && let Some(profile) = input.profile(source)
        {
            let mut profile = profile.clone();
            profile.distinct_count = profile.distinct_count.min(groups);
            columns.insert(output, profile);
        }
    }
    JoinEstimate {
        rows: groups,
        base_rows: groups,
        columns,
    }
}

fn of_join(join: &Join) -> JoinEstimate {
    let (left, right) = (estimate(&join.left), estimate(&join.right));
    match join.join_type {
        JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => {
            let share = if join.join_type == JoinType::LeftMark {
                1.0
            } else {
                semi_share(join, &left)
            };
            return left.scaled(share);
        }
        JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => return right,
        _ => {}
    }
    let shares = join
        .on
        .iter()
        .map(|(l, r)| 1.0 / left.distinct(l).max(right.distinct(r)));
    let share: f64 = shares.product();
    let mut rows = left.rows * right.rows * share;
    if let Some(filter) = &join.filter {
        rows *= condition_share(filter, [&left, &right].into_iter());
    }
    match join.join_type {
        JoinType::Left => rows = rows.max(left.rows),
        JoinType::Right => rows = rows.max(right.rows),
        JoinType::Full => rows = rows.max(left.rows + right.rows),
        _ => {}
    }
    let rows = rows.max(1.0);
    let base_rows = left.base_rows.max(right.base_rows);
    let mut columns = left.columns;
    columns.extend(right.columns);
    for profile in columns.values_mut() {
        profile.distinct_count = profile.distinct_count.min(rows);
    }
    JoinEstimate {
        rows,
        base_rows,
        columns,
    }
}
