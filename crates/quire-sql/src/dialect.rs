//! The grammar that statements are read by: PostgreSQL's as `sqlparser` knows it, with eight of its faults repaired.
//!
//! 1. `a IS DISTINCT FROM b AND c`: the right operand ends before `AND` and `OR`, which bind less tightly than `IS`.
//! 2. `a = ANY (VALUES (1), (2))` and `a = ANY ((SELECT 1) UNION (SELECT 2))` compare with the rows of a query.
//! 3. `a IN ((SELECT 1), 2)` is a list that begins with a scalar subquery.
//! 4. `INTERVAL(2) '1.234'` keeps its precision.
//! 5. `~ a + 1` is `~ (a + 1)`.
//! 6. `'1 day'::INTERVAL PRECEDING` is an offset of a frame.
//! 7. `a>-1` compares with -1, and `a>/* … */1` with 1: signs and comments are no parts of an operator that is not known otherwise.
//! 8. `EXPLAIN (SELECT 1)` has a query in its parentheses, and no options.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Interval, Query, UnaryOperator, Value,
};
use datafusion::sql::sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

/// PostgreSQL's dialect with our repairs. It says that it is PostgreSQL's to all who ask for its type.
#[derive(Debug, Default)]
pub(crate) struct QuireDialect {
    postgresql: PostgreSqlDialect,
    /// `EXPLAIN (SELECT …)`
    pub(crate) explains_in_parentheses: bool,
}

type Infix = Option<Result<Expr, ParserError>>;

/// Answers of PostgreSQL's dialect that differ from the defaults of the trait.
macro_rules! as_postgresql {
    ($($name:ident,)*) => {
        $(fn $name(&self) -> bool {
            self.postgresql.$name()
        })*
    };
}

impl Dialect for QuireDialect {
    fn dialect(&self) -> std::any::TypeId {
        self.postgresql.dialect()
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        self.postgresql.identifier_quote_style(identifier)
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        self.postgresql.is_delimited_identifier_start(ch)
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        self.postgresql.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        self.postgresql.is_identifier_part(ch)
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        self.postgresql.is_reserved_for_identifier(keyword)
    }

    fn is_custom_operator_part(&self, ch: char) -> bool {
        !matches!(ch, '+' | '-' | '*' | '/') && self.postgresql.is_custom_operator_part(ch)
    }

