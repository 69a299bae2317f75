//! Expressions with settled types: casts, functions and comparisons of times.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, TimeUnit};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, DFSchemaRef, Result, ScalarValue};
use datafusion::logical_expr::expr::{
    AggregateFunction, InList, InSubquery, ScalarFunction, SetComparison, WindowFunction,
};
use datafusion::logical_expr::{
    AggregateUDF, Between, BinaryExpr, Case, Cast, Expr, ExprSchemable, LogicalPlan, Projection,
    Subquery, Union, Values, WindowFunctionDefinition, cast, lit, when,
};

use quire_functions::{
    IntervalAggregate, TimeKind, as_planner_part, chosen_interval, interval_length,
    interval_negative, seconds_to_instant, time_cast,
};

/// An expression whose parts have been settled.
pub(crate) fn settle_expression(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    Ok(match expr {
        Expr::Cast(cast) => settle_cast(cast, schema)?,
        Expr::Literal(ScalarValue::TimestampNanosecond(value, zone), _) => {
            let micros = value.map(|value| value.div_euclid(1_000));
            let literal = ScalarValue::TimestampMicrosecond(micros, zone);
            Transformed::yes(Expr::Literal(literal, None))
        }
        Expr::ScalarFunction(call) => settle_call(call, schema)?,
        Expr::Negative(inner) if is_interval(&inner, schema) => {
            Transformed::yes(interval_negative(*inner))
        }
        Expr::AggregateFunction(call) => settle_aggregate(call, schema),
        Expr::InSubquery(test) if is_interval(&test.expr, schema) => {
            Transformed::yes(Expr::InSubquery(InSubquery {
                expr: length_of(test.expr),
                subquery: lengths(test.subquery)?,
                negated: test.negated,
            }))
        }
        Expr::SetComparison(test) if is_interval(&test.expr, schema) => {
            Transformed::yes(Expr::SetComparison(SetComparison {
                expr: length_of(test.expr),
                subquery: lengths(test.subquery)?,
                ..test
            }))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if op.supports_propagation()
                && is_interval(&left, schema)
                && is_interval(&right, schema) =>
        {
            let (left, right) = (length_of(left), length_of(right));
            Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op, right }))
        }
        Expr::Between(between) if is_interval(&between.expr, schema) => {
            Transformed::yes(Expr::Between(Between {
                expr: length_of(between.expr),
                low: length_of(between.low),
                high: length_of(between.high),
                negated: between.negated,
            }))
        }
        Expr::InList(list) if is_interval(&list.expr, schema) => {
            let items = list.list.into_iter().map(interval_length);
            Transformed::yes(Expr::InList(InList {
                expr: length_of(list.expr),
                list: items.collect(),
                negated: list.negated,
            }))
        }
        Expr::Case(case) => settle_case(case, schema),
        other => Transformed::no(other),
    })
}

pub(super) fn is_interval(expr: &Expr, schema: &DFSchema) -> bool {
    matches!(expr.get_type(schema), Ok(DataType::Interval(_)))
}

fn length_of(mut interval: Box<Expr>) -> Box<Expr> {
    *interval = interval_length(std::mem::take(&mut *interval));
    interval
}

/// A type in microseconds.
fn in_micros(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            Some(DataType::Timestamp(TimeUnit::Microsecond, zone.clone()))
        }
        DataType::Time64(TimeUnit::Nanosecond) => Some(DataType::Time64(TimeUnit::Microsecond)),
        _ => None,
    }
}

fn settle_cast(cast: Cast, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let from = cast.expr.get_type(schema)?;
    let wanted = cast.field.data_type();
    let to = in_micros(wanted).unwrap_or_else(|| wanted.clone());
    let is_of_time = TimeKind::of(&from).is_some() || TimeKind::of(&to).is_some();
    if !is_of_time {
        return Ok(Transformed::no(Expr::Cast(cast)));
    }
    if from == to {
        return Ok(Transformed::yes(*cast.expr));
    }
    let text = matches!(to, DataType::Utf8 | DataType::LargeUtf8);
    match time_cast(cast.expr.as_ref().clone(), &from, &to) {
        // The function gives text of one type.
        Some(call) if text => Ok(Transformed::yes(datafusion::logical_expr::cast(call, to))),
        Some(call) => Ok(Transformed::yes(call)),
        None if to != *wanted => {
            let cast = datafusion::logical_expr::cast(*cast.expr, to);
            Ok(Transformed::yes(cast))
        }
        None => Ok(Transformed::no(Expr::Cast(cast))),
    }
}

