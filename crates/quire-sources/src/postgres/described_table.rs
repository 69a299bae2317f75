//! A table of PostgreSQL with its definition, and how its columns are asked for.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema, SchemaRef};
use postgres::Client;

use quire_files::CopyControl;
use quire_text::type_name::sql_name;

use super::catalog::{self, PostgresColumn, PostgresRelation};
use super::column_type::{DECIMAL_DEFAULT, DIGITS_MAX, PostgresColumnType, expression};
use super::keys::PostgresKeys;
use super::server::{PostgresServer, PostgresStop, quoted};
use crate::constant::DefaultConstant;
use crate::definition::{LeftOutPart, SourceColumn, SourceTableDefinition, SourceTableName};
use crate::error::SourceError;

/// Digits of a decimal that 64 bits hold.
const SHORT_DIGITS: usize = 18;

/// A relation as its readers need it.
#[derive(Debug)]
pub(super) struct DescribedRelation {
    pub(super) definition: Arc<SourceTableDefinition>,
    pub(super) relation: PostgresRelation,
    pub(super) schema: SchemaRef,
    /// What to select for each column.
    pub(super) expressions: Vec<String>,
}

impl DescribedRelation {
    pub(super) fn read(
        server: &PostgresServer,
        name: &SourceTableName,
        control: &CopyControl,
    ) -> Result<Self, SourceError> {
        server.run(control, |client| {
            let Some(relation) = catalog::find(client, name)? else {
                let (database, table) = (Arc::clone(&server.shown_name), name.clone());
                return Err(SourceError::NoTable { database, table }.into());
            };
            let attributes = catalog::attributes(client, relation.oid)?;
            let types = data_types(client, &relation, &attributes)?;
            let keys = PostgresKeys::read(client, relation.oid)?;
            Ok(described(relation, &attributes, types, keys))
        })
    }

    /// The query for some columns, and the schema of its rows.
    pub(super) fn selection(
        &self,
        projection: Option<&[usize]>,
    ) -> Result<(String, SchemaRef), SourceError> {
        let column_count = self.expressions.len();
        let all: Vec<usize> = (0..column_count).collect();
        let projection = projection.unwrap_or(&all);
        if let Some(&index) = projection.iter().find(|&&index| index >= column_count) {
            let table = self.definition.name.clone();
            return Err(SourceError::NoColumn {
                table,
                index,
                column_count,
            });
        }
        let columns: Vec<&str> = projection
            .iter()
            .map(|&index| self.expressions[index].as_str())
            .collect();
        let fields = projection
            .iter()
            .map(|&index| Arc::clone(&self.schema.fields()[index]));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok((
            format!("SELECT {} FROM {}", columns.join(", "), self.relation.from),
            schema,
        ))
    }
}

fn described(
    relation: PostgresRelation,
    attributes: &[PostgresColumn],
    types: Vec<DataType>,
    keys: PostgresKeys,
) -> DescribedRelation {
    let mut left_out = keys.left_out;
    let notices = attributes
        .iter()
        .zip(&types)
        .filter_map(|(attribute, data_type)| notice(attribute, data_type))
        .collect();
    let expressions = attributes
        .iter()
        .zip(&types)
        .map(|(attribute, data_type)| expression(attribute, data_type))
        .collect();
    let columns = attributes
        .iter()
        .zip(types)
        .map(|(attribute, data_type)| SourceColumn {
            name: attribute.name.clone(),
            data_type,
            is_nullable: !attribute.is_not_null,
            declared_type: attribute.declared_type.clone(),
            default: constant_default(attribute, &mut left_out),
            auto_number: attribute.auto_number,
            is_generated: attribute.is_generated,
        });
    let columns: Vec<SourceColumn> = columns.collect();
    let definition = SourceTableDefinition {
        name: relation.name.clone(),
        kind: relation.kind,
        columns,
        primary_key: keys.primary_key,
        unique_constraints: keys.unique_constraints,
        indexes: keys.indexes,
        foreign_keys: keys.foreign_keys,
        left_out,
        notices,
    };
    DescribedRelation {
        schema: definition.schema(),
        definition: Arc::new(definition),
        relation,
        expressions,
    }
}

