//! Where pages are: for estimates of what reading them would cost, and for who has them read ahead.

use quire_format::volume::PageId;

use super::Pool;
use crate::volume::ReadAhead;

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residence {
    /// In a frame.
    Frame,
    /// In memory as a compressed image.
    Image { image_bytes: u32 },
    /// Only on disk, as a compressed image.
    Disk { image_bytes: u32 },
}

impl Pool {
    /// For who will soon need pages whose images are only on the disk ([`Residence::Disk`]): what is read ahead is in the volume's cache when
    /// [`Pool::get`] comes for it. It reads the images of this moment. What has been written since is read by `get`.
    #[must_use]
    pub fn read_ahead(&self) -> ReadAhead {
        self.inner.upkeep.volume.pin().read_ahead()
    }

    /// Where a page is now. The page is not read, and this does not count as a use. A page that has been freed is reported as
    /// [`Residence::Frame`], because reading it costs nothing.
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
