//! A file of the operating system without its page cache: direct I/O.
//!
//! Direct I/O takes whole blocks only: offset, length and address in memory are multiples of 4 KiB. What is not goes through an aligned
//! *bounce buffer* when it is read. When it is written, whole blocks are written directly, and the parts of blocks at its ends through
//! an ordinary descriptor of the same file, so that two writes to different parts of one block cannot undo each other, as they could
//! if each read the block, changed it and wrote it back. The system keeps both ways coherent: it writes what its cache has of a range before a
//! direct read, and forgets it after a direct write. No block is written both ways at once, unless two writes overlap.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::file::failed;
use super::{Disk, FileDisk, OpenMode};
use crate::error::VolumeOpenError;

/// Offsets, lengths and addresses are multiples of this. It is the block of the volume, and no block of a device is longer.
const DIRECT_BLOCK_BYTES: usize = 4096;

/// Longer reads and writes are made in pieces of this length.
const PIECE_BYTES_MAX: usize = 2 << 20;

/// Bounce buffers that are kept for the next call.
const KEPT_BUFFERS_MAX: usize = 8;

/// `O_DIRECT` on processors whose pages are of 4 KiB. Where the system has larger pages, what it writes of its cache may cover
/// neighbours of a block that were written directly meanwhile; there direct I/O is refused.
const O_DIRECT: Option<i32> = if cfg!(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "riscv64",
        target_arch = "s390x"
    )
)) {
    Some(0o40_000)
} else {
    None
};

/// What file systems without direct I/O answer: `EINVAL`.
const REFUSED: io::ErrorKind = io::ErrorKind::InvalidInput;

/// A file whose bytes are not kept in the page cache of the operating system. Locked as a [`FileDisk`] is.
///
/// The page cache is of no use to whoever has a cache of its own, and experiments with a device must not measure it. Reading and
/// writing without it is slower where the own cache is small: every read goes to the device, and the system does not read ahead.
#[derive(Debug)]
pub struct DirectFileDisk {
    /// Has the lock and the length, and writes parts of blocks.
    ordinary: FileDisk,
    direct: File,
    buffers: Mutex<Vec<BounceBuffer>>,
}

impl DirectFileDisk {
    /// Opens an existing file.
    ///
    /// # Errors
    /// [`VolumeOpenError::DirectRefused`] when the file system has no direct I/O, and those of [`FileDisk::open`].
    pub fn open(path: impl AsRef<Path>, mode: OpenMode) -> Result<Self, VolumeOpenError> {
        let path = path.as_ref();
        Self::over(FileDisk::open(path, mode)?, path, mode)
    }

    /// Opens a file for writing and creates it, empty, when it is missing: see [`FileDisk::open_or_create`]. A file system that refuses
    /// may be left with an empty file.
    ///
    /// # Errors
    /// As [`DirectFileDisk::open`].
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<Self, VolumeOpenError> {
        let path = path.as_ref();
        Self::over(FileDisk::open_or_create(path)?, path, OpenMode::ReadWrite)
    }

    fn over(ordinary: FileDisk, path: &Path, mode: OpenMode) -> Result<Self, VolumeOpenError> {
        let Some(flag) = O_DIRECT else {
            return Err(refused(path, "O_DIRECT is not known on this platform"));
        };
        let mut options = OpenOptions::new();
        options.read(true).write(mode == OpenMode::ReadWrite);
        options.custom_flags(flag);
        let open_failed = |source: io::Error| match source.kind() {
            REFUSED => refused(path, "the file system refuses O_DIRECT"),
            _ => failed(path, "open for direct I/O", source),
        };
        let direct = options.open(path).map_err(open_failed)?;
        if !ordinary.is_same_file(&direct).map_err(open_failed)? {
            let source = io::Error::other("the path leads to another file than a moment ago");
            return Err(failed(path, "open", source));
        }
        let disk = Self {
            ordinary,
            direct,
            buffers: Mutex::default(),
        };
        // Some file systems open the file and refuse to read it.
        let mut buffer = BounceBuffer::new();
        let block = buffer.aligned(DIRECT_BLOCK_BYTES);
        block
            .and_then(|block| disk.read_blocks(block, 0))
            .map_err(open_failed)?;
        Ok(disk)
    }

