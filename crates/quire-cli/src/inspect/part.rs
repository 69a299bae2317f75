//! What a file is made of: parts of parts, with their bytes.

use quire::arrow::array::{Array, AsArray, RecordBatch};
use quire::arrow::datatypes::Int64Type;
use quire::{Connection, Error, Outcome};

/// A piece of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePart {
    pub name: String,
    /// What it is: how a table is kept, a codec.
    pub kind: String,
    /// In the file.
    pub bytes: u64,
    /// What the values, or the pages in memory, take. Nothing for what has no such measure.
    pub raw_bytes: Option<u64>,
    pub parts: Vec<FilePart>,
}

impl FilePart {
    fn new(name: &str, kind: &str, bytes: u64, raw_bytes: Option<u64>) -> Self {
        Self {
            name: name.to_owned(),
            kind: kind.to_owned(),
            bytes,
            raw_bytes,
            parts: Vec::new(),
        }
    }

    /// Its bytes as a share of what they stand for.
    pub fn ratio(&self) -> Option<f64> {
        let raw = self.raw_bytes.filter(|raw| *raw > 0)?;
        Some(self.bytes as f64 / raw as f64)
    }

    /// The parts that have no parts, with the names on the way to them.
    pub fn leaves(&self) -> Vec<(Vec<&str>, &FilePart)> {
        if self.parts.is_empty() {
            return vec![(vec![&self.name], self)];
        }
        let below = self.parts.iter().flat_map(FilePart::leaves);
        let with_name = below.map(|(names, leaf)| {
            let path = std::iter::once(self.name.as_str()).chain(names);
            (path.collect(), leaf)
        });
        with_name.collect()
    }
}

/// All of the file: tables, and what is beside them. The parts are as long as the file together.
pub fn whole(connection: &mut Connection, name: &str) -> Result<FilePart, Error> {
    let figure = |rows: &[Row], wanted: &str| {
        let row = rows.iter().find(|row| row.text(0) == wanted);
        row.map_or(0, |row| row.bytes(1))
    };
    let file = rows(connection, "SELECT name, value FROM quire_file()")?;
    let mut parts = tables(connection)?;
    let others = [
        ("log", "since the last checkpoint", "log_bytes"),
        ("page map", "where each page is", "map_bytes"),
        ("dead", "until it is cleaned", "dead_bytes"),
        ("free", "for the next writes", "free_bytes"),
    ];
    let others =
        others.map(|(name, kind, key)| FilePart::new(name, kind, figure(&file, key), None));
    parts.extend(others.into_iter().filter(|part| part.bytes > 0));
    let bytes = figure(&file, "file_bytes");
    let known: u64 = parts.iter().map(|part| part.bytes).sum();
    let kind = "definitions, inner pages of columns, headers";
    parts.push(FilePart::new(
        "other",
        kind,
        bytes.saturating_sub(known),
        None,
    ));
    parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
    let pages = figure(&file, "page_count");
    let mut whole = FilePart::new(name, &format!("{pages} pages"), bytes.max(known), None);
    whole.parts = parts;
    Ok(whole)
}

fn tables(connection: &mut Connection) -> Result<Vec<FilePart>, Error> {
    let sql = "SELECT table_name, storage, encoded_bytes, raw_bytes FROM quire_tables()";
    let mut tables = Vec::new();
    for row in rows(connection, sql)? {
        let (name, storage) = (row.text(0), row.text(1));
        let mut table = FilePart::new(name, storage, row.bytes(2), Some(row.bytes(3)));
        table.parts = match storage {
            "column" | "pax" => columns(connection, name)?,
            _ => trees(connection, name)?,
        };
        tables.push(table);
    }
    Ok(tables)
}

/// Columns, each with its codecs; and the trees of changed rows.
fn columns(connection: &mut Connection, table: &str) -> Result<Vec<FilePart>, Error> {
    let sql = format!(
        "SELECT coalesce(column_name, reference), codec, sum(encoded_bytes)::BIGINT, sum(raw_bytes)::BIGINT, column_name IS NULL \
         FROM quire_storage({}) GROUP BY 1, 2, 5 ORDER BY 1, 2",
        literal(table)
    );
    let mut columns: Vec<FilePart> = Vec::new();
    for row in rows(connection, &sql)? {
        let (name, codec, bytes, raw_bytes) =
            (row.text(0), row.text(1), row.bytes(2), row.bytes(3));
        let segment = FilePart::new(codec, "codec", bytes, Some(raw_bytes));
        match columns.last_mut().filter(|column| column.name == name) {
            Some(column) => {
                column.bytes += bytes;
                column.raw_bytes = column.raw_bytes.map(|raw| raw + raw_bytes);
                column.parts.push(segment);
            }
            None => {
                let mut column = FilePart::new(name, "column", bytes, Some(raw_bytes));
                column.parts.push(segment);
                columns.push(column);
            }
        }
    }
    Ok(by_size(columns))
}

/// Named with what their pages are turned by, if they are.
fn trees(connection: &mut Connection, table: &str) -> Result<Vec<FilePart>, Error> {
    let sql = format!(
        "SELECT tree, codec, encoded_bytes, raw_bytes, nullif(storage_format, 'none') FROM quire_storage({})",
        literal(table)
    );
    let tree = |row: &Row| {
        let name = match row.text(4) {
            "" => row.text(0).to_owned(),
            format => format!("{} ({format})", row.text(0)),
        };
        FilePart::new(&name, row.text(1), row.bytes(2), Some(row.bytes(3)))
    };
    Ok(by_size(rows(connection, &sql)?.iter().map(tree).collect()))
}

fn by_size(mut parts: Vec<FilePart>) -> Vec<FilePart> {
    parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
    parts
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A row of texts and numbers.
pub struct Row {
    batch: RecordBatch,
    place: usize,
}

impl Row {
    /// The text in a column; empty for NULL and what is no text.
    pub fn text(&self, column: usize) -> &str {
        let texts = self.batch.column(column).as_string_view_opt();
        let texts = texts.filter(|texts| texts.is_valid(self.place));
        texts.map_or("", |texts| texts.value(self.place))
    }

    /// The number in a column; 0 for NULL and what is no number of bytes.
    pub fn bytes(&self, column: usize) -> u64 {
        let numbers = self.batch.column(column).as_primitive_opt::<Int64Type>();
        let numbers = numbers.filter(|numbers| numbers.is_valid(self.place));
        numbers.map_or(0, |numbers| {
            numbers.value(self.place).try_into().unwrap_or(0)
        })
    }
}

pub fn rows(connection: &mut Connection, sql: &str) -> Result<Vec<Row>, Error> {
    let mut found = Vec::new();
    if let Outcome::Rows(mut rows) = connection.execute(sql)? {
        while let Some(batch) = rows.next_batch()? {
            let places = 0..batch.num_rows();
            found.extend(places.map(|place| Row {
                batch: batch.clone(),
                place,
            }));
        }
    }
    Ok(found)
}