    fn supports_explain_with_utility_options(&self) -> bool {
        !self.explains_in_parentheses
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        self.postgresql.get_next_precedence(parser)
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        self.postgresql.prec_value(precedence)
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Infix {
        interval_of_precision(parser)
            .or_else(|| minus_of_minus(self, parser))
            .or_else(|| complement(self, parser))
            .or_else(|| interval_of_frame(parser))
    }

    fn parse_infix(&self, parser: &mut Parser, left: &Expr, _: u8) -> Infix {
        if let Some(is_negated) = distinct_from(parser) {
            let right = parser.parse_subexpr(self.prec_value(Precedence::Is));
            return Some(right.map(|right| {
                let (left, right) = (Box::new(left.clone()), Box::new(right));
                if is_negated {
                    Expr::IsNotDistinctFrom(left, right)
                } else {
                    Expr::IsDistinctFrom(left, right)
                }
            }));
        }
        quantified(parser, left).or_else(|| list_with_subquery(parser, left))
    }

    as_postgresql! {
        supports_unicode_string_literal,
        supports_filter_during_aggregation,
        supports_group_by_expr,
        allow_extract_custom,
        allow_extract_single_quotes,
        supports_create_index_with_clause,
        supports_listen_notify,
        supports_factorial_operator,
        supports_bitwise_shift_operators,
        supports_comment_on,
        supports_load_extension,
        supports_named_fn_args_with_colon_operator,
        supports_named_fn_args_with_expr_name,
        supports_empty_projections,
        supports_nested_comments,
        supports_string_escape_constant,
        supports_numeric_literal_underscores,
        supports_array_typedef_with_brackets,
        supports_geometric_types,
        supports_set_names,
        supports_alter_column_type_using,
        supports_notnull_operator,
        supports_interval_options,
        supports_insert_table_alias,
        supports_create_table_like_parenthesized,
        supports_select_wildcard_with_alias,
        supports_comma_separated_trim,
        supports_xml_expressions,
        supports_comment_optimizer_hint,
    }
}

/// `INTERVAL(2) '1.234'`
fn interval_of_precision(parser: &mut Parser) -> Infix {
    if keyword(parser, 0) != Some(Keyword::INTERVAL) {
        return None;
    }
    let tokens = [1, 2, 3, 4].map(|nth| parser.peek_nth_token_ref(nth).token.clone());
    let [
        Token::LParen,
        Token::Number(digits, _),
        Token::RParen,
        Token::SingleQuotedString(text),
    ] = tokens
    else {
        return None;
    };
    let precision = digits.parse().ok()?;
    (0..5).for_each(|_| parser.advance_token());
    Some(Ok(Expr::Interval(Interval {
        value: Box::new(Expr::Value(Value::SingleQuotedString(text).into())),
        leading_field: None,
        leading_precision: Some(precision),
        last_field: None,
        fractional_seconds_precision: None,
    })))
}

/// `- -5` as `-(-5)`. Printed without parentheses, as in the text of a view, two signs would begin a comment.
fn minus_of_minus(dialect: &impl Dialect, parser: &mut Parser) -> Infix {
    let is_minus = |nth| parser.peek_nth_token_ref(nth).token == Token::Minus;
    if !is_minus(0) || !is_minus(1) {
        return None;
    }
    parser.advance_token();
    let operand = parser.parse_subexpr(dialect.prec_value(Precedence::MulDivModOp));
    Some(operand.map(|operand| Expr::UnaryOp {
        op: UnaryOperator::Minus,
        expr: Box::new(Expr::Nested(Box::new(operand))),
    }))
}

/// `~ a + 1` is `~ (a + 1)`, as before any operator that is not the standard's.
fn complement(dialect: &impl Dialect, parser: &mut Parser) -> Infix {
    if parser.peek_token_ref().token != Token::Tilde {
        return None;
    }
    parser.advance_token();
    let operand = parser.parse_subexpr(dialect.prec_value(Precedence::PgOther));
    Some(operand.map(|operand| Expr::UnaryOp {
        op: UnaryOperator::BitwiseNot,
        expr: Box::new(operand),
    }))
}

/// `'1 day'::INTERVAL` before `PRECEDING` or `FOLLOWING`. The parser takes a text there for an interval already.
fn interval_of_frame(parser: &mut Parser) -> Infix {
    let is_text = matches!(parser.peek_token_ref().token, Token::SingleQuotedString(_));
    let is_cast = parser.peek_nth_token_ref(1).token == Token::DoubleColon
        && keyword(parser, 2) == Some(Keyword::INTERVAL);
    let is_offset = matches!(
        keyword(parser, 3),
        Some(Keyword::PRECEDING | Keyword::FOLLOWING)
    );
    if !is_text || !is_cast || !is_offset {
        return None;
    }
    let text = parser.parse_value();
    (0..2).for_each(|_| parser.advance_token());
    Some(text.map(Expr::Value))
}

/// Consumes `IS [NOT] DISTINCT FROM`; says whether it is negated.
fn distinct_from(parser: &mut Parser) -> Option<bool> {
    if parser.parse_keywords(&[Keyword::IS, Keyword::DISTINCT, Keyword::FROM]) {
        return Some(false);
    }
    let negated = [Keyword::IS, Keyword::NOT, Keyword::DISTINCT, Keyword::FROM];
    parser.parse_keywords(&negated).then_some(true)
}

/// A comparison with `ANY`, `SOME` or `ALL` of a query that does not begin with `SELECT` or `WITH`, which the parser reads by itself.
fn quantified(parser: &mut Parser, left: &Expr) -> Infix {
    let compare_op = comparison(&parser.peek_token_ref().token)?;
    let quantifier = keyword(parser, 1)?;
    let is_any = match quantifier {
        Keyword::ANY | Keyword::SOME => true,
        Keyword::ALL => false,
        _ => return None,
    };
    let begins_otherwise = parser.peek_nth_token_ref(3).token == Token::LParen
        || keyword(parser, 3) == Some(Keyword::VALUES);
    if parser.peek_nth_token_ref(2).token != Token::LParen || !begins_otherwise {
        return None;
    }
    let query = attempt(parser, |parser| {
        (0..3).for_each(|_| parser.advance_token());
        closed_query(parser)
    })?;
    Some(query.map(|query| {
        let (left, right) = (Box::new(left.clone()), Box::new(Expr::Subquery(query)));
        if is_any {
            Expr::AnyOp {
                left,
                compare_op,
                right,
                is_some: quantifier == Keyword::SOME,
            }
        } else {
            Expr::AllOp {
                left,
                compare_op,
                right,
            }
        }
    }))
}

/// `IN ((…), …)`: a list, unless all of it is one query.
fn list_with_subquery(parser: &mut Parser, left: &Expr) -> Infix {
    let negated = keyword(parser, 0) == Some(Keyword::NOT);
    let first = usize::from(negated);
    let is_nested = keyword(parser, first) == Some(Keyword::IN)
        && (1..3).all(|nth| parser.peek_nth_token_ref(first + nth).token == Token::LParen);
    if !is_nested {
        return None;
    }
    let is_query = attempt(parser, |parser| {
        (0..first + 2).for_each(|_| parser.advance_token());
        closed_query(parser)
    });
    if let Some(query) = is_query {
        return Some(query.map(|subquery| Expr::InSubquery {
            expr: Box::new(left.clone()),
            subquery,
            negated,
        }));
    }
    (0..first + 2).for_each(|_| parser.advance_token());
    let list = parser.parse_comma_separated(Parser::parse_expr);
    let list = list.and_then(|list| parser.expect_token(&Token::RParen).map(|_| list));
    Some(list.map(|list| Expr::InList {
        expr: Box::new(left.clone()),
        list,
        negated,
    }))
}

/// A query and the parenthesis that closes it.
fn closed_query(parser: &mut Parser) -> Result<Box<Query>, ParserError> {
    let query = parser.parse_query()?;
    parser.expect_token(&Token::RParen)?;
    Ok(query)
}

/// What `parse` reads; the parser stays where it was if this is not there.
fn attempt<T>(
    parser: &mut Parser,
    parse: impl FnMut(&mut Parser) -> Result<T, ParserError>,
) -> Option<Result<T, ParserError>> {
    parser.maybe_parse(parse).transpose()
}

fn keyword(parser: &Parser, nth: usize) -> Option<Keyword> {
    match &parser.peek_nth_token_ref(nth).token {
        Token::Word(word) => Some(word.keyword),
        _ => None,
    }
}

fn comparison(token: &Token) -> Option<BinaryOperator> {
    Some(match token {
        Token::Eq => BinaryOperator::Eq,
        Token::Neq => BinaryOperator::NotEq,
        Token::Lt => BinaryOperator::Lt,
        Token::LtEq => BinaryOperator::LtEq,
        Token::Gt => BinaryOperator::Gt,
        Token::GtEq => BinaryOperator::GtEq,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::QuireDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    fn parsed(sql: &str) -> String {
        let dialect = QuireDialect::default();
        let parser = Parser::new(&dialect).try_with_sql(sql);
        format!("{:#?}", parser.unwrap().parse_expr().unwrap())
    }

    fn same(left: &str, right: &str) {
        let dialect = QuireDialect::default();
        let parser = Parser::new(&dialect).try_with_sql(left);
        let text = parser.unwrap().parse_expr().unwrap().to_string();
        assert_eq!(text, right);
    }

    #[test]
    fn distinct_from_binds_more_tightly_than_and() {
        assert!(parsed("a IS DISTINCT FROM b AND c").starts_with("BinaryOp"));
        assert!(parsed("a IS NOT DISTINCT FROM b OR c").starts_with("BinaryOp"));
        assert!(parsed("NOT a IS DISTINCT FROM b AND c").starts_with("BinaryOp"));
        assert!(parsed("a IS DISTINCT FROM b = c").starts_with("IsDistinctFrom"));
    }

    #[test]
    fn the_complement_binds_as_operators_of_no_standard_do() {
        assert!(parsed("~ a + 1").starts_with("UnaryOp"));
        assert!(parsed("~ a & 1").starts_with("BinaryOp"));
        assert!(parsed("~ a = 1").starts_with("BinaryOp"));
    }

    #[test]
    fn signs_and_comments_end_operators() {
        for operator in ["<>", ">", ">=", "<", "<=", "=", ">>"] {
            same(&format!("a{operator}-1"), &format!("a {operator} -1"));
            same(&format!("a{operator}/* b */1"), &format!("a {operator} 1"));
            same(&format!("a{operator}--b\n1"), &format!("a {operator} 1"));
        }
        same("a|-1", "a | -1");
        same("a>+1", "a > +1");
        same("a->>'b'", "a ->> 'b'");
    }

    #[test]
    fn queries_behind_quantifiers() {
        same("1 = ANY (VALUES (1), (2))", "1 = ANY(VALUES (1), (2))");
        assert!(parsed("1 = ANY ((SELECT 1) UNION (SELECT 2))").contains("Subquery"));
        assert!(parsed("1 > ALL ((ARRAY[1, 2]))").starts_with("AllOp"));
        assert!(!parsed("1 > ALL ((ARRAY[1, 2]))").contains("Subquery"));
    }

    #[test]
    fn lists_that_begin_with_a_subquery() {
        assert!(parsed("1 IN ((SELECT 1), 2)").starts_with("InList"));
        assert!(parsed("1 NOT IN ((SELECT 1))").starts_with("InSubquery"));
        assert!(parsed("1 IN ((SELECT 1) UNION (SELECT 2))").starts_with("InSubquery"));
        assert!(parsed("(1, 2) IN ((1, 2), (3, 4))").starts_with("InList"));
    }
}
