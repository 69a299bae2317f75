//! From the planner's expressions, with settled types, to nodes.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{
    AggregateFunction, InList, Like, Placeholder, ScalarFunction,
};
use datafusion::logical_expr::{
    BinaryExpr, Case, Cast, Expr, ExprSchemable, Operator as Planned, ReturnFieldArgs, Volatility,
};
use quire_engine::row_table::Value;

use super::arithmetic::{DecimalOperation, FloatOperator, IntegerOperation, Operator};
use super::function::FunctionCall;
use super::{CastPlan, Comparison, Environment, LikePattern, Node};
use crate::statement::aggregate::Aggregate;
use crate::statement::scalar::{Scalar, is_known, is_same, is_text};

/// Which places of a row the columns of a table have.
#[derive(Debug)]
pub(in crate::statement) enum Slots {
    /// All columns, in their order.
    All,
    /// These columns: those that were asked for.
    Wanted(Vec<usize>),
}

impl Slots {
    /// The columns that were asked for.
    pub(in crate::statement) fn wanted(&self) -> &[usize] {
        match self {
            Self::All => &[],
            Self::Wanted(wanted) => wanted,
        }
    }

    pub(in crate::statement) fn of(&mut self, column: usize) -> usize {
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

/// Builds nodes. Every method returns `None` for what is left to the general path.
pub(in crate::statement) struct Translator<'a> {
    pub(in crate::statement) schema: &'a DFSchema,
    pub(in crate::statement) slots: &'a mut Slots,
    pub(in crate::statement) options: &'a Arc<ConfigOptions>,
    /// Where aggregates may be: columns outside them have no value then.
    pub(in crate::statement) aggregates: Option<&'a mut Vec<Aggregate>>,
}

impl Translator<'_> {
    pub(in crate::statement) fn type_of(&self, expr: &Expr) -> Option<DataType> {
        expr.get_type(self.schema).ok().filter(is_known)
    }

    /// The node of an expression; what does not depend on the row is computed now where it can be.
    pub(in crate::statement) fn node(&mut self, expr: &Expr) -> Option<Node> {
        let node = self.operation(expr)?;
        let is_foldable = !matches!(node, Node::Constant(_) | Node::Parameter(_) | Node::Now)
            && node.children().all(Node::is_constant)
            && !matches!(node, Node::Column(_));
        if is_foldable && let Ok(scalar) = node.evaluate(&[], &Environment::new(&[])) {
            let value = scalar.into_value(is_text(&self.type_of(expr)?)).ok()?;
            return Some(Node::Constant(value));
        }
        Some(node)
    }

    fn boxed(&mut self, expr: &Expr) -> Option<Box<Node>> {
        self.node(expr).map(Box::new)
    }

