//! The straightforward interpreter of the engine's algebra: rows in vectors, every pair of a join looked at, expressions as trees.
//! It is slow, and plain enough to be believed; what is fast is compared with it.

mod aggregate;
mod join;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use quire_exec::plan::{
    Environment, EvaluationError, Expression, Plan, PlanColumn, PlanNode, PlanQuery, PlanScalar,
    ScanNode, SortNode,
};
use quire_tables::row_table::{TupleValue, Value};

/// A row by its columns.
pub type Row = Vec<Value>;

/// Rows of tables, by their names, with all columns that are not dropped.
pub type Tables = HashMap<String, Vec<Row>>;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum NaiveError {
    /// A row has no value.
    Evaluation(EvaluationError),
    /// The total of an aggregate does not fit.
    Total,
    /// A subquery for one value has more rows.
    Rows,
    /// A LIMIT or OFFSET below zero.
    Count,
    /// There is no such table.
    Table(String),
}

impl From<EvaluationError> for NaiveError {
    fn from(error: EvaluationError) -> Self {
        Self::Evaluation(error)
    }
}

/// The rows of a query over `tables`.
///
/// # Errors
/// What its expressions and totals meet.
pub fn answer(
    query: &PlanQuery,
    tables: &Tables,
    parameters: &[Value],
) -> Result<Vec<Row>, NaiveError> {
    let mut parameters = parameters.to_vec();
    for plan in &query.values {
        let rows = Interpreter::new(tables, &parameters).rows(plan)?;
        if rows.len() > 1 {
            return Err(NaiveError::Rows);
        }
        let value = rows.into_iter().flatten().next();
        parameters.push(value.unwrap_or_default());
    }
    Interpreter::new(tables, &parameters).rows(&query.plan)
}

struct Interpreter<'a> {
    tables: &'a Tables,
    environment: Environment<'a>,
}

impl<'a> Interpreter<'a> {
    fn new(tables: &'a Tables, parameters: &'a [Value]) -> Self {
        Self {
            tables,
            environment: Environment::new(parameters),
        }
    }

    fn rows(&self, plan: &Plan) -> Result<Vec<Row>, NaiveError> {
        match &plan.node {
            PlanNode::Scan(scan) => self.scan(scan),
            PlanNode::Values(rows) => {
                let rows = rows.iter().map(|row| self.values(row, &[], &plan.columns));
                rows.collect()
            }
            PlanNode::Filter(input, condition) => {
                let mut kept = Vec::new();
                for row in self.rows(input)? {
                    if self.is_true(condition, &row)? {
                        kept.push(row);
                    }
                }
                Ok(kept)
            }
            PlanNode::Project(input, expressions) => {
                let rows = self.rows(input)?;
                let projected = rows
                    .iter()
                    .map(|row| self.values(expressions, row, &plan.columns));
                projected.collect()
            }
            PlanNode::Join(join) => self.join(join),
            PlanNode::Aggregate(aggregate) => self.aggregate(aggregate, &plan.columns),
            PlanNode::Sort(sort) => self.sort(sort),
            PlanNode::Limit { input, skip, fetch } => {
                let (skip, fetch) = (self.count(skip.as_ref())?, self.count(fetch.as_ref())?);
                let rows = self.rows(input)?.into_iter().skip(skip.unwrap_or(0));
                Ok(rows.take(fetch.unwrap_or(usize::MAX)).collect())
            }
            PlanNode::Distinct(input) => {
                let mut seen = HashSet::new();
                let rows = self.rows(input)?.into_iter();
                Ok(rows.filter(|row| seen.insert(row.clone())).collect())
            }
            PlanNode::UnionAll(inputs) => {
                let rows = inputs.iter().map(|input| self.rows(input));
                Ok(rows.collect::<Result<Vec<_>, _>>()?.concat())
            }
            PlanNode::Shared(shared) => self.rows(&shared.plan),
            // What is written comes out, and no row of a table twice; the tables are not the interpreter's to change.
            PlanNode::Write(write) => {
                let mut written = HashSet::new();
                let mut is_new = |row: &Row| match write.row_key {
                    Some(slot) if write.may_repeat => written.insert(row.get(slot).cloned()),
                    _ => true,
                };
                let rows = self.rows(&write.input)?.into_iter();
                Ok(rows.filter(|row| is_new(row)).collect())
            }
        }
    }

