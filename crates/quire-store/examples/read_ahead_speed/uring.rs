//! Reads by io_uring: one thread submits all of them and takes what has ended.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use io_uring::{IoUring, opcode, types};

use super::request_queue::{RequestBuffer, RequestQueue};

/// One ring. What is begun while others have ended is submitted with the next wait, in one call to the system.
pub struct UringQueue {
    ring: IoUring,
    file: Arc<File>,
    slots: Vec<UringSlot>,
}

struct UringSlot {
    buffer: RequestBuffer,
    is_in_flight: bool,
}

impl UringQueue {
    /// # Errors
    /// The system has no io_uring (`ENOSYS`), or does not let this process use it (`EPERM`).
    pub fn new(file: Arc<File>, slots: usize, request_bytes: usize) -> io::Result<Self> {
        let entries = u32::try_from(slots.next_power_of_two()).map_err(io::Error::other)?;
        let slot = |_| UringSlot {
            buffer: RequestBuffer::new(request_bytes),
            is_in_flight: false,
        };
        Ok(Self {
            ring: IoUring::new(entries)?,
            file,
            slots: (0..slots).map(slot).collect(),
        })
    }

    /// Submits what was begun, and waits until a read has ended.
    fn wait(&mut self) -> io::Result<()> {
        match self.ring.submit_and_wait(1) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
            _ => Ok(()),
        }
    }

    /// The slot and the result of a read that has ended, if there is one.
    fn ended(&mut self) -> Option<(usize, i32)> {
        let entry = self.ring.completion().next()?;
        let slot = entry.user_data() as usize;
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.is_in_flight = false;
        }
        Some((slot, entry.result()))
    }
}

impl RequestQueue for UringQueue {
    fn begin(&mut self, slot_index: usize, offset: u64) -> io::Result<()> {
        let slot = self.slots.get_mut(slot_index);
        let slot = slot.filter(|slot| !slot.is_in_flight);
        let slot = slot.ok_or_else(|| io::Error::other("the slot is in use"))?;
        let buffer = slot.buffer.bytes_mut();
        let bytes = u32::try_from(buffer.len()).map_err(io::Error::other)?;
        let file = types::Fd(self.file.as_raw_fd());
        let read = opcode::Read::new(file, buffer.as_mut_ptr(), bytes).offset(offset);
        let entry = read.build().user_data(slot_index as u64);
        // SAFETY: The buffer's memory stays where it is and is not touched until the read has ended: the slot takes no other one, nobody
        // else has the buffer, and the queue is not dropped without waiting for the read. The file is open as long as the queue is there.
        unsafe { self.ring.submission().push(&entry) }.map_err(io::Error::other)?;
        slot.is_in_flight = true;
        Ok(())
    }

    fn next_ended(&mut self) -> io::Result<(usize, usize)> {
        loop {
            if let Some((slot, result)) = self.ended() {
                let bytes = usize::try_from(result);
                let bytes = bytes.map_err(|_| io::Error::from_raw_os_error(-result))?;
                return Ok((slot, bytes));
            }
            self.wait()?;
        }
    }
}

impl Drop for UringQueue {
    fn drop(&mut self) {
        while self.slots.iter().any(|slot| slot.is_in_flight) {
            if self.ended().is_none() && self.wait().is_err() {
                // The system may still write into the buffers: they are never freed.
                std::mem::forget(std::mem::take(&mut self.slots));
                return;
            }
        }
    }
}
