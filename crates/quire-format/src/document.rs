//! What the reference document says of a structure on disk. Each module describes its own.

/// One structure on disk: what it is for and where its fields are.
#[derive(Clone, Copy, Debug)]
pub struct DiskStructure {
    /// Heading of its section.
    pub name: &'static str,
    /// What the reader has to know before the table.
    pub about: &'static str,
    /// Length of the fixed part in bytes, `None` when every field varies.
    pub fixed_bytes: Option<usize>,
    /// In the order of the bytes.
    pub fields: &'static [StructureField],
}

/// One field of a structure.
#[derive(Clone, Copy, Debug)]
pub struct StructureField {
    /// Where it starts, `None` behind a field of variable length.
    pub offset: Option<usize>,
    /// Length and encoding: `8`, `varint`, `rest` …
    pub length: &'static str,
    /// Short name, as in the code.
    pub name: &'static str,
    /// What it means and what must hold.
    pub meaning: &'static str,
}

impl StructureField {
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