    fn scan(&self, scan: &ScanNode) -> Result<Vec<Row>, NaiveError> {
        let table = self.tables.get(&scan.table);
        let table = table.ok_or_else(|| NaiveError::Table(scan.table.clone()))?;
        let mut rows = Vec::new();
        for stored in table {
            let value = |column: &usize| stored.get(*column).cloned().unwrap_or_default();
            let row: Row = scan.columns.iter().map(value).collect();
            let mut is_wanted = true;
            for condition in &scan.conditions {
                is_wanted = is_wanted && self.is_true(condition, &row)?;
            }
            if is_wanted {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    fn sort(&self, sort: &SortNode) -> Result<Vec<Row>, NaiveError> {
        let mut keyed = Vec::new();
        for row in self.rows(&sort.input)? {
            let keys = sort
                .keys
                .iter()
                .map(|key| self.plain(&key.expression, &row));
            keyed.push((keys.collect::<Result<Row, _>>()?, row));
        }
        keyed.sort_by(|(left, _), (right, _)| {
            let pairs = left.iter().zip(right).zip(&sort.keys);
            let orders =
                pairs.map(
                    |((left, right), key)| match (left.is_null(), right.is_null()) {
                        (true, true) => Ordering::Equal,
                        (true, false) if key.nulls_first => Ordering::Less,
                        (true, false) => Ordering::Greater,
                        (false, true) if key.nulls_first => Ordering::Greater,
                        (false, true) => Ordering::Less,
                        (false, false) if key.is_descending => right.cmp(left),
                        (false, false) => left.cmp(right),
                    },
                );
            orders.fold(Ordering::Equal, Ordering::then)
        });
        let fetch = sort.fetch.and_then(|fetch| usize::try_from(fetch).ok());
        let rows = keyed.into_iter().map(|(_, row)| row);
        Ok(rows.take(fetch.unwrap_or(usize::MAX)).collect())
    }

    fn count(&self, expression: Option<&Expression>) -> Result<Option<usize>, NaiveError> {
        let Some(expression) = expression else {
            return Ok(None);
        };
        match self.plain(expression, &[])? {
            Value::Integer(count) => match usize::try_from(count) {
                Ok(count) => Ok(Some(count)),
                Err(_) => Err(NaiveError::Count),
            },
            _ => Ok(None),
        }
    }

    fn values(
        &self,
        expressions: &[Expression],
        row: &[Value],
        columns: &[PlanColumn],
    ) -> Result<Row, NaiveError> {
        let pairs = expressions.iter().zip(columns);
        let values =
            pairs.map(|(expression, column)| self.value(expression, row, column.is_text()));
        values.collect()
    }

    fn value(
        &self,
        expression: &Expression,
        row: &[Value],
        is_text: bool,
    ) -> Result<Value, NaiveError> {
        let row: Vec<TupleValue<'_>> = row.iter().map(Value::as_tuple_value).collect();
        let environment = &self.environment;
        Ok(expression
            .evaluate(&row, environment)?
            .into_value(is_text)?)
    }

    /// A value to compare with its like: text as bytes.
    fn plain(&self, expression: &Expression, row: &[Value]) -> Result<Value, NaiveError> {
        self.value(expression, row, false)
    }

    fn is_true(&self, condition: &Expression, row: &[Value]) -> Result<bool, NaiveError> {
        let row: Vec<TupleValue<'_>> = row.iter().map(Value::as_tuple_value).collect();
        Ok(condition.evaluate(&row, &self.environment)? == PlanScalar::Boolean(true))
    }
}
