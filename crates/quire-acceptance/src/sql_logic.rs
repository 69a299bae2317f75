//! Quire as a database that the `sqllogictest` crate can question.

use std::sync::{Arc, Mutex, PoisonError};

use quire::arrow::array::{Array, ArrayRef, RecordBatch};
use quire::arrow::datatypes::DataType;
use quire::arrow::error::ArrowError;
use quire::arrow::util::display::{ArrayFormatter, FormatOptions};
use quire::{Connection, Outcome};
use sqllogictest::{ColumnType, DBOutput, DefaultColumnType};

/// How the values of a result are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As the value is.
    Plain,
    /// As SQLite's corpus wants it: by the type that the *test* declares for the column, not by the type of the value.
    /// `I` prints a whole number, `R` three digits after the point, an empty text is `(empty)`.
    Corpus,
}

/// The column types that the record under test declares, handed over just before it runs.
pub type DeclaredTypes = Arc<Mutex<Vec<DefaultColumnType>>>;

/// A connection under test.
pub struct SqlLogicDatabase {
    connection: Connection,
    style: Style,
    declared: DeclaredTypes,
}

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum SqlLogicError {
    /// The database refused it.
    #[error(transparent)]
    Database(#[from] quire::Error),
    /// A value could not be written as text.
    #[error(transparent)]
    Format(#[from] ArrowError),
}

impl SqlLogicDatabase {
    /// Wraps a connection.
    pub fn new(connection: Connection, style: Style, declared: DeclaredTypes) -> Self {
        Self {
            connection,
            style,
            declared,
        }
    }

    fn rows(&self, batch: &RecordBatch) -> Result<Vec<Vec<String>>, ArrowError> {
        let declared = self.declared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows = vec![Vec::with_capacity(batch.num_columns()); batch.num_rows()];
        for (at, column) in batch.columns().iter().enumerate() {
            let declared = declared.get(at).filter(|_| self.style == Style::Corpus);
            for (row, text) in rows.iter_mut().zip(column_texts(column, declared)?) {
                row.push(text);
            }
        }
        Ok(rows)
    }
}

impl sqllogictest::DB for SqlLogicDatabase {
    type Error = SqlLogicError;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, SqlLogicError> {
        match self.connection.execute(sql)? {
            Outcome::Done(done) => Ok(DBOutput::StatementComplete(done.row_count.unwrap_or(0))),
            Outcome::Rows(mut result) => {
                let fields = result.schema();
                let types = fields
                    .fields()
                    .iter()
                    .map(|field| column_type(field.data_type()))
                    .collect();
                let mut rows = Vec::new();
                while let Some(batch) = result.next_batch()? {
                    rows.extend(self.rows(&batch)?);
                }
                Ok(DBOutput::Rows { types, rows })
            }
        }
    }

    fn engine_name(&self) -> &str {
        "quire"
    }

    fn error_sql_state(error: &SqlLogicError) -> Option<String> {
        match error {
            SqlLogicError::Database(error) => Some(error.sqlstate().to_owned()),
            SqlLogicError::Format(_) => None,
        }
    }
}

fn column_type(data_type: &DataType) -> DefaultColumnType {
    let letter = match data_type {
        integer if integer.is_integer() => 'I',
        DataType::Float32
        | DataType::Float64
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => 'R',
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => 'T',
        _ => '?',
    };
    DefaultColumnType::from_char(letter).unwrap_or(DefaultColumnType::Any)
}

/// Each value of a column as text.
fn column_texts(
    column: &ArrayRef,
    declared: Option<&DefaultColumnType>,
) -> Result<Vec<String>, ArrowError> {
    let options = FormatOptions::default()
        .with_null("NULL")
        .with_display_error(true);
    let formatter = ArrayFormatter::try_new(column.as_ref(), &options)?;
    let is_text = column_type(column.data_type()) == DefaultColumnType::Text;
    let mut texts = Vec::with_capacity(column.len());
    for row in 0..column.len() {
        let text = formatter.value(row).to_string();
        texts.push(match declared {
            _ if column.is_null(row) => text,
            // The corpus was recorded by a reader that asks for a number where one is declared, and gets 0 for a word.
            Some(DefaultColumnType::Integer) if is_text => leading_integer(&text).to_owned(),
            _ if text.is_empty() => "(empty)".to_owned(),
            Some(declared) if !is_text => numeric_text(text, declared),
            // A whole number needs no point, as in PostgreSQL.
            None if column.data_type().is_floating() => text.trim_end_matches(".0").to_owned(),
            _ => text,
        });
    }
    Ok(texts)
}

/// The integer that a text begins with, or 0.
fn leading_integer(text: &str) -> &str {
    let sign_bytes = usize::from(text.starts_with(['-', '+']));
    let digits = &text[sign_bytes..];
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    match count {
        0 => "0",
        _ => text[..sign_bytes + count].trim_start_matches('+'),
    }
}

/// A number written as the corpus declares it; anything else as it is.
fn numeric_text(text: String, declared: &DefaultColumnType) -> String {
    match (text.parse::<f64>(), declared) {
        (Ok(_), DefaultColumnType::Integer) => match text.split_once('.') {
            Some(("-0", _)) => "0".to_owned(),
            Some((whole, _)) => whole.to_owned(),
            None => text,
        },
        (Ok(number), DefaultColumnType::FloatingPoint) => format!("{number:.3}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quire::arrow::array::{Decimal128Array, Float64Array, Int64Array, StringArray};

    fn texts(column: ArrayRef, declared: Option<DefaultColumnType>) -> Vec<String> {
        column_texts(&column, declared.as_ref()).unwrap()
    }

    #[test]
    fn the_declared_type_decides_how_a_number_is_written() {
        let integers: ArrayRef = Arc::new(Int64Array::from(vec![Some(-7), None]));
        assert_eq!(
            texts(integers.clone(), Some(DefaultColumnType::Integer)),
            ["-7", "NULL"]
        );
        assert_eq!(
            texts(integers, Some(DefaultColumnType::FloatingPoint)),
            ["-7.000", "NULL"]
        );
        let decimal = Decimal128Array::from(vec![1_250, -25])
            .with_precision_and_scale(5, 2)
            .unwrap();
        assert_eq!(
            texts(Arc::new(decimal), Some(DefaultColumnType::Integer)),
            ["12", "0"]
        );
        let double: ArrayRef = Arc::new(Float64Array::from(vec![2.0 / 3.0]));
        assert_eq!(
            texts(double, Some(DefaultColumnType::FloatingPoint)),
            ["0.667"]
        );
    }

    #[test]
    fn text_is_read_as_it_is_declared() {
        let column: ArrayRef = Arc::new(StringArray::from(vec!["", "word", "-12 men", "1.5"]));
        assert_eq!(
            texts(column.clone(), Some(DefaultColumnType::Integer)),
            ["0", "0", "-12", "1"]
        );
        assert_eq!(texts(column, None), ["(empty)", "word", "-12 men", "1.5"]);
    }
}
