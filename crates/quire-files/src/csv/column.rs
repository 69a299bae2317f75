//! Builds one Arrow array from the fields of one column.

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BinaryViewBuilder, PrimitiveBuilder, StringViewBuilder,
};
use arrow::datatypes::{DataType, Field};
use quire_text::boolean::parse_bool;
use quire_text::bytea;
use quire_text::calendar::{parse_date, parse_timestamp};
use quire_text::number_in::{
    NumberInError, parse_decimal, parse_f32, parse_f64, parse_i64, parse_integer,
};
use quire_text::temporal::TimeZoneRules;
use quire_text::type_name::sql_name;

use super::super::error::{CopyError, Problem, shown};
use super::super::typed_array_builder::TypedArrayBuilder;
use super::chunk::{ParsedRecords, RecordFailure};
use super::options::TextLimit;

/// Collects the values of a column of the file.
pub(super) struct ColumnBuilder {
    /// Index of the column in the file.
    column: usize,
    data_type: DataType,
    nullable: bool,
    text_limit: Option<TextLimit>,
    /// The zone of texts that name none, if they are instants.
    zone: Option<TimeZoneRules>,
    values: TypedArrayBuilder,
    scratch: Vec<u8>,
}

impl ColumnBuilder {
    /// `session`: the zone of instants whose text names none; `capacity`: rows to make room for.
    pub(super) fn new(
        column: usize,
        field: &Field,
        text_limit: Option<TextLimit>,
        session: &TimeZoneRules,
        capacity: usize,
    ) -> Result<Self, CopyError> {
        let data_type = field.data_type();
        let values =
            TypedArrayBuilder::of(data_type, capacity).ok_or_else(|| CopyError::Option {
                message: format!(
                    "column {} cannot be read from CSV as {}",
                    column + 1,
                    sql_name(data_type)
                ),
            })?;
        let is_instant = matches!(data_type, DataType::Timestamp(_, Some(_)));
        Ok(Self {
            column,
            data_type: data_type.clone(),
            nullable: field.is_nullable(),
            text_limit,
            zone: is_instant.then(|| session.clone()),
            values,
            scratch: Vec::new(),
        })
    }

    /// Adds the fields of a block. A field that is wrong adds NULL and a failure; if the block is
    /// to stop on errors, the fields after the first failure are not looked at.
    pub(super) fn append(&mut self, block: &ParsedRecords<'_>, failures: &mut Vec<RecordFailure>) {
        let before = failures.len();
        let fields = Fields {
            block,
            column: self.column,
            nullable: self.nullable,
            scratch: &mut self.scratch,
            failures,
        };
        match &mut self.values {
            TypedArrayBuilder::Boolean(builder) => {
                fields.each(|text| match text.map(parse_bool).transpose() {
                    Ok(value) => {
                        builder.append_option(value);
                        Ok(())
                    }
                    Err(reason) => {
                        builder.append_null();
                        Err(reason)
                    }
                });
            }
            TypedArrayBuilder::Int16(builder) => fields.primitive(builder, parse_integer),
            TypedArrayBuilder::Int32(builder) => fields.primitive(builder, parse_integer),
            TypedArrayBuilder::Int64(builder) => fields.primitive(builder, parse_i64),
            TypedArrayBuilder::Float32(builder) => fields.primitive(builder, parse_f32),
            TypedArrayBuilder::Float64(builder) => fields.primitive(builder, parse_f64),
            TypedArrayBuilder::Decimal(builder, precision, scale) => {
                let (precision, scale) = (*precision, *scale);
                fields.primitive(builder, |text| parse_decimal(text, precision, scale));
            }
            TypedArrayBuilder::Date(builder) => fields.primitive(builder, parse_date),
            TypedArrayBuilder::Timestamp(builder) => {
                let zone = self.zone.as_ref();
                fields.primitive(builder, |text| parse_timestamp(text, zone));
            }
            TypedArrayBuilder::Text(builder) => fields.text(builder, self.text_limit.as_ref()),
            TypedArrayBuilder::Bytes(builder) => fields.bytes(builder),
        }
        for failure in &mut failures[before..] {
            self.name_type(failure);
        }
    }

    fn name_type(&self, failure: &mut RecordFailure) {
        if let Problem::Invalid { sql_type, .. } | Problem::OutOfRange { sql_type, .. } =
            &mut failure.problem
        {
            *sql_type = sql_name(&self.data_type);
        }
    }

