//! Plans as text, a line per node, inputs below and further in: for `EXPLAIN`.

use std::fmt;

use super::{
    Aggregate, Join, JoinKind, Plan, PlanColumn, PlanNode, PlanQuery, ScanNode, SortNode, WriteNode,
};
use crate::plan::Expression;
use crate::plan::expression::ShownExpression;

impl fmt::Display for PlanQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = Vec::new();
        for (place, value) in self.values.iter().enumerate() {
            writeln!(f, "value ${}:", self.parameter_count + place + 1)?;
            value.write(f, 1, &mut shown)?;
        }
        self.plan.write(f, 0, &mut shown)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0, &mut Vec::new())
    }
}

impl Plan {
    /// `shown` has the shared plans that were written before: each is written below its first place.
    fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        depth: usize,
        shown: &mut Vec<usize>,
    ) -> fmt::Result {
        write!(f, "{:1$}", "", 2 * depth)?;
        self.write_node(f)?;
        writeln!(f)?;
        if let PlanNode::Shared(shared) = &self.node {
            if shown.contains(&shared.id) {
                return Ok(());
            }
            shown.push(shared.id);
        }
        let inputs = self.node.inputs();
        inputs
            .into_iter()
            .try_for_each(|input| input.write(f, depth + 1, shown))
    }

    fn write_node(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            PlanNode::Scan(scan) => self.write_scan(f, scan),
            PlanNode::Values(rows) => write!(f, "values: {} rows", rows.len()),
            PlanNode::Filter(input, condition) => {
                write!(f, "filter: {}", shown(condition, &input.columns))
            }
            PlanNode::Project(input, expressions) => {
                write!(
                    f,
                    "project: {}",
                    ExpressionList(expressions, &input.columns)
                )
            }
            PlanNode::Join(join) => write_join(f, join),
            PlanNode::Aggregate(aggregate) => write_aggregate(f, aggregate),
            PlanNode::Sort(sort) => write_sort(f, sort),
            PlanNode::Limit { skip, fetch, .. } => {
                write!(f, "limit:")?;
                if let Some(skip) = skip {
                    write!(f, " skip {}", shown(skip, &[]))?;
                }
                if let Some(fetch) = fetch {
                    write!(f, " fetch {}", shown(fetch, &[]))?;
                }
                Ok(())
            }
            PlanNode::Distinct(_) => f.write_str("distinct"),
            PlanNode::UnionAll(_) => f.write_str("union all"),
            PlanNode::Shared(shared) => write!(f, "shared rows {}", shared.id),
            PlanNode::Write(write) => write_write(f, write),
        }
    }

    fn write_scan(&self, f: &mut fmt::Formatter<'_>, scan: &ScanNode) -> fmt::Result {
        write!(f, "scan {}:", scan.table)?;
        for (place, column) in self.columns.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma} {}", column.name)?;
        }
        for (place, condition) in scan.conditions.iter().enumerate() {
            let word = if place == 0 { " where" } else { " and" };
            write!(f, "{word} {}", shown(condition, &self.columns))?;
        }
        Ok(())
    }
}

fn write_write(f: &mut fmt::Formatter<'_>, write: &WriteNode) -> fmt::Result {
    write!(f, "{} {}", write.kind.name(), write.table)?;
    let columns = &write.input.columns;
    let values = columns.get(write.values.clone()).unwrap_or_default();
    for (place, column) in values.iter().enumerate() {
        let comma = if place == 0 { ":" } else { "," };
        write!(f, "{comma} {}", column.name)?;
    }
    match write.checks.len() {
        0 => Ok(()),
        count => write!(f, ", {count} checks"),
    }
}

fn write_join(f: &mut fmt::Formatter<'_>, join: &Join) -> fmt::Result {
    write!(f, "{} join", join.kind.name())?;
    if join.is_null_aware {
        f.write_str(" (not in)")?;
    }
    let sign = if join.nulls_match { "is" } else { "=" };
    for (place, key) in join.keys.iter().enumerate() {
        let word = if place == 0 { " on" } else { " and" };
        let left = shown(&key.left, &join.left.columns);
        let right = shown(&key.right, &join.right.columns);
        write!(f, "{word} {left} {sign} {right}")?;
    }
    if let Some(residual) = &join.residual {
        let both = [join.left.columns.as_slice(), &join.right.columns].concat();
        write!(f, " where {}", shown(residual, &both))?;
    }
    if join.kind == JoinKind::Inner && join.keys.is_empty() && join.residual.is_none() {
        f.write_str(" of all pairs")?;
    }
    Ok(())
}

fn write_aggregate(f: &mut fmt::Formatter<'_>, aggregate: &Aggregate) -> fmt::Result {
    let columns = &aggregate.input.columns;
    f.write_str("aggregate:")?;
    for (place, call) in aggregate.calls.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        let distinct = if call.is_distinct { "distinct " } else { "" };
        write!(f, "{comma} {}({distinct}", call.function.name())?;
        match &call.argument {
            Some(argument) => write!(f, "{})", shown(argument, columns))?,
            None => f.write_str("*)")?,
        }
        if let Some(filter) = &call.filter {
            write!(f, " filter {}", shown(filter, columns))?;
        }
    }
    if !aggregate.groups.is_empty() {
        write!(f, " by {}", ExpressionList(&aggregate.groups, columns))?;
    }
    Ok(())
}

fn write_sort(f: &mut fmt::Formatter<'_>, sort: &SortNode) -> fmt::Result {
    match sort.fetch {
        Some(fetch) => write!(f, "first {fetch} by")?,
        None => f.write_str("sort by")?,
    }
    for (place, key) in sort.keys.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        write!(f, "{comma} {}", shown(&key.expression, &sort.input.columns))?;
        if key.is_descending {
            f.write_str(" desc")?;
        }
        if key.nulls_first != key.is_descending {
            f.write_str(if key.nulls_first {
                " nulls first"
            } else {
                " nulls last"
            })?;
        }
    }
    Ok(())
}

fn shown<'a>(expression: &'a Expression, columns: &'a [PlanColumn]) -> ShownExpression<'a> {
    ShownExpression {
        expression,
        columns,
    }
}

struct ExpressionList<'a>(&'a [Expression], &'a [PlanColumn]);

impl fmt::Display for ExpressionList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, expression) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{}", shown(expression, self.1))?;
        }
        Ok(())
    }
}
