//! The bytes that a client sent.

use std::ops::Range;

/// How much is read at once.
const READ_BYTES: usize = 8 << 10;
/// Buffers above this are given back when they are empty.
pub(crate) const KEPT_BYTES: usize = 64 << 10;

/// What reading gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SocketFill {
    /// There are more bytes.
    More,
    /// None came for a while.
    Nothing,
    /// The client has gone.
    Closed,
}

/// Bytes that a client sent. The buffer grows with what has really come, not with what is announced.
#[derive(Default)]
pub(crate) struct ReceiveBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReceiveBuffer {
    /// What has come and was not taken.
    pub(crate) fn waiting(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// The bytes of a range of [`ReceiveBuffer::waiting`].
    pub(crate) fn slice(&self, range: Range<usize>) -> &[u8] {
        self.waiting().get(range).unwrap_or_default()
    }

    /// Forgets the first bytes.
    pub(crate) fn take(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > KEPT_BYTES {
                self.bytes = Vec::new();
            }
        }
    }

    /// Room for more bytes, some at least.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        self.make_room();
        self.bytes.get_mut(self.end..).unwrap_or_default()
    }

    /// So many bytes of the room have been filled.
    pub(crate) fn add(&mut self, count: usize) {
        self.end = self.bytes.len().min(self.end + count);
    }

    fn make_room(&mut self) {
        if self.start > 0 && self.bytes.len() - self.end < READ_BYTES {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.bytes.len() - self.end < READ_BYTES {
            let length = (self.bytes.len() * 2).max(self.end + READ_BYTES);
            self.bytes.resize(length, 0);
        }
    }
}
