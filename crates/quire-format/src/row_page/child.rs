//! The values of inner pages: numbers of pages, shortened.

use quire_codec::Corrupt;

use crate::volume::PageId;

/// The value of an inner page's entry: the number of a page without the zero bytes at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildPointer {
    bytes: [u8; 8],
    length: usize,
}

impl ChildPointer {
    /// The value that stands for `page`.
    #[must_use]
    pub fn new(page: PageId) -> Self {
        Self {
            bytes: page.get().to_le_bytes(),
            length: 8 - page.get().leading_zeros() as usize / 8,
        }
    }

    /// The value to store: 1 to 5 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The page a stored value stands for.
    ///
    /// # Errors
    /// Bytes that [`ChildPointer::new`] gives for no page; the offset is one within `value`.
    pub fn page(value: &[u8]) -> Result<PageId, Corrupt> {
        let mut bytes = [0; 8];
        let known = bytes.get_mut(..value.len());
        let known = known.ok_or_else(|| Corrupt::new("page number of more than 8 bytes", 8))?;
        known.copy_from_slice(value);
        if value.last() == Some(&0) {
            return Err(Corrupt::new("page number ends in zeros", value.len()));
        }
        PageId::new(u64::from_le_bytes(bytes)).ok_or_else(|| Corrupt::new("number of no page", 0))
    }
}
