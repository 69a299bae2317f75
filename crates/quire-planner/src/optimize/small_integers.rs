//! Which expressions PostgreSQL would compute with 32-bit integers.
//!
//! A number that is written out is of 64 bits here, and so is a column of a query that shows one. The column is followed to where it is
//! made. What the recursive term of a query makes has the type of the first one.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema, JoinType, ScalarValue};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Distinct, Expr, ExprSchemable, Join, LogicalPlan, Operator,
};

/// Functions that return one of their arguments, or its absolute value.
const TRANSPARENT: [&str; 5] = ["abs", "coalesce", "greatest", "least", "nullif"];

/// What the columns of an expression are.
pub(super) struct Operands<'p> {
    pub(super) schema: &'p DFSchema,
    /// The plans that have them; none where they are not known.
    pub(super) inputs: Vec<&'p LogicalPlan>,
}

impl Operands<'_> {
    /// Whether PostgreSQL would compute `expr` with 32-bit integers.
    pub(super) fn fit_32_bits(&self, expr: &Expr) -> bool {
        let fits = |part: &Expr| self.fit_32_bits(part);
        match expr {
            Expr::Literal(ScalarValue::Int64(value), _) => {
                value.is_none_or(|value| i32::try_from(value).is_ok())
            }
            Expr::Alias(alias) => fits(&alias.expr),
            Expr::Negative(inner) => fits(inner),
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                let is_arithmetic = matches!(
                    op,
                    Operator::Plus
                        | Operator::Minus
                        | Operator::Multiply
                        | Operator::Divide
                        | Operator::Modulo
                );
                is_arithmetic && fits(left) && fits(right)
            }
            Expr::Case(case) => {
                let results = case.when_then_expr.iter().map(|(_, then)| then);
                results.chain(&case.else_expr).all(|result| fits(result))
            }
            Expr::ScalarFunction(function) if TRANSPARENT.contains(&function.name()) => {
                function.args.iter().all(fits)
            }
            Expr::ScalarSubquery(subquery) => is_small_column(&subquery.subquery, 0),
            other => match other.get_type(self.schema) {
                Ok(DataType::Int64) => {
                    matches!(other, Expr::Column(column) if self.is_small(column))
                }
                found => found.is_ok_and(|found| is_small_type(&found)),
            },
        }
    }

    /// Whether a column is made of such integers.
    fn is_small(&self, column: &Column) -> bool {
        self.inputs.iter().any(|input| {
            let place = input.schema().maybe_index_of_column(column);
            place.is_some_and(|place| is_small_column(input, place))
        })
    }
}

fn is_small_type(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Null
    )
}

fn is_small_column(plan: &LogicalPlan, place: usize) -> bool {
    let field = plan.schema().fields().get(place);
    if field.is_none_or(|field| *field.data_type() != DataType::Int64) {
        return field.is_some_and(|field| is_small_type(field.data_type()));
    }
    match plan {
        LogicalPlan::Projection(node) => is_small_value(&node.expr[place], &[&node.input]),
        LogicalPlan::SubqueryAlias(node) => is_small_column(&node.input, place),
        LogicalPlan::Subquery(node) => is_small_column(&node.subquery, place),
        LogicalPlan::Filter(node) => is_small_column(&node.input, place),
        LogicalPlan::Sort(node) => is_small_column(&node.input, place),
        LogicalPlan::Limit(node) => is_small_column(&node.input, place),
        LogicalPlan::Distinct(Distinct::All(input)) => is_small_column(input, place),
        LogicalPlan::RecursiveQuery(node) => is_small_column(&node.static_term, place),
        LogicalPlan::Union(node) => {
            let mut inputs = node.inputs.iter();
            inputs.all(|input| is_small_column(input, place))
        }
        LogicalPlan::Values(node) => {
            let mut rows = node.values.iter();
            rows.all(|row| is_small_value(&row[place], &[]))
        }
        LogicalPlan::Window(node) if place < node.input.schema().fields().len() => {
            is_small_column(&node.input, place)
        }
        LogicalPlan::Join(node) => is_small_of_join(node, place),
        LogicalPlan::Aggregate(node) => is_small_of_groups(node, place),
        _ => false,
    }
}

fn is_small_of_join(join: &Join, place: usize) -> bool {
    let width = join.left.schema().fields().len();
    match join.join_type {
        JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full if place >= width => {
            is_small_column(&join.right, place - width)
        }
        JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => false,
        _ => place < width && is_small_column(&join.left, place),
    }
}

/// A key, or the least or greatest of such integers.
fn is_small_of_groups(aggregate: &Aggregate, place: usize) -> bool {
    let keys = &aggregate.group_expr;
    if keys.iter().any(|key| matches!(key, Expr::GroupingSet(_))) {
        return false;
    }
    let value = match keys.get(place) {
        Some(key) => Some(key),
        None => aggregate.aggr_expr.get(place - keys.len()).and_then(chosen),
    };
    value.is_some_and(|value| is_small_value(value, &[&aggregate.input]))
}

/// What an aggregate chooses one of.
fn chosen(aggregate: &Expr) -> Option<&Expr> {
    match aggregate {
        Expr::Alias(alias) => chosen(&alias.expr),
        Expr::AggregateFunction(call) if matches!(call.func.name(), "min" | "max") => {
            call.params.args.first()
        }
        _ => None,
    }
}

fn is_small_value(value: &Expr, inputs: &[&LogicalPlan]) -> bool {
    let schema = merge_schema(inputs);
    let operands = Operands {
        schema: &schema,
        inputs: inputs.to_vec(),
    };
    operands.fit_32_bits(value)
}