fn notice(attribute: &PostgresColumn, data_type: &DataType) -> Option<String> {
    let (name, declared) = (&attribute.name, &attribute.declared_type);
    match PostgresColumnType::of(attribute) {
        PostgresColumnType::OnlyText => Some(format!(
            "column \"{name}\" is of type {declared}; it is read as its text"
        )),
        PostgresColumnType::AnyNumeric if *data_type == DataType::Utf8View => Some(format!(
            "column \"{name}\" has numbers of more digits than {}; it is read as its text",
            sql_name(&DataType::Decimal128(DIGITS_MAX, 0))
        )),
        _ => None,
    }
}

fn constant_default(attribute: &PostgresColumn, left_out: &mut Vec<LeftOutPart>) -> Option<String> {
    let expression = attribute.default.as_deref()?;
    match DefaultConstant::of(expression) {
        DefaultConstant::Value(value) => Some(value),
        DefaultConstant::Null => None,
        DefaultConstant::Expression => {
            left_out.push(LeftOutPart::new(
                format!("default of column \"{}\"", attribute.name),
                format!("{expression} is no constant"),
            ));
            None
        }
    }
}

/// The type of each column; of a `numeric` without precision after a look at all its values.
fn data_types(
    client: &mut Client,
    relation: &PostgresRelation,
    attributes: &[PostgresColumn],
) -> Result<Vec<DataType>, PostgresStop> {
    let of_catalog: Vec<PostgresColumnType> =
        attributes.iter().map(PostgresColumnType::of).collect();
    let open = attributes
        .iter()
        .zip(&of_catalog)
        .filter(|(_, known)| **known == PostgresColumnType::AnyNumeric);
    let open: Vec<&str> = open.map(|(attribute, _)| attribute.name.as_str()).collect();
    let mut decimals = decimals(client, relation, &open)?.into_iter();
    let types = of_catalog.into_iter().map(|known| match known {
        PostgresColumnType::Native(data_type) => data_type,
        PostgresColumnType::AnyNumeric => decimals.next().unwrap_or(DECIMAL_DEFAULT),
        PostgresColumnType::Text | PostgresColumnType::OnlyText => DataType::Utf8View,
    });
    Ok(types.collect())
}

/// The decimal for the values of each column. NaN and infinity, which have no scale, are refused when they are read.
fn decimals(
    client: &mut Client,
    relation: &PostgresRelation,
    columns: &[&str],
) -> Result<Vec<DataType>, PostgresStop> {
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let question = |column: &&str| {
        let column = quoted(column);
        format!(
            "max(scale({column})), (max(abs({column})) FILTER (WHERE scale({column}) IS NOT NULL))::text"
        )
    };
    let questions: Vec<String> = columns.iter().map(question).collect();
    let row = client.query_one(
        &format!("SELECT {} FROM {}", questions.join(", "), relation.from),
        &[],
    )?;
    let decimal = |index: usize| match (
        row.get::<_, Option<i32>>(2 * index),
        row.get::<_, Option<&str>>(2 * index + 1),
    ) {
        (Some(scale), Some(largest)) => decimal_for(scale, largest),
        _ => DECIMAL_DEFAULT,
    };
    Ok((0..columns.len()).map(decimal).collect())
}

/// A decimal of this scale that holds a number as large as that; TEXT if none does.
fn decimal_for(scale: i32, largest: &str) -> DataType {
    let whole = largest
        .split('.')
        .next()
        .unwrap_or(largest)
        .trim_start_matches('0');
    match usize::try_from(scale).map(|scale| (scale, scale + whole.len())) {
        Ok((scale, digits)) if digits <= SHORT_DIGITS => {
            DataType::Decimal128(SHORT_DIGITS as u8, scale as i8)
        }
        Ok((scale, digits)) if digits <= usize::from(DIGITS_MAX) => {
            DataType::Decimal128(DIGITS_MAX, scale as i8)
        }
        _ => DataType::Utf8View,
    }
}

#[cfg(test)]
mod tests {
    use super::{DataType, decimal_for};

    #[test]
    fn a_decimal_holds_the_largest_number() {
        assert_eq!(decimal_for(2, "0.00"), DataType::Decimal128(18, 2));
        assert_eq!(
            decimal_for(2, "1234567890123456.78"),
            DataType::Decimal128(18, 2)
        );
        assert_eq!(
            decimal_for(2, "12345678901234567.89"),
            DataType::Decimal128(38, 2)
        );
        assert_eq!(decimal_for(0, &"9".repeat(38)), DataType::Decimal128(38, 0));
        assert_eq!(decimal_for(1, &"9".repeat(38)), DataType::Utf8View);
        assert_eq!(decimal_for(39, "0"), DataType::Utf8View);
    }
}
