//! Builds one Arrow array from the fields of one column.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BinaryViewBuilder, BooleanBuilder, PrimitiveBuilder,
    StringViewBuilder,
};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Field, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, TimeUnit, TimestampMicrosecondType,
};
use quire_text::boolean::parse_bool;
use quire_text::bytea;
use quire_text::calendar::{parse_date, parse_timestamp};
use quire_text::number_in::{
    NumberInError, parse_decimal, parse_f32, parse_f64, parse_i64, parse_integer,
};
use quire_text::temporal::TimeZoneRules;
use quire_text::type_name::sql_name;

use super::super::error::{CopyError, Problem, shown};
use super::chunk::{ParsedRecords, RecordFailure};
use super::options::TextLimit;

/// Collects the values of a column of the file.
pub(super) struct ColumnBuilder {
    /// Index of the column in the file.
    column: usize,
    data_type: DataType,
    nullable: bool,
    text_limit: Option<TextLimit>,
    values: CsvColumnValues,
    scratch: Vec<u8>,
}

enum CsvColumnValues {
    Boolean(BooleanBuilder),
    Int16(PrimitiveBuilder<Int16Type>),
    Int32(PrimitiveBuilder<Int32Type>),
    Int64(PrimitiveBuilder<Int64Type>),
    Float32(PrimitiveBuilder<Float32Type>),
    Float64(PrimitiveBuilder<Float64Type>),
    Decimal(PrimitiveBuilder<Decimal128Type>, u8, u8),
    Date(PrimitiveBuilder<Date32Type>),
    /// With the zone of texts that name none, if they are instants.
    Timestamp(
        PrimitiveBuilder<TimestampMicrosecondType>,
        Option<TimeZoneRules>,
    ),
    Text(StringViewBuilder),
    Bytes(BinaryViewBuilder),
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
        let values = CsvColumnValues::new(data_type, session, capacity).ok_or_else(|| {
            CopyError::Option {
                message: format!(
                    "column {} cannot be read from CSV as {}",
                    column + 1,
                    sql_name(data_type)
                ),
            }
        })?;
        Ok(Self {
            column,
            data_type: data_type.clone(),
            nullable: field.is_nullable(),
            text_limit,
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
            CsvColumnValues::Boolean(builder) => {
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
            CsvColumnValues::Int16(builder) => fields.primitive(builder, parse_integer),
            CsvColumnValues::Int32(builder) => fields.primitive(builder, parse_integer),
            CsvColumnValues::Int64(builder) => fields.primitive(builder, parse_i64),
            CsvColumnValues::Float32(builder) => fields.primitive(builder, parse_f32),
            CsvColumnValues::Float64(builder) => fields.primitive(builder, parse_f64),
            CsvColumnValues::Decimal(builder, precision, scale) => {
                let (precision, scale) = (*precision, *scale);
                fields.primitive(builder, |text| parse_decimal(text, precision, scale));
            }
            CsvColumnValues::Date(builder) => fields.primitive(builder, parse_date),
            CsvColumnValues::Timestamp(builder, zone) => {
                let zone = zone.as_ref();
                fields.primitive(builder, |text| parse_timestamp(text, zone));
            }
            CsvColumnValues::Text(builder) => fields.text(builder, self.text_limit.as_ref()),
            CsvColumnValues::Bytes(builder) => fields.bytes(builder),
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
        match &mut self.values {
            CsvColumnValues::Boolean(builder) => Arc::new(builder.finish()),
            CsvColumnValues::Int16(builder) => Arc::new(builder.finish()),
            CsvColumnValues::Int32(builder) => Arc::new(builder.finish()),
            CsvColumnValues::Int64(builder) => Arc::new(builder.finish()),
            CsvColumnValues::Float32(builder) => Arc::new(builder.finish()),
            CsvColumnValues::Float64(builder) => Arc::new(builder.finish()),
            CsvColumnValues::Decimal(builder, ..) => Arc::new(builder.finish()),
            CsvColumnValues::Date(builder) => Arc::new(builder.finish()),
            CsvColumnValues::Timestamp(builder, _) => Arc::new(builder.finish()),
            CsvColumnValues::Text(builder) => Arc::new(builder.finish()),
            CsvColumnValues::Bytes(builder) => Arc::new(builder.finish()),
        }
    }
}

impl CsvColumnValues {
    fn new(data_type: &DataType, session: &TimeZoneRules, capacity: usize) -> Option<Self> {
        Some(match data_type {
            DataType::Boolean => Self::Boolean(BooleanBuilder::with_capacity(capacity)),
            DataType::Int16 => Self::Int16(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Int32 => Self::Int32(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Int64 => Self::Int64(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Float32 => Self::Float32(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Float64 => Self::Float64(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Decimal128(precision, scale) => {
                let builder = PrimitiveBuilder::with_capacity(capacity);
                let builder = builder.with_data_type(data_type.clone());
                let scale = u8::try_from(*scale).ok().filter(|scale| *scale <= 38)?;
                Self::Decimal(builder, *precision, scale)
            }
            DataType::Date32 => Self::Date(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                let builder = PrimitiveBuilder::with_capacity(capacity);
                let builder = builder.with_data_type(data_type.clone());
                Self::Timestamp(builder, zone.as_ref().map(|_| session.clone()))
            }
            DataType::Utf8View => Self::Text(StringViewBuilder::with_capacity(capacity)),
            DataType::BinaryView => Self::Bytes(BinaryViewBuilder::with_capacity(capacity)),
            _ => return None,
        })
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