    /// The array so far; the builder starts again.
    pub(super) fn finish(&mut self) -> ArrayRef {
        self.values.finish()
    }
}

/// Whether a text is a value of a type that a CSV column may have.
pub(super) fn fits_type(data_type: &DataType, text: &[u8]) -> bool {
    match data_type {
        DataType::Boolean => parse_bool(text).is_ok(),
        DataType::Int16 | DataType::Int32 | DataType::Int64 => parse_i64(text).is_ok(),
        DataType::Float32 | DataType::Float64 => parse_f64(text).is_ok(),
        DataType::Decimal128(..) => parse_decimal(text, 38, 0).is_ok(),
        DataType::Date32 => parse_date(text).is_ok(),
        DataType::Timestamp(..) => parse_timestamp(text, None).is_ok(),
        _ => true,
    }
}

/// The fields of one column of a block.
struct Fields<'b, 'a> {
    block: &'b ParsedRecords<'a>,
    column: usize,
    nullable: bool,
    scratch: &'b mut Vec<u8>,
    failures: &'b mut Vec<RecordFailure>,
}

impl Fields<'_, '_> {
    #[inline]
    fn each(self, mut add: impl FnMut(Option<&[u8]>) -> Result<(), NumberInError>) {
        let stops = self.block.stops_on_error();
        for row in 0..self.block.row_count() {
            let text = self.block.value(row, self.column, self.scratch);
            let problem = match add(text) {
                Ok(()) if self.nullable || text.is_some() => continue,
                Ok(()) => Problem::Null,
                Err(reason) => wrong_value(reason, text),
            };
            self.failures.push(failure(row, self.column, problem));
            if stops {
                return;
            }
        }
    }

    #[inline]
    fn primitive<T: ArrowPrimitiveType>(
        self,
        builder: &mut PrimitiveBuilder<T>,
        parse: impl Fn(&[u8]) -> Result<T::Native, NumberInError>,
    ) {
        self.each(|text| match text.map(&parse) {
            Some(Ok(value)) => {
                builder.append_value(value);
                Ok(())
            }
            Some(Err(reason)) => {
                builder.append_null();
                Err(reason)
            }
            None => {
                builder.append_null();
                Ok(())
            }
        });
    }

    fn text(self, builder: &mut StringViewBuilder, limit: Option<&TextLimit>) {
        for row in 0..self.block.row_count() {
            let text = match self.block.plain_text(row, self.column) {
                Ok(text) => text,
                Err(()) => match self.block.escaped_text(row, self.column, self.scratch) {
                    Ok(text) => text,
                    Err(problem) => {
                        self.failures.push(failure(row, self.column, problem));
                        builder.append_null();
                        continue;
                    }
                },
            };
            builder.append_option(text);
            let problem = match text {
                Some(text) => limit.filter(|limit| !limit.holds(text)).map(|limit| {
                    let (sql_type, value) = (limit.sql_type.clone(), shown(text.as_bytes()));
                    Problem::TextTooLong { sql_type, value }
                }),
                None => (!self.nullable).then_some(Problem::Null),
            };
            self.failures
                .extend(problem.map(|problem| failure(row, self.column, problem)));
        }
    }

    fn bytes(self, builder: &mut BinaryViewBuilder) {
        let mut bytes = Vec::new();
        self.each(|text| {
            let Some(text) = text else {
                builder.append_null();
                return Ok(());
            };
            bytes.clear();
            let parsed = bytea::parse(text, &mut bytes).map_err(|_| NumberInError::Invalid);
            builder.append_option(parsed.is_ok().then_some(&bytes));
            parsed
        });
    }
}

#[cold]
fn failure(row: usize, column: usize, problem: Problem) -> RecordFailure {
    RecordFailure {
        row,
        column: Some(column),
        problem,
    }
}

/// The type's name is filled in later.
#[cold]
fn wrong_value(reason: NumberInError, text: Option<&[u8]>) -> Problem {
    let (sql_type, value) = (String::new(), text.map(shown).unwrap_or_default());
    match reason {
        NumberInError::Invalid => Problem::Invalid { sql_type, value },
        NumberInError::OutOfRange => Problem::OutOfRange { sql_type, value },
    }
}
