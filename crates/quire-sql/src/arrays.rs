//! Arrays in statements: columns have none, but clients compare with them, `id = ANY($1)`.
//!
//! 1. `x = ANY (ARRAY[a, b])` is `x IN (a, b)`, and `x <> ALL (…)` is `x NOT IN (…)`: lists are what scans and indexes understand.
//! 2. `'{1,2}'::INTEGER[]` is `ARRAY[…]` with elements of that type; so is `('{1,2}')::INTEGER[]`, as drivers write it that put
//!    values into the text themselves.
//! 3. `a[1:2][2]` is a call of a function of ours: where one subscript is a range, a single one is a range from 1.
//! 4. While the types of parameters are looked for, `x = ANY ($1)` is `x IN ($1)`, and what is found is the type of elements.

use datafusion::sql::sqlparser::ast::{
    AccessExpr, Array, ArrayElemTypeDef, BinaryOperator, CastKind, DataType, Expr, Statement,
    Subscript, Value,
};
use quire_functions::{ARRAY_SLICES, ArrayElement, elements_of, parse_array};

use super::calls::{call, cast};
use super::walk::change_expressions;

/// See the module, 1 to 3.
pub(super) fn rewrite(expr: &mut Expr) {
    spelled_to_array(expr);
    slices_to_call(expr);
    let list = match expr {
        Expr::AnyOp {
            left,
            compare_op: BinaryOperator::Eq,
            right,
            ..
        } => elements(right).map(|list| (left, list, false)),
        Expr::AllOp {
            left,
            compare_op: BinaryOperator::NotEq,
            right,
        } => elements(right).map(|list| (left, list, true)),
        _ => None,
    };
    if let Some((left, list, negated)) = list {
        let left = std::mem::replace(left, Box::new(null()));
        *expr = in_list(left, list, negated);
    }
}

/// `a[1:2][2]` → the call of [`ARRAY_SLICES`] with 1, 2, 1 and 2.
fn slices_to_call(expr: &mut Expr) {
    let Expr::CompoundFieldAccess { access_chain, .. } = expr else {
        return;
    };
    let is_slice =
        |access: &AccessExpr| matches!(access, AccessExpr::Subscript(Subscript::Slice { .. }));
    let is_field = |access: &&AccessExpr| matches!(access, AccessExpr::Dot(_));
    // `t.a[1:2]` begins with the name of a table.
    let field_count = access_chain.iter().take_while(is_field).count();
    let subscripts = &access_chain[field_count..];
    let ranges: Option<Vec<_>> = subscripts.iter().map(range_of).collect();
    if let Some(ranges) = ranges
        && subscripts.iter().any(is_slice)
    {
        access_chain.truncate(field_count);
        let bounds = ranges.into_iter().flatten();
        let array = match std::mem::replace(expr, null()) {
            Expr::CompoundFieldAccess { root, access_chain } if access_chain.is_empty() => *root,
            fields => fields,
        };
        *expr = call(ARRAY_SLICES, std::iter::once(array).chain(bounds).collect());
    }
}

/// First and last position of a subscript. What is left out is beyond the ends.
fn range_of(access: &AccessExpr) -> Option<[Expr; 2]> {
    let position = |number: i64| Expr::Value(Value::Number(number.to_string(), false).into());
    match access {
        AccessExpr::Subscript(Subscript::Index { index }) => Some([position(1), index.clone()]),
        AccessExpr::Subscript(Subscript::Slice {
            lower_bound,
            upper_bound,
            stride: None,
        }) => {
            let first = lower_bound.clone().unwrap_or_else(|| position(1));
            let last = upper_bound.clone().unwrap_or_else(|| position(i64::MAX));
            Some([first, last])
        }
        _ => None,
    }
}

fn in_list(expr: Box<Expr>, list: Vec<Expr>, negated: bool) -> Expr {
    if list.is_empty() {
        // Nothing is equal to one of none, and all of none are different.
        return Expr::Value(Value::Boolean(negated).into());
    }
    Expr::InList {
        expr,
        list,
        negated,
    }
}

fn null() -> Expr {
    Expr::Value(Value::Null.into())
}

