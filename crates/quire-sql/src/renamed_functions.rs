//! Functions of PostgreSQL's that the planner knows by another name, or can compose.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType, ExactNumberInfo, Expr, Function, FunctionArg,
    FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Ident, Interval, ObjectName,
    OrderByExpr, TimezoneInfo, Value,
};

use super::calls::{call, cast};
use super::names::last_part;

/// PostgreSQL's name, and the planner's.
const OTHER_NAMES: [(&str, &str); 6] = [
    ("sign", "signum"),
    ("ceiling", "ceil"),
    ("gen_random_uuid", "uuid"),
    ("variance", "var_samp"),
    ("every", "bool_and"),
    ("ifnull", "coalesce"),
];

/// Rewrites one expression whose parts have been rewritten.
pub(super) fn rewrite(expr: &mut Expr) {
    if let Some(time) = time_expression(expr) {
        *expr = time;
        return;
    }
    if let Expr::Identifier(name) = expr
        && name.quote_style.is_none()
        && let Some(time) = local_time(&name.value)
    {
        *expr = time;
        return;
    }
    let Expr::Function(function) = expr else {
        return;
    };
    let Some(name) = last_part(&function.name) else {
        return;
    };
    if let Some((_, planners)) = OTHER_NAMES.iter().find(|(other, _)| *other == name) {
        function.name = ObjectName::from(vec![Ident::new(*planners)]);
        return;
    }
    let replaced = match name.as_str() {
        "div" => quotient(function),
        "percentile_disc" => discrete_percentile(function),
        "to_char" | "to_timestamp" | "to_date" => by_pattern(&name, function),
        "localtimestamp" | "localtime" | "current_date" | "current_time" => local_time(&name),
        _ => None,
    };
    if let Some(replaced) = replaced {
        *expr = replaced;
    }
}

/// What has a syntax of its own and is a function or a cast: `EXTRACT(f FROM x)`, `x AT TIME ZONE z`, `INTERVAL '1' DAY`.
fn time_expression(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Extract { field, expr, .. } => {
            let field = field.to_string();
            let field = field.trim_matches(['\'', '"']).to_owned();
            Some(call("extract", vec![text(field), expr.as_ref().clone()]))
        }
        Expr::AtTimeZone {
            timestamp,
            time_zone,
        } => {
            let arguments = vec![time_zone.as_ref().clone(), timestamp.as_ref().clone()];
            Some(call("timezone", arguments))
        }
        Expr::Interval(interval) => interval_value(interval),
        Expr::TypedString(typed) => {
            let written = Expr::Value(typed.value.clone());
            clock_time(&written, &typed.data_type).or_else(|| in_fields(written, &typed.data_type))
        }
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon,
            expr,
            data_type,
            ..
        } => clock_time(expr, data_type).or_else(|| in_fields(expr.as_ref().clone(), data_type)),
        _ => None,
    }
}

/// `TIMESTAMP 'now'`, `DATE 'today'`, `'tomorrow'::DATE`: what clocks show when the transaction begins.
fn clock_time(written: &Expr, data_type: &DataType) -> Option<Expr> {
    let Expr::Value(value) = written else {
        return None;
    };
    let Value::SingleQuotedString(written) = &value.value else {
        return None;
    };
    let is_time = matches!(
        data_type,
        DataType::Date
            | DataType::Timestamp(..)
            | DataType::TimestampNtz(_)
            | DataType::Time(..)
            | DataType::Datetime(_)
    );
    let now = call("now", Vec::new());
    let days = match written.trim().to_lowercase().as_str() {
        "now" if is_time => return Some(cast(now, data_type.clone())),
        "today" => 0,
        "tomorrow" => 1,
        "yesterday" => -1,
        _ => return None,
    };
    let is_day = is_time && !matches!(data_type, DataType::Time(..));
    let today = Box::new(cast(now, DataType::Date));
    let days = Box::new(Expr::Value(Value::Number(days.to_string(), false).into()));
    let day = Expr::BinaryOp {
        left: today,
        op: BinaryOperator::Plus,
        right: days,
    };
    let day = Expr::Nested(Box::new(day));
    is_day.then(|| cast(day, data_type.clone()))
}

fn text(text: String) -> Expr {
    Expr::Value(Value::SingleQuotedString(text).into())
}

/// `INTERVAL '1' DAY` is an interval of that text; others with fields or a precision are read by a function of ours.
fn interval_value(interval: &Interval) -> Option<Expr> {
    let Expr::Value(value) = interval.value.as_ref() else {
        return None;
    };
    let written = match &value.value {
        Value::SingleQuotedString(written) => written.trim(),
        Value::Number(digits, _) => digits.as_str(),
        _ => return None,
    };
    let precision = interval
        .fractional_seconds_precision
        .or(interval.leading_precision);
    let first = interval.leading_field.as_ref();
    let (Some(first), None, None) = (first, &interval.last_field, precision) else {
        let fields = [first, interval.last_field.as_ref()];
        let fields: Vec<String> = fields.iter().flatten().map(ToString::to_string).collect();
        return Some(match (fields.is_empty(), precision) {
            (true, None) => plain_interval(written.to_owned()),
            _ => fields_call(text(written.to_owned()), &fields.join(" TO "), precision),
        });
    };
    Some(match written.parse::<i32>() {
        Ok(_) => plain_interval(format!("{written} {first}")),
        Err(_) => fields_call(text(written.to_owned()), &first.to_string(), None),
    })
}

