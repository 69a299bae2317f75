//! The reference document of the file format, rendered from the constants the code uses.

use std::fmt::Write as _;

/// One structure on disk: what it is for and where its fields are.
#[derive(Clone, Copy, Debug)]
pub struct Structure {
    /// Heading of its section.
    pub name: &'static str,
    /// What the reader has to know before the table.
    pub about: &'static str,
    /// Length of the fixed part in bytes, `None` when every field varies.
    pub fixed_bytes: Option<usize>,
    /// In the order of the bytes.
    pub fields: &'static [Field],
}

/// One field of a structure.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Where it starts, `None` behind a field of variable length.
    pub offset: Option<usize>,
    /// Length and encoding: `8`, `varint`, `rest` …
    pub length: &'static str,
    /// Short name, as in the code.
    pub name: &'static str,
    /// What it means and what must hold.
    pub meaning: &'static str,
}

impl Field {
    /// A field at a fixed place.
    #[must_use]
    pub const fn at(
        offset: usize,
        length: &'static str,
        name: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self {
            offset: Some(offset),
            length,
            name,
            meaning,
        }
    }

    /// A field behind the one before it.
    #[must_use]
    pub const fn next(length: &'static str, name: &'static str, meaning: &'static str) -> Self {
        Self {
            offset: None,
            length,
            name,
            meaning,
        }
    }
}

/// Every structure of the format, from the outermost inwards.
#[must_use]
pub fn structures() -> Vec<&'static Structure> {
    let metadata = [
        &crate::catalog::STRUCTURE,
        &crate::table_root::STRUCTURE,
        &crate::row_group::STRUCTURE,
        &crate::zone::STRUCTURE,
        &crate::distinct_sketch::STRUCTURE,
        &crate::staging_mark::STRUCTURE,
        &crate::column_sample::STRUCTURE,
        &crate::page_dictionary::LIST_STRUCTURE,
        &crate::page_dictionary::STRUCTURE,
        &crate::row_position::STRUCTURE,
    ];
    [
        crate::volume::STRUCTURES,
        &metadata,
        crate::row_page::STRUCTURES,
        crate::log::STRUCTURES,
        &[&crate::redo::STRUCTURE],
    ]
    .concat()
}

const INTRODUCTION: &str = "\
# The bytes of a Quire file

Generated from the constants in `crates/quire-format/src`; `cargo xtask gen` rewrites it.

Numbers are little endian. *varint* is unsigned LEB128; *signed* is zigzag and then LEB128.
CRC32C is the Castagnoli polynomial, as in RFC 3720.
";

/// The whole document, as Markdown.
#[must_use]
pub fn format_document() -> String {
    let mut document = INTRODUCTION.to_owned();
    for structure in structures() {
        render(structure, &mut document);
    }
    document
}

fn render(structure: &Structure, document: &mut String) {
    // Writing to a `String` cannot fail.
    let _ = write!(document, "\n## {}\n\n{}\n", structure.name, structure.about);
    if let Some(bytes) = structure.fixed_bytes {
        let _ = write!(document, "\n{bytes} bytes.\n");
    }
    if structure.fields.is_empty() {
        return;
    }
    document.push_str("\n| offset | bytes | field | meaning |\n|---:|---:|---|---|\n");
    for field in structure.fields {
        let offset = field
            .offset
            .map_or_else(|| "…".to_owned(), |offset| offset.to_string());
        let Field {
            length,
            name,
            meaning,
            ..
        } = field;
        let _ = writeln!(document, "| {offset} | {length} | `{name}` | {meaning} |");
    }
}