    /// Fills as much of `blocks`, which is aligned, as the file has from the aligned `offset` on, and returns how much that is.
    fn read_blocks(&self, blocks: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled_bytes = 0;
        // A length that is no multiple of a block is that of the end of the file.
        while filled_bytes < blocks.len() && filled_bytes.is_multiple_of(DIRECT_BLOCK_BYTES) {
            let at = offset_after(offset, filled_bytes)?;
            match self.direct.read_at(&mut blocks[filled_bytes..], at) {
                Ok(0) => break,
                Ok(bytes) => filled_bytes += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled_bytes)
    }

    /// Reads a range of at most a piece through a bounce buffer.
    fn read_bounced(&self, piece: &mut [u8], offset: u64) -> io::Result<()> {
        let before_bytes = bytes_past_block(offset);
        let end_bytes = before_bytes + piece.len();
        self.with_buffer(end_bytes.next_multiple_of(DIRECT_BLOCK_BYTES), |blocks| {
            let filled_bytes = self.read_blocks(blocks, offset - before_bytes as u64)?;
            if filled_bytes < end_bytes {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            piece.copy_from_slice(&blocks[before_bytes..end_bytes]);
            Ok(())
        })
    }

    /// Writes whole blocks at an aligned offset.
    fn write_blocks(&self, blocks: &[u8], offset: u64) -> io::Result<()> {
        let mut written_bytes = 0;
        for piece in blocks.chunks(PIECE_BYTES_MAX) {
            let at = offset_after(offset, written_bytes)?;
            if is_aligned(piece) {
                self.write_aligned(piece, at)?;
            } else {
                self.with_buffer(piece.len(), |bounce| {
                    bounce.copy_from_slice(piece);
                    self.write_aligned(bounce, at)
                })?;
            }
            written_bytes += piece.len();
        }
        Ok(())
    }

    fn write_aligned(&self, blocks: &[u8], offset: u64) -> io::Result<()> {
        let mut written_bytes = 0;
        while written_bytes < blocks.len() {
            let (rest, at) = (
                &blocks[written_bytes..],
                offset_after(offset, written_bytes)?,
            );
            if !written_bytes.is_multiple_of(DIRECT_BLOCK_BYTES) {
                // The system has stopped inside a block, and would refuse to go on from there.
                return self.ordinary.write_at(rest, at);
            }
            match self.direct.write_at(rest, at) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => written_bytes += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Lends an aligned buffer of `bytes`.
    fn with_buffer(
        &self,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let kept = self.kept_buffers().pop();
        let mut buffer = kept.unwrap_or_else(BounceBuffer::new);
        let result = buffer.aligned(bytes).and_then(fill);
        let mut kept = self.kept_buffers();
        if kept.len() < KEPT_BUFFERS_MAX {
            kept.push(buffer);
        }
        result
    }

    fn kept_buffers(&self) -> MutexGuard<'_, Vec<BounceBuffer>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for DirectFileDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let is_whole = bytes_past_block(offset) == 0 && is_aligned(buffer);
        let whole_bytes = buffer.len() - buffer.len() % DIRECT_BLOCK_BYTES;
        let direct_bytes = if is_whole { whole_bytes } else { 0 };
        let (direct, bounced) = buffer.split_at_mut(direct_bytes);
        if self.read_blocks(direct, offset)? < direct_bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut at = offset_after(offset, direct_bytes)?;
        for piece in bounced.chunks_mut(PIECE_BYTES_MAX) {
            self.read_bounced(piece, at)?;
            at = offset_after(at, piece.len())?;
        }
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let end = offset_after(offset, bytes.len())?;
        let head_bytes = (DIRECT_BLOCK_BYTES - bytes_past_block(offset)) % DIRECT_BLOCK_BYTES;
        let tail_bytes = bytes_past_block(end);
        let block_bytes = bytes.len().checked_sub(head_bytes + tail_bytes);
        let Some(block_bytes) = block_bytes.filter(|block_bytes| *block_bytes > 0) else {
            return self.ordinary.write_at(bytes, offset);
        };
        let (head, rest) = bytes.split_at(head_bytes);
        let (blocks, tail) = rest.split_at(block_bytes);
        if !head.is_empty() {
            self.ordinary.write_at(head, offset)?;
        }
        let first_block = offset_after(offset, head_bytes)?;
        let end_of_blocks = offset_after(first_block, block_bytes)?;
        self.ordinary
            .write_up_to(end_of_blocks, |_| self.write_blocks(blocks, first_block))?;
        if !tail.is_empty() {
            self.ordinary.write_at(tail, end_of_blocks)?;
        }
        Ok(())
    }

    /// Of both descriptors: they are one file, and direct writes, too, may be in the cache of the device.
    fn sync(&self) -> io::Result<()> {
        self.ordinary.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.ordinary.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.ordinary.set_len(bytes)
    }

    fn discard(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.ordinary.discard(offset, bytes)
    }

    fn name(&self) -> String {
        self.ordinary.name()
    }
}

/// Memory that begins wherever the allocator wants, and has a part that is aligned.
#[derive(Debug)]
struct BounceBuffer {
    memory: Vec<u8>,
}

impl BounceBuffer {
    fn new() -> Self {
        Self { memory: Vec::new() }
    }

    /// An aligned part of `bytes`. What is in it is from before.
    fn aligned(&mut self, bytes: usize) -> io::Result<&mut [u8]> {
        let needed_bytes = bytes + DIRECT_BLOCK_BYTES;
        if self.memory.len() < needed_bytes {
            self.memory = vec![0; needed_bytes];
        }
        let start = self.memory.as_ptr().align_offset(DIRECT_BLOCK_BYTES);
        let aligned = self.memory.get_mut(start..start.saturating_add(bytes));
        aligned.ok_or_else(|| io::Error::other("memory cannot be aligned to blocks"))
    }
}

fn is_aligned(bytes: &[u8]) -> bool {
    bytes.as_ptr().align_offset(DIRECT_BLOCK_BYTES) == 0
}

fn bytes_past_block(offset: u64) -> usize {
    (offset % DIRECT_BLOCK_BYTES as u64) as usize
}

fn offset_after(offset: u64, bytes: usize) -> io::Result<u64> {
    let after = offset.checked_add(bytes as u64);
    after.ok_or_else(|| io::ErrorKind::FileTooLarge.into())
}

fn refused(path: &Path, detail: &str) -> VolumeOpenError {
    VolumeOpenError::DirectRefused {
        file: path.display().to_string(),
        detail: detail.to_owned(),
    }
}
