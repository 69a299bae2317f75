//! From the planner's expressions, with settled types, to the engine's.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{
    AggregateFunction, InList, Like, Placeholder, ScalarFunction,
};
use datafusion::logical_expr::{
    BinaryExpr, Case, Cast, Expr, ExprSchemable, Operator as Planned, ReturnFieldArgs, Subquery,
    Volatility,
};
use quire_exec::plan::{
    ComparisonExpression, Environment, Expression, FloatOperator, LikePattern, Operator,
    PlanColumn, ValueKind,
};
use quire_functions::{Concatenation, FloatKey, LossyCast};
use quire_tables::row_table::Value;

use super::cast::cast;
use super::foreign::PlannedExpression;
use super::function::PlannedFunction;
use super::operators::{arithmetic, checked_operator, comparison_of, operator_of};
use crate::aggregate::StatementAggregate;
use crate::scalar::{from_planned, is_known, is_same, is_text, kind_of};

/// Which places of a row the columns of a table have.
#[derive(Debug)]
pub enum Slots {
    /// All columns, in their order.
    All,
    /// These columns: those that were asked for.
    Wanted(Vec<usize>),
}

impl Slots {
    /// The columns that were asked for.
    pub fn wanted(&self) -> &[usize] {
        match self {
            Self::All => &[],
            Self::Wanted(wanted) => wanted,
        }
    }

    pub(crate) fn of(&mut self, column: usize) -> usize {
        match self {
            Self::All => column,
            Self::Wanted(wanted) => {
                let known = wanted.iter().position(|known| *known == column);
                known.unwrap_or_else(|| {
                    wanted.push(column);
                    wanted.len() - 1
                })
            }
        }
    }
}

/// What an expression may use beside the row it sees.
pub trait OuterScope {
    /// The value of a subquery.
    fn subquery(&mut self, subquery: &Subquery) -> Option<Expression>;

    /// Notes the first part of an expression that has no counterpart.
    fn refuse(&mut self, expr: &Expr);
}

/// Builds nodes. Every method returns `None` for what is left to the general path.
pub struct ExpressionTranslator<'a> {
    pub schema: &'a DFSchema,
    pub slots: &'a mut Slots,
    pub options: &'a Arc<ConfigOptions>,
    /// What is known of the columns, where that is more than the schema says.
    pub columns: Option<&'a [PlanColumn]>,
    /// Where aggregates may be: columns outside them have no value then.
    pub aggregates: Option<&'a mut Vec<StatementAggregate>>,
    /// For statements of any kind. Without it, what has no counterpart is left to the general path, and so is what that
    /// computes in its own way.
    pub beyond: Option<&'a mut dyn OuterScope>,
}

