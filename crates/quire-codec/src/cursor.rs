//! Reading little-endian fields from untrusted bytes, every length checked.

use crate::Corrupt;
use std::ops::Range;

/// A position in an image. Every read checks the bounds and names the field it wanted.
#[derive(Clone, Debug)]
pub struct ImageCursor<'a> {
    image: &'a [u8],
    position: usize,
    end: usize,
}

impl<'a> ImageCursor<'a> {
    /// Reads `image[range]`; offsets in errors count from the start of `image`.
    pub fn new(image: &'a [u8], range: Range<usize>) -> Result<Self, Corrupt> {
        if range.start > range.end || range.end > image.len() {
            return Err(Corrupt::new("section leaves the image", range.start));
        }
        Ok(Self {
            image,
            position: range.start,
            end: range.end,
        })
    }

    /// Offset of the next byte, from the start of the image.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.end - self.position
    }

    /// An error at the present position.
    pub fn corrupt(&self, what: &'static str) -> Corrupt {
        Corrupt::new(what, self.position)
    }

    /// The range of the next `length` bytes, which are skipped.
    pub fn take(&mut self, length: usize, what: &'static str) -> Result<Range<usize>, Corrupt> {
        if length > self.remaining() {
            return Err(Corrupt::new(format!("{what} is cut short"), self.position));
        }
        let start = self.position;
        self.position += length;
        Ok(start..self.position)
    }

    /// The next `length` bytes.
    pub fn bytes(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], Corrupt> {
        let range = self.take(length, what)?;
        self.image
            .get(range)
            .ok_or_else(|| Corrupt::new(what, self.position))
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Corrupt> {
        let bytes = self.bytes(N, what)?;
        bytes
            .try_into()
            .map_err(|_| Corrupt::new(what, self.position))
    }

    pub fn u8(&mut self, what: &'static str) -> Result<u8, Corrupt> {
        self.array::<1>(what).map(|bytes| bytes[0])
    }

    pub fn u16(&mut self, what: &'static str) -> Result<u16, Corrupt> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub fn u32(&mut self, what: &'static str) -> Result<u32, Corrupt> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub fn u64(&mut self, what: &'static str) -> Result<u64, Corrupt> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// Refuses bytes that nothing has read.
    pub fn finish(self, what: &'static str) -> Result<(), Corrupt> {
        match self.remaining() {
            0 => Ok(()),
            extra => Err(Corrupt::new(
                format!("{extra} bytes follow the {what}"),
                self.position,
            )),
        }
    }
}