/// The elements of an array that is spelled out; those of a NULL are one NULL, which makes the comparison NULL.
fn elements(array: &Expr) -> Option<Vec<Expr>> {
    match array {
        Expr::Nested(inner) => elements(inner),
        Expr::Array(Array { elem, .. }) => {
            let is_nested = elem.iter().any(|one| matches!(one, Expr::Array(_)));
            (!is_nested).then(|| elem.clone())
        }
        Expr::Value(value) if value.value == Value::Null => Some(vec![null()]),
        Expr::Value(_) => {
            let elements = elements_of(literal_text(array)?)?;
            Some(elements.into_iter().map(text_element).collect())
        }
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon,
            expr,
            data_type: DataType::Array(element_type),
            ..
        } => {
            let element_type = element_of(element_type)?;
            let list = elements(expr)?.into_iter();
            Some(list.map(|one| cast(one, element_type.clone())).collect())
        }
        _ => None,
    }
}

fn text_element(text: Option<String>) -> Expr {
    let value = text.map_or(Value::Null, Value::SingleQuotedString);
    Expr::Value(value.into())
}

/// The type of the elements of an array type.
pub fn element_of(array: &ArrayElemTypeDef) -> Option<&DataType> {
    match array {
        ArrayElemTypeDef::SquareBracket(element, _)
        | ArrayElemTypeDef::AngleBracket(element)
        | ArrayElemTypeDef::Parenthesis(element) => Some(element),
        ArrayElemTypeDef::None => None,
    }
}

/// The text of a literal, however it is quoted and in however many parentheses.
fn literal_text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Nested(inner) => literal_text(inner),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Some(text),
            Value::DollarQuotedString(text) => Some(&text.value),
            _ => None,
        },
        _ => None,
    }
}

/// `'{1,2}'::INTEGER[]` → `ARRAY[CAST('1' AS INTEGER), …]`; an empty one keeps its type by a cast. An array has as many dimensions as its text,
/// however many its type names.
fn spelled_to_array(expr: &mut Expr) {
    let Expr::Cast {
        kind: CastKind::Cast | CastKind::DoubleColon,
        expr: inner,
        data_type,
        ..
    } = expr
    else {
        return;
    };
    if let Some(element_type) = innermost(data_type)
        && let Some(text) = literal_text(inner)
        && let Some(parsed) = parse_array(text)
    {
        let element_type = element_type.clone();
        let dimensions = parsed
            .iter()
            .map(ArrayElement::dimensions)
            .max()
            .unwrap_or(0);
        **inner = spelled(parsed, &element_type);
        if dimensions > 0 {
            let dimensions = 0..dimensions;
            *data_type = dimensions.fold(array_of(element_type), |inner, _| array_of(inner));
        }
    }
}

/// The type of the elements of an array of any number of dimensions.
fn innermost(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::Array(element) => {
            let element = element_of(element)?;
            Some(innermost(element).unwrap_or(element))
        }
        _ => None,
    }
}

fn array_of(element: DataType) -> DataType {
    DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(element), None))
}

fn spelled(elements: Vec<ArrayElement>, element_type: &DataType) -> Expr {
    let elements = elements.into_iter().map(|element| match element {
        ArrayElement::Null => cast(null(), element_type.clone()),
        ArrayElement::Text(text) => cast(text_element(Some(text)), element_type.clone()),
        ArrayElement::Array(inner) => spelled(inner, element_type),
    });
    Expr::Array(Array {
        elem: elements.collect(),
        named: true,
    })
}

/// See the module, 4: the numbers of the parameters that are arrays.
pub fn array_parameters(statement: &mut Statement) -> Vec<usize> {
    let mut found = Vec::new();
    change_expressions(statement, |expr| found.extend(parameter_to_list(expr)));
    found
}

fn parameter_to_list(expr: &mut Expr) -> Option<usize> {
    let (left, right, negated) = match expr {
        Expr::AnyOp { left, right, .. } => (left, right, false),
        Expr::AllOp { left, right, .. } => (left, right, true),
        _ => return None,
    };
    let mut parameter = right.as_ref();
    while let Expr::Nested(inner) = parameter {
        parameter = inner;
    }
    let Expr::Value(value) = parameter else {
        return None;
    };
    let Value::Placeholder(name) = &value.value else {
        return None;
    };
    let number = name.strip_prefix('$')?.parse().ok()?;
    let list = vec![parameter.clone()];
    let left = std::mem::replace(left, Box::new(null()));
    *expr = in_list(left, list, negated);
    Some(number)
}