impl ExpressionTranslator<'_> {
    pub fn type_of(&self, expr: &Expr) -> Option<DataType> {
        expr.get_type(self.schema).ok().filter(is_known)
    }

    /// The node of an expression; what does not depend on the row is computed now where it can be.
    pub fn node(&mut self, expr: &Expr) -> Option<Expression> {
        let node = match self.operation(expr) {
            Some(node) => node,
            None => self.foreign(expr)?,
        };
        let is_leaf = matches!(
            node,
            Expression::Column { .. } | Expression::Parameter { .. } | Expression::Now
        );
        let is_foldable =
            !is_leaf && !node.is_constant() && node.children().all(Expression::is_constant);
        if is_foldable && let Ok(scalar) = node.evaluate(&[], &Environment::new(&[])) {
            let value = scalar.into_value(is_text(&self.type_of(expr)?)).ok()?;
            return Some(Expression::constant(value, node.kind()));
        }
        Some(node)
    }

    /// An expression that the general path's code computes, from the columns in it.
    fn foreign(&mut self, expr: &Expr) -> Option<Expression> {
        let beyond = self.beyond.as_mut()?;
        let Some(function) = PlannedExpression::new(expr, self.schema, self.options) else {
            beyond.refuse(expr);
            return None;
        };
        let arguments = function.columns().map(|column| self.column(column));
        let arguments = arguments.collect::<Option<Vec<_>>>()?;
        Some(Expression::Call(Arc::new(function), arguments))
    }

    fn column(&mut self, index: usize) -> Option<Expression> {
        let field = self.schema.field(index);
        let slot = self.slots.of(index);
        let known = self.columns.and_then(|columns| columns.get(slot));
        Some(Expression::Column {
            slot,
            kind: kind_of(field.data_type())?,
            nullable: known.map_or(field.is_nullable(), |column| column.nullable),
        })
    }

    fn boxed(&mut self, expr: &Expr) -> Option<Box<Expression>> {
        self.node(expr).map(Box::new)
    }

    fn nodes<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) -> Option<Vec<Expression>> {
        parts.into_iter().map(|part| self.node(part)).collect()
    }

    fn operation(&mut self, expr: &Expr) -> Option<Expression> {
        match expr {
            Expr::Alias(alias) => self.node(&alias.expr),
            Expr::Column(column) => {
                if self.aggregates.is_some() {
                    return None;
                }
                let index = self.schema.index_of_column(column).ok()?;
                self.column(index)
            }
            Expr::Literal(value, _) => literal(value),
            Expr::Placeholder(placeholder) => {
                let number = parameter_number(placeholder)?;
                let kind = kind_of(placeholder.field.as_ref()?.data_type())?;
                Some(Expression::Parameter { number, kind })
            }
            Expr::BinaryExpr(binary) => self.binary(binary),
            Expr::Not(inner) => Some(Expression::Not(self.boxed(inner)?)),
            Expr::IsNull(inner) | Expr::IsUnknown(inner) => {
                Some(Expression::IsNull(self.boxed(inner)?, true))
            }
            Expr::IsNotNull(inner) | Expr::IsNotUnknown(inner) => {
                Some(Expression::IsNull(self.boxed(inner)?, false))
            }
            Expr::IsTrue(inner) => Some(Expression::Is(self.boxed(inner)?, true, true)),
            Expr::IsNotTrue(inner) => Some(Expression::Is(self.boxed(inner)?, true, false)),
            Expr::IsFalse(inner) => Some(Expression::Is(self.boxed(inner)?, false, true)),
            Expr::IsNotFalse(inner) => Some(Expression::Is(self.boxed(inner)?, false, false)),
            Expr::Between(between) => {
                let low = self.compare(
                    ComparisonExpression::GreaterOrEqual,
                    &between.expr,
                    &between.low,
                )?;
                let high = self.compare(
                    ComparisonExpression::LessOrEqual,
                    &between.expr,
                    &between.high,
                )?;
                let inside = Expression::And(Box::new([low, high]));
                Some(if between.negated {
                    Expression::Not(Box::new(inside))
                } else {
                    inside
                })
            }
            Expr::InList(list) => self.in_list(list),
            Expr::Like(like) => self.like(like),
            Expr::Case(case) => self.case(case),
            Expr::Cast(cast) => self.cast(cast),
            Expr::Negative(inner) => match self.type_of(inner)? {
                DataType::Float32 | DataType::Float64 | DataType::Decimal128(..) => {
                    Some(Expression::Negate(self.boxed(inner)?))
                }
                _ => None,
            },
            Expr::ScalarFunction(call) => self.function(call, expr),
            Expr::AggregateFunction(call) => self.aggregate(call, expr),
            Expr::ScalarSubquery(subquery) => self.beyond.as_mut()?.subquery(subquery),
            _ => None,
        }
    }

    fn binary(&mut self, binary: &BinaryExpr) -> Option<Expression> {
        let BinaryExpr { left, op, right } = binary;
        if let Some(comparison) = comparison_of(*op) {
            return self.compare(comparison, left, right);
        }
        let (left_type, right_type) = (self.type_of(left)?, self.type_of(right)?);
        let sides = Box::new([self.node(left)?, self.node(right)?]);
        let are_boolean = left_type == DataType::Boolean && right_type == DataType::Boolean;
        match op {
            Planned::And if are_boolean => Some(Expression::And(sides)),
            Planned::Or if are_boolean => Some(Expression::Or(sides)),
            Planned::StringConcat if is_text(&left_type) && is_text(&right_type) => {
                Some(Expression::Concatenate(sides))
            }
            other => arithmetic(operator_of(*other)?, &left_type, &right_type, sides),
        }
    }

    fn compare(
        &mut self,
        comparison: ComparisonExpression,
        left: &Expr,
        right: &Expr,
    ) -> Option<Expression> {
        if !is_same(&self.type_of(left)?, &self.type_of(right)?) {
            return None;
        }
        let sides = [self.compared(left)?, self.compared(right)?];
        Some(Expression::Compare(comparison, Box::new(sides)))
    }

    fn in_list(&mut self, list: &InList) -> Option<Expression> {
        let tested = self.type_of(&list.expr)?;
        for item in &list.list {
            if !is_same(&self.type_of(item)?, &tested) {
                return None;
            }
        }
        let items = list.list.iter().map(|item| self.compared(item));
        let items = items.collect::<Option<Vec<_>>>()?;
        let tested = Box::new(self.compared(&list.expr)?);
        Some(Expression::In(tested, items, list.negated))
    }

    /// The node of a value that the engine compares, which it does by the order of SQL without keys of floats.
    pub(crate) fn compared(&mut self, expr: &Expr) -> Option<Expression> {
        let expr = FloatKey::argument_of(expr).unwrap_or(expr);
        self.node(LossyCast::argument_of(expr).unwrap_or(expr))
    }

    /// The key of a float. Adding zero makes -0.0 positive; whoever compares NaNs has one of them only.
    fn float_key(&mut self, argument: &Expr) -> Option<Expression> {
        let node = self.node(argument)?;
        let kind = node.kind();
        let add = FloatOperator(Operator::Add);
        let sides = |zero| Box::new([node, Expression::constant(zero, kind)]);
        match kind {
            ValueKind::Double => Some(Expression::Double(add, sides(Value::Double(0.0)))),
            ValueKind::Real => Some(Expression::Real(add, sides(Value::Real(0.0)))),
            _ => None,
        }
    }

    fn like(&mut self, like: &Like) -> Option<Expression> {
        if like.case_insensitive || like.escape_char.is_some_and(|escape| escape != '\\') {
            return None;
        }
        let are_text =
            is_text(&self.type_of(&like.expr)?) && is_text(&self.type_of(&like.pattern)?);
        match self.node(&like.pattern)? {
            Expression::Constant(Value::Text(pattern)) if are_text => {
                let pattern = Box::new(LikePattern::new(&pattern));
                Some(Expression::Like(
                    self.boxed(&like.expr)?,
                    pattern,
                    like.negated,
                ))
            }
            _ => None,
        }
    }

    fn case(&mut self, case: &Case) -> Option<Expression> {
        let mut branches = Vec::with_capacity(case.when_then_expr.len());
        let mut result_type: Option<DataType> = None;
        let results = case.when_then_expr.iter().map(|(_, then)| then);
        for result in results.chain(&case.else_expr) {
            let data_type = self.type_of(result)?;
            if result_type
                .as_ref()
                .is_some_and(|known| !is_same(known, &data_type))
            {
                return None;
            }
            result_type = Some(data_type);
        }
        for (when, then) in &case.when_then_expr {
            let condition = match &case.expr {
                Some(tested) => self.compare(ComparisonExpression::Equal, tested, when)?,
                None => self.node(when)?,
            };
            branches.push((condition, self.node(then)?));
        }
        let otherwise = match &case.else_expr {
            Some(otherwise) => Some(self.boxed(otherwise)?),
            None => None,
        };
        Some(Expression::Case(branches, otherwise))
    }

    fn cast(&mut self, cast: &Cast) -> Option<Expression> {
        let (from, to) = (self.type_of(&cast.expr)?, cast.field.data_type());
        self::cast(self.node(&cast.expr)?, &from, to)
    }

    fn function(&mut self, call: &ScalarFunction, expr: &Expr) -> Option<Expression> {
        let name = call.name();
        match (name, call.args.as_slice()) {
            ("now", []) => return Some(Expression::Now),
            ("coalesce", parts) => return self.coalesce(parts, expr),
            ("float_key", [argument]) => return self.float_key(argument),
            ("decimal_digits", [inner]) => return Some(Expression::Digits(self.boxed(inner)?)),
            (Concatenation::NAME, [left, right]) => {
                let sides = Box::new([self.node(left)?, self.node(right)?]);
                return Some(Expression::Concatenate(sides));
            }
            (_, [left, right]) => {
                if let Some(operator) = checked_operator(name) {
                    let (left_type, right_type) = (self.type_of(left)?, self.type_of(right)?);
                    let sides = Box::new([self.node(left)?, self.node(right)?]);
                    return arithmetic(operator, &left_type, &right_type, sides);
                }
            }
            _ => {}
        }
        if call.func.signature().volatility != Volatility::Immutable {
            return None;
        }
        let types: Option<Vec<DataType>> = call.args.iter().map(|arg| self.type_of(arg)).collect();
        let fields: Vec<_> = types?
            .into_iter()
            .map(|data_type| Arc::new(Field::new("", data_type, true)))
            .collect();
        let constants: Vec<Option<&ScalarValue>> = call
            .args
            .iter()
            .map(|argument| match argument {
                Expr::Literal(value, _) => Some(value),
                _ => None,
            })
            .collect();
        let return_field = call.func.return_field_from_args(ReturnFieldArgs {
            arg_fields: &fields,
            scalar_arguments: &constants,
        });
        let return_field = return_field.ok()?;
        let function = PlannedFunction {
            function: Arc::clone(&call.func),
            kind: kind_of(return_field.data_type())?,
            argument_fields: fields,
            return_field,
            options: Arc::clone(self.options),
        };
        let arguments = self.nodes(&call.args)?;
        Some(Expression::Call(Arc::new(function), arguments))
    }

    fn coalesce(&mut self, parts: &[Expr], expr: &Expr) -> Option<Expression> {
        let result = self.type_of(expr)?;
        for part in parts {
            if !is_same(&self.type_of(part)?, &result) {
                return None;
            }
        }
        Some(Expression::Coalesce(self.nodes(parts)?))
    }

    fn aggregate(&mut self, call: &AggregateFunction, expr: &Expr) -> Option<Expression> {
        let params = &call.params;
        let is_plain = !params.distinct
            && params.filter.is_none()
            && params.order_by.is_empty()
            && params.null_treatment.is_none();
        let [argument] = params.args.as_slice() else {
            return None;
        };
        let kind = kind_of(&self.type_of(expr)?)?;
        let aggregates = self.aggregates.take().filter(|_| is_plain)?;
        let is_counted = matches!(argument, Expr::Literal(value, _) if !value.is_null());
        let aggregate = match call.func.name() {
            "count" if is_counted => Some(StatementAggregate::count(None)),
            "count" => self
                .node(argument)
                .map(|node| StatementAggregate::count(Some(node))),
            "checked_sum" => match (self.type_of(expr), self.node(argument)) {
                (Some(total), Some(node)) => StatementAggregate::sum(&total, node),
                _ => None,
            },
            name @ ("min" | "max") => match (self.type_of(expr), self.node(argument)) {
                (Some(result), Some(node)) if is_same(&result, &self.type_of(argument)?) => {
                    StatementAggregate::extreme(name == "max", &result, node)
                }
                _ => None,
            },
            _ => None,
        };
        aggregates.push(aggregate?);
        let slot = aggregates.len() - 1;
        self.aggregates = Some(aggregates);
        Some(Expression::Column {
            slot,
            kind,
            nullable: true,
        })
    }
}

/// The number of a parameter `$n`, from 0; `None` beyond `$65535`, where there is none: room is made for as many as the last one says.
pub fn parameter_number(placeholder: &Placeholder) -> Option<usize> {
    let number: u16 = placeholder.id.strip_prefix('$')?.parse().ok()?;
    usize::from(number).checked_sub(1)
}

fn literal(value: &ScalarValue) -> Option<Expression> {
    let data_type = value.data_type();
    let scalar = from_planned(value.clone())?;
    let value = scalar.into_value(is_text(&data_type)).ok()?;
    Some(Expression::constant(value, kind_of(&data_type)?))
}
