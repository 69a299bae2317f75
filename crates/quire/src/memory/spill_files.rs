//! Files for what does not fit memory: without names, and read by whoever wants their rows.
//!
//! DataFusion's own files are read by a pool of threads, one for each file that is merged, and each thread keeps megabytes of its own. What
//! was just written is in the system's cache, so that reading it here costs less than waking another thread.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use datafusion::common::Result;
use datafusion::execution::spill_file::{SpillFile, SpillWriter, TempFileFactory};
use futures::{Stream, stream};
use quire_store::{Disk, FileDisk};

use quire_error::Error;

/// Bytes that are read at a time.
const READ_BYTES: u64 = 64 << 10;

/// Makes files where the system has its temporary ones.
pub(crate) struct SpillFiles;

impl TempFileFactory for SpillFiles {
    fn create_temp_file(&self, _: &str) -> Result<Arc<dyn SpillFile>> {
        let disk = FileDisk::temporary(None).map_err(Error::from)?;
        Ok(Arc::new(NamelessFile(Arc::new(WrittenSpillFile {
            disk,
            end: AtomicU64::new(0),
        }))))
    }
}

struct NamelessFile(Arc<WrittenSpillFile>);

/// A file, and how far it is written. It is gone with its last writer and reader.
struct WrittenSpillFile {
    disk: FileDisk,
    end: AtomicU64,
}

impl WrittenSpillFile {
    /// The bytes from `offset` on; none behind the last.
    fn read(&self, offset: u64) -> io::Result<Option<Bytes>> {
        let left = self.end.load(Ordering::Acquire).saturating_sub(offset);
        if left == 0 {
            return Ok(None);
        }
        let mut bytes = vec![0; left.min(READ_BYTES) as usize];
        self.disk.read_at(&mut bytes, offset)?;
        Ok(Some(Bytes::from(bytes)))
    }
}

impl SpillFile for NamelessFile {
    fn size(&self) -> Option<u64> {
        Some(self.0.end.load(Ordering::Acquire))
    }

    fn read_stream(&self) -> Result<Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>> {
        let file = Arc::clone(&self.0);
        Ok(Box::pin(stream::try_unfold(0, move |offset| {
            let next = file.read(offset);
            async move {
                let bytes = next?;
                Ok(bytes.map(|bytes| {
                    let end = offset + bytes.len() as u64;
                    (bytes, end)
                }))
            }
        })))
    }

    fn open_writer(&self) -> Result<Box<dyn SpillWriter>> {
        Ok(Box::new(SpillFileWriter(Arc::clone(&self.0))))
    }
}

/// Appends to a file; there is one at a time.
struct SpillFileWriter(Arc<WrittenSpillFile>);

impl Write for SpillFileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = self.0.end.load(Ordering::Acquire);
        self.0.disk.write_at(bytes, end)?;
        self.0.end.fetch_add(bytes.len() as u64, Ordering::AcqRel);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SpillWriter for SpillFileWriter {
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use futures::TryStreamExt;
    use futures::executor::block_on;

    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let file = SpillFiles.create_temp_file("test").unwrap();
        let mut expected = Vec::new();
        for number in 0..50_u32 {
            let mut writer = file.open_writer().unwrap();
            let bytes = number.to_le_bytes().repeat(1_000);
            writer.write_all(&bytes).unwrap();
            writer.finish().unwrap();
            expected.extend(bytes);
        }
        assert_eq!(file.size(), Some(expected.len() as u64));
        let chunks: Vec<Bytes> = block_on(file.read_stream().unwrap().try_collect()).unwrap();
        assert_eq!(chunks.concat(), expected);
        let again: Vec<Bytes> = block_on(file.read_stream().unwrap().try_collect()).unwrap();
        assert_eq!(again.concat(), expected);
    }
}
