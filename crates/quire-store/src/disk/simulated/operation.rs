//! What was done to a simulated disk, to be done again.

use std::io;

use crate::disk::memory::{write_range, zero_range};

/// An operation that changes the disk, as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskOperation {
    /// Bytes written at an offset.
    Write {
        /// Where.
        offset: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// Bytes that nobody needs: zeros now.
    Discard {
        /// Where.
        offset: u64,
        /// How many.
        bytes: u64,
    },
    /// A new length.
    SetLen(u64),
    /// Everything before is durable.
    Sync,
}

impl DiskOperation {
    /// Does to `image` what the operation does to the disk.
    pub(super) fn apply(&self, image: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Write { offset, bytes } => write_range(image, bytes, *offset),
            Self::Discard { offset, bytes } => {
                zero_range(image, *offset, *bytes);
                Ok(())
            }
            Self::SetLen(bytes) => {
                image.resize(usize::try_from(*bytes).map_err(io::Error::other)?, 0);
                Ok(())
            }
            Self::Sync => Ok(()),
        }
    }
}