fn settle_call(call: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let first = call.args.first().map(|argument| argument.get_type(schema));
    let first = first.and_then(Result::ok);
    let is_instant = |data_type: &DataType| TimeKind::of(data_type) == Some(TimeKind::Instant);
    let local = TimeKind::Timestamp.data_type();
    match (call.name(), call.args.as_slice()) {
        ("greatest" | "least", [choice, ..]) if is_interval(choice, schema) => {
            let is_greatest = call.name() == "greatest";
            return Ok(Transformed::yes(chosen_interval(is_greatest, call.args)));
        }
        ("nullif", [left, right]) if is_interval(left, schema) => {
            let (length, other) = (
                interval_length(left.clone()),
                interval_length(right.clone()),
            );
            let mut value = when(
                length.eq(other),
                lit(ScalarValue::IntervalMonthDayNano(None)),
            );
            return Ok(Transformed::yes(value.otherwise(left.clone())?));
        }
        ("extract" | "time_part", [_, moment]) => {
            if let Ok(data_type) = moment.get_type(schema)
                && let Some(part) = as_planner_part(&call.args, &data_type)
            {
                return Ok(Transformed::yes(part));
            }
        }
        ("to_timestamp", [moment]) => {
            if let Some(call) = first.and_then(|first| instant_of(moment.clone(), &first)) {
                return Ok(Transformed::yes(call));
            }
        }
        ("to_local_time", [moment]) if first.as_ref().is_some_and(is_instant) => {
            let instant = TimeKind::Instant.data_type();
            let cast = time_cast(moment.clone(), &instant, &local);
            return Ok(cast.map_or(
                Transformed::no(Expr::ScalarFunction(call)),
                Transformed::yes,
            ));
        }
        ("to_char" | "date_format", [moment, pattern])
            if first.as_ref().is_some_and(is_instant) =>
        {
            let instant = TimeKind::Instant.data_type();
            if let Some(moment) = time_cast(moment.clone(), &instant, &local) {
                let args = vec![moment, pattern.clone()];
                let call = ScalarFunction::new_udf(call.func, args);
                return Ok(Transformed::yes(Expr::ScalarFunction(call)));
            }
        }
        _ => {}
    }
    let expr = Expr::ScalarFunction(call);
    match in_micros(&expr.get_type(schema)?) {
        Some(micros) => Ok(Transformed::yes(cast(expr, micros))),
        None => Ok(Transformed::no(expr)),
    }
}

/// `to_timestamp(x)` of seconds, or of a text or another time.
fn instant_of(moment: Expr, data_type: &DataType) -> Option<Expr> {
    if data_type.is_numeric() {
        return Some(seconds_to_instant(cast(moment, DataType::Float64)));
    }
    time_cast(moment, data_type, &TimeKind::Instant.data_type())
}

/// The aggregate of intervals for one that is called on them.
fn of_intervals(name: &str, arguments: &[Expr], schema: &DFSchema) -> Option<Arc<AggregateUDF>> {
    match arguments {
        [argument] if is_interval(argument, schema) => {
            let aggregate = IntervalAggregate::named(name)?;
            Some(Arc::new(AggregateUDF::from(aggregate)))
        }
        _ => None,
    }
}

fn settle_aggregate(mut call: AggregateFunction, schema: &DFSchema) -> Transformed<Expr> {
    if let Some(func) = of_intervals(call.func.name(), &call.params.args, schema) {
        call.func = func;
        return Transformed::yes(Expr::AggregateFunction(call));
    }
    let is_distinct_count = call.func.name() == "count" && call.params.distinct;
    match call.params.args.as_slice() {
        [argument] if is_distinct_count && is_interval(argument, schema) => {
            call.params.args = call.params.args.into_iter().map(interval_length).collect();
            Transformed::yes(Expr::AggregateFunction(call))
        }
        _ => Transformed::no(Expr::AggregateFunction(call)),
    }
}

