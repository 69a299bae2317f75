//! What a column gets when a statement does not say.

use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::Expr;
use datafusion::sql::sqlparser::ast::{
    Expr as SqlExpr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, Query, SetExpr, Value,
};
use quire_error::Error;
use quire_sql::parse;
use quire_tables::{GeneratedKind, TableDefinition};

use crate::planning::StatementContext;

/// The default of a column as an expression of SQL.
fn default_of(definition: &TableDefinition, place: usize) -> Result<SqlExpr, Error> {
    let column = &definition.columns[place];
    if let Some(text) = &column.default {
        return parse::parse_expression(text);
    }
    match &column.sequence {
        Some(sequence) => Ok(next_value(sequence.id)),
        None => Ok(SqlExpr::Value(Value::Null.into())),
    }
}

/// The next value of the sequence with that id.
fn next_value(sequence: u64) -> SqlExpr {
    let number = SqlExpr::Value(Value::Number(sequence.to_string(), false).into());
    SqlExpr::Function(Function {
        name: ObjectName::from(vec![Ident::new(quire_functions::NEXT_BY_ID)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(number))],
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// The default of a column, planned.
pub(in crate::sql) fn default_expression(
    context: &StatementContext,
    definition: &TableDefinition,
    place: usize,
) -> Result<Expr, Error> {
    let expr = default_of(definition, place)?;
    if let SqlExpr::Value(value) = &expr
        && value.value == Value::Null
    {
        let data_type = definition.columns[place].sql_type.arrow_type();
        return Ok(Expr::Literal(ScalarValue::try_from(&data_type)?, None));
    }
    context.expression(&expr, &DFSchema::empty())
}

/// `SET column = DEFAULT`
pub(super) fn replace_default(
    value: &mut SqlExpr,
    definition: &TableDefinition,
    column: &str,
) -> Result<(), Error> {
    let Some(place) = definition.column_index(column) else {
        return Ok(());
    };
    if is_default(value) {
        *value = default_of(definition, place)?;
        return Ok(());
    }
    if is_generated_always(definition, place) {
        Err(generated(
            definition,
            place,
            format!("column \"{column}\" can only be updated to DEFAULT"),
        ))
    } else {
        Ok(())
    }
}

/// `DEFAULT` in rows of VALUES; `targets` are the places of the columns.
pub(super) fn replace_defaults(
    source: &mut Query,
    definition: &TableDefinition,
    targets: &[usize],
) -> Result<(), Error> {
    let SetExpr::Values(values) = source.body.as_mut() else {
        return Ok(());
    };
    for row in &mut values.rows {
        for (value, place) in row.iter_mut().zip(targets) {
            if is_default(value) {
                *value = default_of(definition, *place)?;
            }
        }
    }
    Ok(())
}

fn is_default(value: &SqlExpr) -> bool {
    matches!(value, SqlExpr::Identifier(ident)
        if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default"))
}

/// A column that is GENERATED ALWAYS takes no values.
pub(super) fn refuse_generated(
    definition: &TableDefinition,
    mut given: impl Iterator<Item = usize>,
) -> Result<(), Error> {
    match given.find(|place| is_generated_always(definition, *place)) {
        None => Ok(()),
        Some(place) => {
            let name = &definition.columns[place].name;
            let text = format!("cannot insert a non-DEFAULT value into column \"{name}\"");
            Err(generated(definition, place, text))
        }
    }
}

fn is_generated_always(definition: &TableDefinition, place: usize) -> bool {
    let sequence = &definition.columns[place].sequence;
    sequence
        .as_ref()
        .is_some_and(|sequence| sequence.kind == GeneratedKind::Always)
}

fn generated(definition: &TableDefinition, place: usize, text: String) -> Error {
    let name = &definition.columns[place].name;
    let detail = format!("Column \"{name}\" is an identity column defined as GENERATED ALWAYS.");
    Error::new("428C9", text).with_detail(detail)
}