    fn nodes<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) -> Option<Vec<Node>> {
        parts.into_iter().map(|part| self.node(part)).collect()
    }

    fn operation(&mut self, expr: &Expr) -> Option<Node> {
        match expr {
            Expr::Alias(alias) => self.node(&alias.expr),
            Expr::Column(column) => {
                if self.aggregates.is_some() {
                    return None;
                }
                let index = self.schema.index_of_column(column).ok()?;
                Some(Node::Column(self.slots.of(index)))
            }
            Expr::Literal(value, _) => literal(value),
            Expr::Placeholder(placeholder) => {
                let number = parameter_number(placeholder)?;
                placeholder.field.as_ref()?;
                Some(Node::Parameter(number))
            }
            Expr::BinaryExpr(binary) => self.binary(binary),
            Expr::Not(inner) => Some(Node::Not(self.boxed(inner)?)),
            Expr::IsNull(inner) | Expr::IsUnknown(inner) => {
                Some(Node::IsNull(self.boxed(inner)?, true))
            }
            Expr::IsNotNull(inner) | Expr::IsNotUnknown(inner) => {
                Some(Node::IsNull(self.boxed(inner)?, false))
            }
            Expr::IsTrue(inner) => Some(Node::Is(self.boxed(inner)?, true, true)),
            Expr::IsNotTrue(inner) => Some(Node::Is(self.boxed(inner)?, true, false)),
            Expr::IsFalse(inner) => Some(Node::Is(self.boxed(inner)?, false, true)),
            Expr::IsNotFalse(inner) => Some(Node::Is(self.boxed(inner)?, false, false)),
            Expr::Between(between) => {
                let low = self.compare(Comparison::GreaterOrEqual, &between.expr, &between.low)?;
                let high = self.compare(Comparison::LessOrEqual, &between.expr, &between.high)?;
                let inside = Node::And(Box::new([low, high]));
                Some(if between.negated {
                    Node::Not(Box::new(inside))
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
                    Some(Node::Negate(self.boxed(inner)?))
                }
                _ => None,
            },
            Expr::ScalarFunction(call) => self.function(call, expr),
            Expr::AggregateFunction(call) => self.aggregate(call, expr),
            _ => None,
        }
    }

    fn binary(&mut self, binary: &BinaryExpr) -> Option<Node> {
        let BinaryExpr { left, op, right } = binary;
        if let Some(comparison) = comparison_of(*op) {
            return self.compare(comparison, left, right);
        }
        let (left_type, right_type) = (self.type_of(left)?, self.type_of(right)?);
        let sides = Box::new([self.node(left)?, self.node(right)?]);
        let are_boolean = left_type == DataType::Boolean && right_type == DataType::Boolean;
        match op {
            Planned::And if are_boolean => Some(Node::And(sides)),
            Planned::Or if are_boolean => Some(Node::Or(sides)),
            Planned::StringConcat if is_text(&left_type) && is_text(&right_type) => {
                Some(Node::Concatenate(sides))
            }
            other => arithmetic(operator_of(*other)?, &left_type, &right_type, sides),
        }
    }

    fn compare(&mut self, comparison: Comparison, left: &Expr, right: &Expr) -> Option<Node> {
        if !is_same(&self.type_of(left)?, &self.type_of(right)?) {
            return None;
        }
        let sides = [self.node(left)?, self.node(right)?];
        Some(Node::Compare(comparison, Box::new(sides)))
    }

    fn in_list(&mut self, list: &InList) -> Option<Node> {
        let tested = self.type_of(&list.expr)?;
        // The general path may look floats up by their bits.
        if tested.is_floating() {
            return None;
        }
        for item in &list.list {
            if !is_same(&self.type_of(item)?, &tested) {
                return None;
            }
        }
        let items = self.nodes(&list.list)?;
        Some(Node::In(self.boxed(&list.expr)?, items, list.negated))
    }

    fn like(&mut self, like: &Like) -> Option<Node> {
        if like.case_insensitive || like.escape_char.is_some_and(|escape| escape != '\\') {
            return None;
        }
        let are_text =
            is_text(&self.type_of(&like.expr)?) && is_text(&self.type_of(&like.pattern)?);
        match self.node(&like.pattern)? {
            Node::Constant(Value::Text(pattern)) if are_text => {
                let pattern = Box::new(LikePattern::new(&pattern));
                Some(Node::Like(self.boxed(&like.expr)?, pattern, like.negated))
            }
            _ => None,
        }
    }

    fn case(&mut self, case: &Case) -> Option<Node> {
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
        // The general path may look floats up by their bits.
        if let Some(tested) = &case.expr
            && self.type_of(tested)?.is_floating()
        {
            return None;
        }
        for (when, then) in &case.when_then_expr {
            let condition = match &case.expr {
                Some(tested) => self.compare(Comparison::Equal, tested, when)?,
                None => self.node(when)?,
            };
            branches.push((condition, self.node(then)?));
        }
        let otherwise = match &case.else_expr {
            Some(otherwise) => Some(self.boxed(otherwise)?),
            None => None,
        };
        Some(Node::Case(branches, otherwise))
    }

    fn cast(&mut self, cast: &Cast) -> Option<Node> {
        let (from, to) = (self.type_of(&cast.expr)?, cast.field.data_type());
        if !is_known(to) {
            return None;
        }
        let inner = self.node(&cast.expr)?;
        if CastPlan::is_identity(&from, to) {
            return Some(inner);
        }
        let plan = Box::new(CastPlan::new(&from, to)?);
        Some(Node::Cast(plan, Box::new(inner)))
    }

    fn function(&mut self, call: &ScalarFunction, expr: &Expr) -> Option<Node> {
        let name = call.name();
        match (name, call.args.as_slice()) {
            // The function in the registry was made for this time zone.
            ("now", []) => {
                let zone = self.options.execution.time_zone.as_deref();
                return (zone == Some("+00:00")).then_some(Node::Now);
            }
            ("coalesce", parts) => return self.coalesce(parts, expr),
            ("decimal_digits", [inner]) => return Some(Node::Digits(self.boxed(inner)?)),
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
        let return_field = return_field
            .ok()
            .filter(|field| is_known(field.data_type()))?;
        Some(Node::Function(Box::new(FunctionCall {
            function: Arc::clone(&call.func),
            arguments: self.nodes(&call.args)?,
            argument_fields: fields,
            return_field,
            options: Arc::clone(self.options),
        })))
    }

    fn coalesce(&mut self, parts: &[Expr], expr: &Expr) -> Option<Node> {
        let result = self.type_of(expr)?;
        for part in parts {
            if !is_same(&self.type_of(part)?, &result) {
                return None;
            }
        }
        Some(Node::Coalesce(self.nodes(parts)?))
    }

    fn aggregate(&mut self, call: &AggregateFunction, expr: &Expr) -> Option<Node> {
        let params = &call.params;
        let is_plain = !params.distinct
            && params.filter.is_none()
            && params.order_by.is_empty()
            && params.null_treatment.is_none();
        let [argument] = params.args.as_slice() else {
            return None;
        };
        let aggregates = self.aggregates.take().filter(|_| is_plain)?;
        let is_counted = matches!(argument, Expr::Literal(value, _) if !value.is_null());
        let aggregate = match call.func.name() {
            "count" if is_counted => Some(Aggregate::count(None)),
            "count" => self.node(argument).map(|node| Aggregate::count(Some(node))),
            "checked_sum" => match (self.type_of(expr), self.node(argument)) {
                (Some(total), Some(node)) => Aggregate::sum(&total, node),
                _ => None,
            },
            name @ ("min" | "max") => match (self.type_of(expr), self.node(argument)) {
                (Some(result), Some(node)) if is_same(&result, &self.type_of(argument)?) => {
                    Aggregate::extreme(name == "max", &result, node)
                }
                _ => None,
            },
            _ => None,
        };
        aggregates.push(aggregate?);
        let slot = aggregates.len() - 1;
        self.aggregates = Some(aggregates);
        Some(Node::Column(slot))
    }
}

/// The number of a parameter `$n`, from 0.
pub(in crate::statement) fn parameter_number(placeholder: &Placeholder) -> Option<usize> {
    let number: usize = placeholder.id.strip_prefix('$')?.parse().ok()?;
    number.checked_sub(1)
}

fn literal(value: &ScalarValue) -> Option<Node> {
    let is_text = is_text(&value.data_type());
    let scalar: Scalar<'static> = Scalar::from_planned(value.clone())?;
    Some(Node::Constant(scalar.into_value(is_text).ok()?))
}

fn arithmetic(
    operator: Operator,
    left: &DataType,
    right: &DataType,
    sides: Box<[Node; 2]>,
) -> Option<Node> {
    match (left, right) {
        (DataType::Float64, DataType::Float64) => {
            Some(Node::Double(FloatOperator(operator), sides))
        }
        (DataType::Float32, DataType::Float32) => Some(Node::Real(FloatOperator(operator), sides)),
        (DataType::Decimal128(_, left), DataType::Decimal128(_, right)) => {
            let operation = DecimalOperation::new(operator, *left, *right)?;
            Some(Node::Decimal(operation, sides))
        }
        (left, right) if left == right => {
            Some(Node::Integer(IntegerOperation::new(operator, left)?, sides))
        }
        _ => None,
    }
}

fn checked_operator(name: &str) -> Option<Operator> {
    Some(match name {
        "checked_add" => Operator::Add,
        "checked_subtract" => Operator::Subtract,
        "checked_multiply" => Operator::Multiply,
        "checked_divide" => Operator::Divide,
        _ => return None,
    })
}

fn operator_of(operator: Planned) -> Option<Operator> {
    Some(match operator {
        Planned::Plus => Operator::Add,
        Planned::Minus => Operator::Subtract,
        Planned::Multiply => Operator::Multiply,
        Planned::Divide => Operator::Divide,
        Planned::Modulo => Operator::Remainder,
        _ => return None,
    })
}

fn comparison_of(operator: Planned) -> Option<Comparison> {
    Some(match operator {
        Planned::Eq => Comparison::Equal,
        Planned::NotEq => Comparison::NotEqual,
        Planned::Lt => Comparison::Less,
        Planned::LtEq => Comparison::LessOrEqual,
        Planned::Gt => Comparison::Greater,
        Planned::GtEq => Comparison::GreaterOrEqual,
        Planned::IsDistinctFrom => Comparison::Distinct,
        Planned::IsNotDistinctFrom => Comparison::NotDistinct,
        _ => return None,
    })
}
