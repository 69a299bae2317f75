//! Reads of a file that are in flight together, whoever performs them.

use std::io;

/// Direct I/O wants memory, offsets and lengths to be multiples of this.
const ALIGNED_BYTES: usize = 4096;

/// Performs reads, several at the same time. Each has a slot, and with the slot a buffer.
pub trait RequestQueue {
    /// Begins to read from `offset` on into the buffer of a slot that has no read in flight.
    fn begin(&mut self, slot: usize, offset: u64) -> io::Result<()>;

    /// Waits until a read has ended, and returns its slot and the bytes that it brought.
    fn next_ended(&mut self) -> io::Result<(usize, usize)>;
}

/// Memory for one read, aligned.
pub struct RequestBuffer {
    memory: Vec<u8>,
    start: usize,
    bytes: usize,
}

impl RequestBuffer {
    pub fn new(bytes: usize) -> Self {
        // Not zeros: the system would map the memory when it is first written, which is within the measurement.
        let memory = vec![1; bytes + ALIGNED_BYTES];
        let start = memory.as_ptr().align_offset(ALIGNED_BYTES);
        Self {
            memory,
            start: start.min(ALIGNED_BYTES),
            bytes,
        }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.bytes]
    }
}
