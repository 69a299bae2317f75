//! Where the columns of a table are.

/// How the columns of a table are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnLayout {
    /// Each column by itself: a query reads those that it names.
    Dsm,
    /// All columns of some rows in one block: a query reads whole blocks.
    Pax,
}

/// Length of a block. The paper gives none; this is Quire's default.
pub(crate) const PAX_BLOCK_BYTES: usize = 1 << 20;

impl ColumnLayout {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dsm => "DSM",
            Self::Pax => "PAX",
        }
    }

    /// What CREATE TABLE says of it behind the columns.
    pub(super) fn clause(self) -> String {
        match self {
            Self::Dsm => String::new(),
            Self::Pax => format!(" USING pax WITH (block_bytes = {PAX_BLOCK_BYTES})"),
        }
    }
}
