//! Where pages are, for those who ask what reading them would cost.

use quire_format::volume::PageId;

use super::Pool;

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residence {
    /// In a frame.
    Frame,
    /// In memory as an image of so many bytes.
    Image { image_bytes: u32 },
    /// On the disk only, as an image of so many bytes.
    Disk { image_bytes: u32 },
}

impl Pool {
    /// Where a page is now. It stays there: neither is it read, nor does this count as a use. A page that is nowhere, because it was freed
    /// meanwhile, costs nothing to read either.
    #[must_use]
    pub fn residence(&self, page: PageId) -> Residence {
        if self.inner.residents.has(page) {
            return Residence::Frame;
        }
        match self.inner.upkeep.volume.place_of(page) {
            None => Residence::Frame,
            Some((image_bytes, true)) => Residence::Image { image_bytes },
            Some((image_bytes, false)) => Residence::Disk { image_bytes },
        }
    }
}