pub(super) fn settle_window(mut call: Box<WindowFunction>, schema: &DFSchema) -> Transformed<Expr> {
    let mut is_changed = false;
    if let WindowFunctionDefinition::AggregateUDF(aggregate) = &call.fun
        && let Some(func) = of_intervals(aggregate.name(), &call.params.args, schema)
    {
        call.fun = WindowFunctionDefinition::AggregateUDF(func);
        is_changed = true;
    }
    let sorted = call.params.order_by.iter_mut().map(|sort| &mut sort.expr);
    for key in call.params.partition_by.iter_mut().chain(sorted) {
        if is_interval(key, schema) {
            *key = interval_length(std::mem::take(key));
            is_changed = true;
        }
    }
    let expr = Expr::WindowFunction(call);
    if is_changed {
        Transformed::yes(expr)
    } else {
        Transformed::no(expr)
    }
}

/// The lengths of the intervals that a subquery finds.
fn lengths(subquery: Subquery) -> Result<Subquery> {
    let rows = subquery.subquery;
    let column = Expr::from(rows.schema().qualified_field(0));
    let length = interval_length(column).alias("length");
    let lengths = LogicalPlan::Projection(Projection::try_new(vec![length], rows)?);
    Ok(Subquery {
        subquery: Arc::new(lengths),
        ..subquery
    })
}

fn settle_case(case: Case, schema: &DFSchema) -> Transformed<Expr> {
    let Some(tested) = case
        .expr
        .clone()
        .filter(|tested| is_interval(tested, schema))
    else {
        return Transformed::no(Expr::Case(case));
    };
    let branches = case.when_then_expr.into_iter();
    Transformed::yes(Expr::Case(Case {
        expr: Some(length_of(tested)),
        when_then_expr: branches
            .map(|(when, then)| (length_of(when), then))
            .collect(),
        else_expr: case.else_expr,
    }))
}

/// Nodes that keep a schema of their own, beside their expressions or inputs: in microseconds, and NULL where an input may be.
pub(super) fn settle_schema(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    Ok(match plan {
        LogicalPlan::Values(values) => match settled(&values.schema, |_| false)? {
            Some(schema) => Transformed::yes(LogicalPlan::Values(Values { schema, ..values })),
            None => Transformed::no(LogicalPlan::Values(values)),
        },
        LogicalPlan::Union(union) => {
            let is_nullable = |place: usize| {
                let fields = union.inputs.iter();
                let mut fields = fields.filter_map(|input| input.schema().fields().get(place));
                fields.any(|field| field.is_nullable())
            };
            match settled(&union.schema, is_nullable)? {
                Some(schema) => Transformed::yes(LogicalPlan::Union(Union { schema, ..union })),
                None => Transformed::no(LogicalPlan::Union(union)),
            }
        }
        other => Transformed::no(other),
    })
}

/// A schema with other types, or other columns that may be NULL; `None` when it is as it should be.
fn settled(
    schema: &DFSchemaRef,
    is_nullable: impl Fn(usize) -> bool,
) -> Result<Option<DFSchemaRef>> {
    let wanted = |(place, field): (usize, &Arc<Field>)| {
        let micros = in_micros(field.data_type());
        let becomes_nullable = !field.is_nullable() && is_nullable(place);
        if micros.is_none() && !becomes_nullable {
            return None;
        }
        let data_type = micros.unwrap_or_else(|| field.data_type().clone());
        let nullable = field.is_nullable() || becomes_nullable;
        let settled = field.as_ref().clone().with_data_type(data_type);
        Some(Arc::new(settled.with_nullable(nullable)))
    };
    let fields: Vec<_> = schema.fields().iter().enumerate().map(wanted).collect();
    if fields.iter().all(Option::is_none) {
        return Ok(None);
    }
    let pairs = schema.iter().zip(fields);
    let fields = pairs.map(|((qualifier, field), settled)| {
        let field = settled.unwrap_or_else(|| Arc::clone(field));
        (qualifier.cloned(), field)
    });
    let settled = DFSchema::new_with_metadata(fields.collect(), schema.metadata().clone())?;
    Ok(Some(Arc::new(settled)))
}
