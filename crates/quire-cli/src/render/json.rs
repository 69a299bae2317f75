//! JSON: objects in the order of the columns; numbers and booleans bare, lists and rows nested,
//! everything else as text.
//!
//! JSON has no NaN and no infinities; they are written as text. Names that repeat get a suffix
//! (`a`, `a_1`), because most readers keep only the last of equal keys.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use quire::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use quire::arrow::datatypes::{DataType, Schema};

use super::value::Texts;
use super::{RenderFormat, RenderMode, Renderer};

/// Writes one array of objects, or an object a line.
pub struct Json {
    is_array: bool,
    row_count: usize,
    keys: Vec<String>,
}

impl Json {
    /// Objects for rows of this schema.
    pub fn new(format: &RenderFormat, schema: &Schema) -> Self {
        let names = schema.fields().iter().map(|field| field.name().as_str());
        Self {
            is_array: format.mode == RenderMode::Json,
            row_count: 0,
            keys: keys(names),
        }
    }
}

impl Renderer for Json {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.is_array {
            out.write_all(b"[")
        } else {
            Ok(())
        }
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        let columns: Vec<Member> = self
            .keys
            .iter()
            .zip(batch.columns())
            .map(|(key, array)| Member {
                key,
                value: JsonValues::new(array.as_ref()),
            })
            .collect();
        let mut line = String::new();
        for row in 0..batch.num_rows() {
            if self.is_array && self.row_count > 0 {
                line.push_str(",\n");
            }
            write_object(&columns, row, &mut line);
            if !self.is_array {
                line.push('\n');
            }
            self.row_count += 1;
            out.write_all(line.as_bytes())?;
            line.clear();
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.is_array {
            out.write_all(b"]\n")
        } else {
            Ok(())
        }
    }
}

/// Unique keys, already quoted.
fn keys<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let originals: HashSet<&str> = names.clone().collect();
    names
        .map(|name| {
            let mut key = name.to_owned();
            let mut suffix = 0;
            while !taken.insert(key.clone()) {
                suffix += 1;
                key = format!("{name}_{suffix}");
                while originals.contains(key.as_str()) {
                    suffix += 1;
                    key = format!("{name}_{suffix}");
                }
            }
            let mut quoted = String::new();
            write_quoted(&key, &mut quoted);
            quoted
        })
        .collect()
}

struct Member<'a> {
    key: &'a str,
    value: JsonValues<'a>,
}

fn write_object(members: &[Member], row: usize, out: &mut String) {
    out.push('{');
    for (index, member) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(member.key);
        out.push(':');
        member.value.write(row, out);
    }
    out.push('}');
}

/// The values of a column as JSON.
struct JsonValues<'a> {
    texts: Texts<'a>,
    shape: JsonShape<'a>,
}

enum JsonShape<'a> {
    Bare,
    Float,
    Quoted,
    List(Box<dyn Fn(usize) -> ArrayRef + 'a>),
    Object(Vec<String>, Vec<JsonValues<'a>>),
}

impl<'a> JsonValues<'a> {
    fn new(array: &'a dyn Array) -> Self {
        let shape = match array.data_type() {
            DataType::List(_) => {
                let lists = array.as_list::<i32>();
                JsonShape::List(Box::new(move |row| lists.value(row)))
            }
            DataType::LargeList(_) => {
                let lists = array.as_list::<i64>();
                JsonShape::List(Box::new(move |row| lists.value(row)))
            }
            DataType::FixedSizeList(..) => {
                let lists = array.as_fixed_size_list();
                JsonShape::List(Box::new(move |row| lists.value(row)))
            }
            DataType::Struct(fields) => {
                let columns = array.as_struct().columns();
                JsonShape::Object(
                    keys(fields.iter().map(|field| field.name().as_str())),
                    columns
                        .iter()
                        .map(|column| JsonValues::new(column.as_ref()))
                        .collect(),
                )
            }
            DataType::Dictionary(_, value) => scalar_shape(value),
            other => scalar_shape(other),
        };
        Self {
            texts: Texts::new(array),
            shape,
        }
    }

    fn write(&self, row: usize, out: &mut String) {
        if self.texts.is_null(row) {
            out.push_str("null");
            return;
        }
        match &self.shape {
            JsonShape::Bare => {
                self.texts.write(row, out);
            }
            JsonShape::Float | JsonShape::Quoted => {
                let mut text = String::new();
                self.texts.write(row, &mut text);
                let is_number = matches!(self.shape, JsonShape::Float)
                    && text.ends_with(|last: char| last.is_ascii_digit());
                if is_number {
                    out.push_str(&text)
                } else {
                    write_quoted(&text, out)
                }
            }
            JsonShape::List(elements) => write_array(&elements(row), out),
            JsonShape::Object(keys, columns) => {
                out.push('{');
                for (index, (key, column)) in keys.iter().zip(columns).enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    let _ = write!(out, "{key}:");
                    column.write(row, out);
                }
                out.push('}');
            }
        }
    }
}

fn scalar_shape(data_type: &DataType) -> JsonShape<'static> {
    match data_type {
        DataType::Boolean => JsonShape::Bare,
        float if float.is_floating() => JsonShape::Float,
        number if number.is_numeric() => JsonShape::Bare,
        _ => JsonShape::Quoted,
    }
}

fn write_array(elements: &ArrayRef, out: &mut String) {
    let values = JsonValues::new(elements.as_ref());
    out.push('[');
    for row in 0..elements.len() {
        if row > 0 {
            out.push(',');
        }
        values.write(row, out);
    }
    out.push(']');
}

fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other if other.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(other));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::{keys, write_quoted};

    #[test]
    fn repeated_names_become_different_keys() {
        let unique = |names: &[&str]| keys(names.iter().copied()).join(" ");
        assert_eq!(unique(&["a", "b"]), r#""a" "b""#);
        assert_eq!(unique(&["a", "a", "a"]), r#""a" "a_1" "a_2""#);
        assert_eq!(unique(&["a", "a", "a_1"]), r#""a" "a_2" "a_1""#);
    }

    #[test]
    fn text_is_escaped_as_rfc_8259_asks() {
        let mut out = String::new();
        write_quoted("a\"b\\c\n\u{1}é日", &mut out);
        assert_eq!(out, "\"a\\\"b\\\\c\\n\\u0001é日\"");
    }
}
