//! The reference document of the file format, rendered from the constants the code uses.

use std::fmt::Write as _;

use crate::document::{DiskStructure, StructureField};

/// Every structure of the format, from the outermost inwards.
#[must_use]
pub fn structures() -> Vec<&'static DiskStructure> {
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
        crate::data_set::STRUCTURES,
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

fn render(structure: &DiskStructure, document: &mut String) {
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
        let StructureField {
            length,
            name,
            meaning,
            ..
        } = field;
        let _ = writeln!(document, "| {offset} | {length} | `{name}` | {meaning} |");
    }
}
