//! Nodes with the columns that follow from what they are applied to.

use arrow_schema::DataType;

use super::{Aggregate, Join, JoinKind, Plan, PlanColumn, PlanNode, SortNode};
use crate::plan::Expression;

impl PlanColumn {
    /// A column with the values of an expression.
    #[must_use]
    pub fn of(name: impl Into<String>, data_type: DataType, expression: &Expression) -> Self {
        Self {
            name: name.into(),
            data_type,
            nullable: expression.may_be_null(),
        }
    }
}

impl Plan {
    /// The rows for which a condition is true.
    #[must_use]
    pub fn filter(self, condition: Expression) -> Self {
        Self {
            columns: self.columns.clone(),
            node: PlanNode::Filter(Box::new(self), condition),
        }
    }

    /// Values of each row, with the columns they are for.
    #[must_use]
    pub fn project(self, outputs: Vec<(PlanColumn, Expression)>) -> Self {
        let (columns, expressions) = outputs.into_iter().unzip();
        Self {
            node: PlanNode::Project(Box::new(self), expressions),
            columns,
        }
    }

    /// A join, with the columns of its inputs. Those of a mark join have one more behind them, of this name.
    #[must_use]
    pub fn join(join: Join, mark_name: &str) -> Self {
        let mut columns = join.left.columns.clone();
        if join.kind.keeps_right() {
            columns.iter_mut().for_each(|column| column.nullable = true);
        }
        if join.kind.shows_right() {
            let right = join.right.columns.iter().cloned();
            columns.extend(right.map(|column| PlanColumn {
                nullable: column.nullable || join.kind.keeps_left(),
                ..column
            }));
        }
        if join.kind == JoinKind::Mark {
            columns.push(PlanColumn {
                name: mark_name.to_owned(),
                data_type: DataType::Boolean,
                nullable: false,
            });
        }
        Self {
            node: PlanNode::Join(Box::new(join)),
            columns,
        }
    }

    /// Groups and totals, with names and types of their columns.
    #[must_use]
    pub fn aggregate(aggregate: Aggregate, names: Vec<(String, DataType)>) -> Self {
        let groups = aggregate.groups.iter().map(Expression::may_be_null);
        let calls = aggregate.calls.iter().map(|call| call.may_be_null());
        let columns = groups.chain(calls).zip(names);
        let columns = columns.map(|(nullable, (name, data_type))| PlanColumn {
            name,
            data_type,
            nullable,
        });
        Self {
            columns: columns.collect(),
            node: PlanNode::Aggregate(Box::new(aggregate)),
        }
    }

    /// The rows in order.
    #[must_use]
    pub fn sort(sort: SortNode) -> Self {
        Self {
            columns: sort.input.columns.clone(),
            node: PlanNode::Sort(Box::new(sort)),
        }
    }

    /// Some of the rows.
    #[must_use]
    pub fn limit(self, skip: Option<Expression>, fetch: Option<Expression>) -> Self {
        Self {
            columns: self.columns.clone(),
            node: PlanNode::Limit {
                input: Box::new(self),
                skip,
                fetch,
            },
        }
    }

    /// Each row once.
    #[must_use]
    pub fn distinct(self) -> Self {
        Self {
            columns: self.columns.clone(),
            node: PlanNode::Distinct(Box::new(self)),
        }
    }

    /// The rows of all inputs, under the names of the first.
    #[must_use]
    pub fn union_all(inputs: Vec<Self>) -> Self {
        let mut columns = inputs
            .first()
            .map_or(Vec::new(), |first| first.columns.clone());
        for (slot, column) in columns.iter_mut().enumerate() {
            let mut same = inputs.iter().filter_map(|input| input.columns.get(slot));
            column.nullable = same.any(|column| column.nullable);
        }
        Self {
            node: PlanNode::UnionAll(inputs),
            columns,
        }
    }
}
