//! The bytes of one connection, in and out.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::channel::Channel;
use crate::wire::Output;

/// How much is read at once.
const READ_BYTES: usize = 8 << 10;
/// Buffers above this are given back when they are empty.
const KEPT_BYTES: usize = 64 << 10;
/// Output is sent when there is so much of it, whatever follows.
const SEND_BYTES: usize = 64 << 10;

/// What reading gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filled {
    /// There are more bytes.
    More,
    /// None came for a while.
    Nothing,
    /// The client has gone.
    Closed,
}

/// Bytes that a client sent.
pub(super) struct Input {
    channel: Arc<Channel>,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    pub(super) fn new(channel: Arc<Channel>) -> Self {
        Self {
            channel,
            bytes: Vec::new(),
            start: 0,
            end: 0,
        }
    }

    /// What has come and was not taken.
    pub(super) fn waiting(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// The bytes of a range of [`Input::waiting`].
    pub(super) fn slice(&self, range: Range<usize>) -> &[u8] {
        self.waiting().get(range).unwrap_or_default()
    }

    /// Forgets the first bytes.
    pub(super) fn take(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > KEPT_BYTES {
                self.bytes = Vec::new();
            }
        }
    }

    /// Reads what comes, and waits a moment if nothing does. The buffer grows with what has really come, not with what is
    /// announced.
    pub(super) fn fill(&mut self) -> io::Result<Filled> {
        let channel = Arc::clone(&self.channel);
        channel.receive(self)
    }

    /// What waits is not the client's words, but their encryption.
    pub(super) fn decrypt_waiting(&mut self) -> io::Result<()> {
        let encrypted = self.waiting().to_vec();
        self.take(encrypted.len());
        let channel = Arc::clone(&self.channel);
        channel.decrypt(&encrypted, self)
    }

    /// Room for more bytes, some at least.
    pub(super) fn room(&mut self) -> &mut [u8] {
        self.make_room();
        self.bytes.get_mut(self.end..).unwrap_or_default()
    }

    /// So many bytes of the room have been filled.
    pub(super) fn add(&mut self, count: usize) {
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

/// Where answers go.
pub(crate) struct Sender {
    channel: Arc<Channel>,
    pub(crate) output: Output,
}

impl Sender {
    pub(super) fn new(channel: Arc<Channel>) -> Self {
        Self {
            channel,
            output: Output::default(),
        }
    }

    /// Sends everything; fails when the client does not take it for too long.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if !self.output.bytes.is_empty() {
            self.channel.send(&self.output.bytes)?;
            self.output.bytes.clear();
            self.output.bytes.shrink_to(KEPT_BYTES);
        }
        Ok(())
    }

    /// The same when there is much.
    pub(crate) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.output.bytes.len() >= SEND_BYTES {
            return self.flush();
        }
        Ok(())
    }
}
