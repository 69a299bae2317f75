//! What there is once for compressed and once for uncompressed tables.

use crate::column_tables::ColumnCodecs;

/// A value for each of [`ColumnCodecs::BOTH`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CodecPair<T> {
    pub(crate) compressed: T,
    pub(crate) plain: T,
}

impl<T> CodecPair<T> {
    /// Makes both.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn try_of<E>(mut make: impl FnMut(ColumnCodecs) -> Result<T, E>) -> Result<Self, E> {
        Ok(Self {
            compressed: make(ColumnCodecs::Auto)?,
            plain: make(ColumnCodecs::Plain)?,
        })
    }

    pub(crate) fn get(&self, codecs: ColumnCodecs) -> &T {
        match codecs {
            ColumnCodecs::Auto => &self.compressed,
            ColumnCodecs::Plain => &self.plain,
        }
    }
}
