//! A disk in memory that does something before each sync.

use std::io;
use std::sync::Mutex;

use quire_store::{Disk, MemDisk};

pub type BeforeSync = Box<dyn FnMut() + Send>;

#[derive(Default)]
pub struct AskingDisk {
    disk: MemDisk,
    before_sync: Mutex<Option<BeforeSync>>,
}

impl AskingDisk {
    pub fn set_before_sync(&self, before_sync: Option<BeforeSync>) {
        *self.before_sync.lock().unwrap() = before_sync;
    }
}

impl Disk for AskingDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.disk.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.disk.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        if let Some(before_sync) = &mut *self.before_sync.lock().unwrap() {
            before_sync();
        }
        self.disk.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.disk.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.disk.set_len(bytes)
    }

    fn name(&self) -> String {
        self.disk.name()
    }
}