fn plain_interval(written: String) -> Expr {
    let fields = None;
    let precision = None;
    cast(text(written), DataType::Interval { fields, precision })
}

/// A cast to an interval of certain fields, or with so many digits of a second.
fn in_fields(expr: Expr, data_type: &DataType) -> Option<Expr> {
    match data_type {
        DataType::Interval {
            fields: None,
            precision: None,
        } => None,
        DataType::Interval { fields, precision } => {
            let fields = fields.as_ref().map(ToString::to_string);
            Some(fields_call(expr, &fields.unwrap_or_default(), *precision))
        }
        _ => None,
    }
}

fn fields_call(expr: Expr, fields: &str, precision: Option<u64>) -> Expr {
    let digits = precision.unwrap_or(6).to_string();
    let digits = Expr::Value(Value::Number(digits, false).into());
    call(
        "interval_in_fields",
        vec![expr, text(fields.to_owned()), digits],
    )
}

/// `localtimestamp`, `localtime`, `current_date`: what clocks show where the session is.
fn local_time(name: &str) -> Option<Expr> {
    let data_type = match name.to_lowercase().as_str() {
        "localtimestamp" => DataType::Timestamp(None, TimezoneInfo::None),
        "localtime" | "current_time" => DataType::Time(None, TimezoneInfo::None),
        "current_date" => DataType::Date,
        _ => return None,
    };
    Some(cast(call("now", Vec::new()), data_type))
}

/// `to_char(x, 'YYYY-MM-DD')`; a pattern with `%` is one of `strftime`, which the planner's function takes.
fn by_pattern(name: &str, function: &Function) -> Option<Expr> {
    let [moment, pattern] = arguments(function)?.try_into().ok()?;
    let is_other = match &pattern {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => text.contains('%'),
            _ => false,
        },
        _ => false,
    };
    (!is_other).then(|| call(&format!("{name}_by_pattern"), vec![moment, pattern]))
}

/// `div(a, b)` → the quotient without its fraction, as a number without one.
fn quotient(function: &Function) -> Option<Expr> {
    let [dividend, divisor] = arguments(function)?.try_into().ok()?;
    let nested = |operand: &Expr| Box::new(Expr::Nested(Box::new(operand.clone())));
    let binary = |left: Box<Expr>, op, right: Box<Expr>| Expr::BinaryOp { left, op, right };
    let rest = binary(nested(&dividend), BinaryOperator::Modulo, nested(&divisor));
    let multiple = binary(nested(&dividend), BinaryOperator::Minus, nested(&rest));
    let quotient = binary(nested(&multiple), BinaryOperator::Divide, nested(&divisor));
    let whole = ExactNumberInfo::PrecisionAndScale(38, 0);
    Some(cast(
        Expr::Nested(Box::new(quotient)),
        DataType::Decimal(whole),
    ))
}

/// `percentile_disc(p) WITHIN GROUP (ORDER BY x)`, the first value of which at least the fraction `p` of all are no further on:
/// the element number `ceil(p * count(x))` of the ordered values, and the first for 0.
fn discrete_percentile(function: &Function) -> Option<Expr> {
    let [fraction] = arguments(function)?.try_into().ok()?;
    let [order] = function.within_group.as_slice() else {
        return None;
    };
    if function.over.is_some() || !is_fraction(&fraction) {
        return None;
    }
    let is_value = Expr::IsNotNull(Box::new(Expr::Nested(Box::new(order.expr.clone()))));
    let filter = match &function.filter {
        Some(filter) => Expr::BinaryOp {
            left: Box::new(Expr::Nested(filter.clone())),
            op: BinaryOperator::And,
            right: Box::new(is_value),
        },
        None => is_value,
    };
    let values = aggregate("array_agg", order, Some(order.clone()), &filter)?;
    let count = aggregate("count", order, None, &filter)?;
    let place = Expr::BinaryOp {
        left: Box::new(Expr::Nested(Box::new(fraction))),
        op: BinaryOperator::Multiply,
        right: Box::new(count),
    };
    let place = cast(call("ceil", vec![place]), DataType::BigInt(None));
    let one = Expr::Value(Value::Number("1".to_owned(), false).into());
    Some(call(
        "array_element",
        vec![values, call("greatest", vec![place, one])],
    ))
}

/// Whether a number that is written out is from 0 to 1; others are refused.
fn is_fraction(expr: &Expr) -> bool {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits
                .parse::<f64>()
                .is_ok_and(|fraction| (0.0..=1.0).contains(&fraction)),
            _ => false,
        },
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => is_fraction(inner),
        _ => false,
    }
}

fn aggregate(
    name: &str,
    of: &OrderByExpr,
    order: Option<OrderByExpr>,
    filter: &Expr,
) -> Option<Expr> {
    let Expr::Function(mut function) = call(name, vec![of.expr.clone()]) else {
        return None;
    };
    if let FunctionArguments::List(list) = &mut function.args {
        let order = order.map(|order| FunctionArgumentClause::OrderBy(vec![order]));
        list.clauses.extend(order);
    }
    function.filter = Some(Box::new(filter.clone()));
    Some(Expr::Function(function))
}

/// The arguments, if they are plain ones.
fn arguments(function: &Function) -> Option<Vec<Expr>> {
    let FunctionArguments::List(list) = &function.args else {
        return None;
    };
    let plain = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    });
    plain.collect()
}
