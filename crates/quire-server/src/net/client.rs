//! The bytes that go to a client.

use std::io;
use std::sync::Arc;

use super::channel::Channel;
use super::input::KEPT_BYTES;
use crate::wire::MessageBuffer;

/// Output is sent when there is so much of it, whatever follows.
const SEND_BYTES: usize = 64 << 10;

/// Where answers go.
pub(crate) struct Sender {
    channel: Arc<Channel>,
    pub(crate) output: MessageBuffer,
}

impl Sender {
    pub(crate) fn new(channel: Arc<Channel>) -> Self {
        Self {
            channel,
            output: MessageBuffer::default(),
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
