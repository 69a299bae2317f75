//! Arrays in statements: columns have none, but clients compare with them, `id = ANY($1)`.
//!
//! 1. `x = ANY (ARRAY[a, b])` is `x IN (a, b)`, and `x <> ALL (…)` is `x NOT IN (…)`: lists are what scans and indexes understand.
//! 2. `'{1,2}'::INTEGER[]` is `ARRAY[…]` with elements of that type; so is `('{1,2}')::INTEGER[]`, as drivers write it that put
//!    values into the text themselves.
//! 3. While the types of parameters are looked for, `x = ANY ($1)` is `x IN ($1)`, and what is found is the type of elements.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Array, ArrayElemTypeDef, BinaryOperator, CastKind, DataType, Expr, Statement, Value, VisitorMut,
};

use super::walk::walk_mut;

/// Most elements of an array that a statement spells.
const ELEMENTS_MAX: usize = 1 << 20;

/// See the module, 1 and 2.
pub(super) fn rewrite(expr: &mut Expr) {
    spelled_to_array(expr);
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
            let elements = parse_array(literal_text(array)?)?;
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

fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(expr),
        data_type,
        array: false,
        format: None,
    }
}

/// The type of the elements of an array type.
pub(super) fn element_of(array: &ArrayElemTypeDef) -> Option<&DataType> {
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

/// `'{1,2}'::INTEGER[]` → `ARRAY[CAST('1' AS INTEGER), …]`; an empty one keeps its type by a cast.
fn spelled_to_array(expr: &mut Expr) {
    let Expr::Cast {
        kind: CastKind::Cast | CastKind::DoubleColon,
        expr: inner,
        data_type: DataType::Array(element_type),
        ..
    } = expr
    else {
        return;
    };
    if let Some(element_type) = element_of(element_type)
        && let Some(text) = literal_text(inner)
        && let Some(parsed) = parse_array(text)
    {
        let element_type = element_type.clone();
        let elem = parsed.into_iter().map(text_element);
        let elem: Vec<Expr> = elem.map(|one| cast(one, element_type.clone())).collect();
        let array = Expr::Array(Array { elem, named: true });
        **inner = array;
    }
}

/// See the module, 3: the numbers of the parameters that are arrays.
pub(crate) fn array_parameters(statement: &mut Statement) -> Vec<usize> {
    let mut finder = Finder::default();
    let _ = walk_mut(statement, &mut finder);
    finder.found
}

#[derive(Default)]
struct Finder {
    found: Vec<usize>,
}

impl VisitorMut for Finder {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let (left, right, negated) = match expr {
            Expr::AnyOp { left, right, .. } => (left, right, false),
            Expr::AllOp { left, right, .. } => (left, right, true),
            _ => return ControlFlow::Continue(()),
        };
        let mut parameter = right.as_ref();
        while let Expr::Nested(inner) = parameter {
            parameter = inner;
        }
        if let Expr::Value(value) = parameter
            && let Value::Placeholder(name) = &value.value
            && let Some(digits) = name.strip_prefix('$')
            && let Ok(number) = digits.parse()
        {
            self.found.push(number);
            let list = vec![parameter.clone()];
            let left = std::mem::replace(left, Box::new(null()));
            *expr = in_list(left, list, negated);
        }
        ControlFlow::Continue(())
    }
}

/// The elements of an array of one dimension as PostgreSQL spells it, `{1,NULL,"a b"}`; `None` when it is none.
pub(crate) fn parse_array(text: &str) -> Option<Vec<Option<String>>> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut elements = Vec::new();
    if inner.trim().is_empty() {
        return Some(elements);
    }
    let mut rest = inner;
    loop {
        let (element, behind) = parse_element(rest)?;
        elements.push(element);
        if elements.len() > ELEMENTS_MAX {
            return None;
        }
        match behind.strip_prefix(',') {
            Some(more) => rest = more,
            None => return behind.is_empty().then_some(elements),
        }
    }
}

/// One element, and what stands behind it and the blanks there.
fn parse_element(text: &str) -> Option<(Option<String>, &str)> {
    let text = text.trim_start();
    let is_quoted = text.starts_with('"');
    let mut element = String::new();
    let mut letters = text.char_indices().skip(usize::from(is_quoted));
    let mut end = text.len();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => element.push(letters.next()?.1),
            '"' if is_quoted => {
                let behind = text.get(at + 1..)?.trim_start();
                let ends = behind.is_empty() || behind.starts_with(',');
                return ends.then_some((Some(element), behind));
            }
            ',' if !is_quoted => {
                end = at;
                break;
            }
            // Arrays within arrays are another dimension.
            '"' | '{' | '}' if !is_quoted => return None,
            letter => element.push(letter),
        }
    }
    let element = element.trim_end();
    if is_quoted || element.is_empty() {
        return None;
    }
    let value = (!element.eq_ignore_ascii_case("null")).then(|| element.to_owned());
    Some((value, text.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::parse_array;

    #[test]
    fn arrays_are_read_as_postgresql_writes_them() {
        let some = |texts: &[&str]| Some(texts.iter().map(|one| Some((*one).to_owned())).collect());
        assert_eq!(parse_array("{1,2,3}"), some(&["1", "2", "3"]));
        assert_eq!(parse_array(" { 1 , \"a b\" } "), some(&["1", "a b"]));
        assert_eq!(
            parse_array(r#"{"a\"b","c\\d","","null"}"#),
            some(&["a\"b", "c\\d", "", "null"])
        );
        assert_eq!(parse_array("{}"), some(&[]));
        assert_eq!(parse_array("{NULL,x}"), Some(vec![None, Some("x".into())]));
        for wrong in [
            "",
            "1,2",
            "{1",
            "{1,}",
            "{,1}",
            "{\"a}",
            "{{1},{2}}",
            "{a\"b\"}",
            "{\"a\"b}",
            "{1}}",
        ] {
            assert_eq!(parse_array(wrong), None, "{wrong}");
        }
    }
}
