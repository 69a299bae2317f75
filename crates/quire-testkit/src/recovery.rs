//! What campaigns over engines share: opening what a crash has left, and crashing while that is done.

use std::sync::Arc;

use quire_store::disk::CrashImages;
use quire_store::{Disk, OpenMode, SimDisk, Volume, VolumeOptions};

use crate::random::TestRandom;

/// What a recovery found.
pub(crate) struct Recovered {
    /// Which of the allowed states.
    pub(crate) position: usize,
    /// A transaction had written pages ahead.
    pub(crate) was_staged: bool,
    /// Pages of row tables are compressed with dictionaries.
    pub(crate) has_page_dictionaries: bool,
}

/// Opens the volume that a crash left. It may be that nothing of it was there yet.
pub(crate) fn open_volume(
    disk: Arc<dyn Disk>,
    options: VolumeOptions,
    may_be_blank: bool,
) -> Result<Volume, String> {
    let opened = if may_be_blank {
        Volume::open_or_create(disk, options)
    } else {
        Volume::open_with(disk, OpenMode::ReadWrite, options)
    };
    opened.map_err(|error| format!("open: {error}"))
}

/// Crashes after each operation of a recovery, and verifies what each crash leaves. Returns how many there were.
pub(crate) fn crash_again(
    image: &[u8],
    random: &mut TestRandom,
    recover: impl FnOnce(Arc<SimDisk>) -> Result<(), String>,
    verify: impl Fn(Vec<u8>) -> Result<Recovered, String>,
) -> Result<u64, String> {
    let disk = Arc::new(SimDisk::recording(image.to_vec()));
    recover(disk.clone())?;
    let journal = disk.journal();
    let mut crashes = CrashImages::new(image.to_vec(), &journal);
    let mut count = 0;
    loop {
        verify(crashes.image(random.next_u64()))
            .map_err(|what| format!("again after {}: {what}", crashes.position()))?;
        count += 1;
        if !crashes.advance() {
            return Ok(count);
        }
    }
}
