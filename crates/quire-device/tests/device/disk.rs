//! A volume within a file of a data set.

use std::sync::Arc;

use quire_device::{
    DataSetCodec, DataSetDisk, DataSetProperties, DataSetVolume, NewInode, ROOT_INODE,
    SynchronousWrites,
};
use quire_store::disk::CrashImages;
use quire_store::{Disk, MemDisk, OpenMode, PageId, PageKind, SimDisk, Volume};

use crate::random::{Random, seeds};
use crate::volumes::{check, create_on, open_on, volume_options};

fn properties(codec: &str, synchronous: SynchronousWrites) -> DataSetProperties {
    DataSetProperties {
        record_bytes: Some(4096),
        compression: DataSetCodec::from_name(codec),
        synchronous: Some(synchronous),
        ..DataSetProperties::default()
    }
}

/// A file of a new data set, as a disk.
fn disk_in(sets: &DataSetVolume, properties: DataSetProperties) -> Arc<DataSetDisk> {
    sets.create_set("device", properties).unwrap();
    let set = sets.open_set("device").unwrap();
    let file = set
        .create(ROOT_INODE, b"disk", &NewInode::file(0o600))
        .unwrap();
    set.sync().unwrap();
    Arc::new(DataSetDisk::open(set, file).unwrap())
}

/// The disk as it is after a crash.
fn disk_again(sets: &DataSetVolume) -> Arc<DataSetDisk> {
    let set = sets.open_set("device").unwrap();
    let file = set.lookup(ROOT_INODE, b"disk").unwrap();
    Arc::new(DataSetDisk::open(set, file).unwrap())
}

#[test]
fn it_is_a_disk_as_any_other() {
    let sets = create_on(Arc::new(MemDisk::new()), 1 << 20);
    let disk = disk_in(&sets, properties("zstd", SynchronousWrites::Compressed));
    assert!(disk.is_empty().unwrap());
    disk.write_at(b"end", 9_000).unwrap();
    assert_eq!(disk.len().unwrap(), 9_003);
    let mut bytes = [1; 5];
    disk.read_at(&mut bytes, 8_998).unwrap();
    assert_eq!(&bytes, b"\0\0end");
    let error = disk.read_at(&mut bytes, 8_999).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
    disk.set_len(9_001).unwrap();
    disk.set_len(9_005).unwrap();
    disk.read_at(&mut bytes, 9_000).unwrap();
    assert_eq!(&bytes, b"e\0\0\0\0");
    let set = sets.open_set("device").unwrap();
    assert!(DataSetDisk::open(set, ROOT_INODE).is_err());
}

#[test]
fn a_quota_is_a_full_disk() {
    let sets = create_on(Arc::new(MemDisk::new()), 256 << 10);
    let limited = DataSetProperties {
        quota_bytes: Some(1 << 20),
        ..properties("off", SynchronousWrites::Compressed)
    };
    let disk = disk_in(&sets, limited);
    let noise = Random(1).bytes(300_000);
    let mut offset = 0;
    let error = loop {
        match disk.write_at(&noise, offset) {
            Ok(()) => offset += noise.len() as u64,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::QuotaExceeded);
    assert!(error.to_string().contains("quota of 1048576"), "{error}");
}

/// What an inner volume has had acknowledged: the pages after so many operations of the outer disk.
type Acknowledged = Vec<(usize, Vec<(PageId, Vec<u8>)>)>;

fn crash_everywhere(seed: u64, synchronous: SynchronousWrites) -> Result<(), String> {
    let mut random = Random(seed);
    let outer = Arc::new(SimDisk::recording(Vec::new()));
    let sets = create_on(outer.clone(), 1 << 20);
    let disk = disk_in(&sets, properties("lz4", synchronous));
    let volume = Volume::create(disk, volume_options()).unwrap();
    let mut pages: Vec<(PageId, Vec<u8>)> = Vec::new();
    let mut acknowledged: Acknowledged = vec![(outer.journal_len(), pages.clone())];
    for _ in 0..20 {
        let batch = volume.begin().unwrap();
        if random.chance(40) && !pages.is_empty() {
            let (page, _) = pages.remove(random.below(pages.len() as u64) as usize);
            batch.free(page).unwrap();
        }
        for _ in 0..1 + random.below(3) {
            let length = random.below(20_000) as usize;
            let payload = random.content(length);
            let page = batch.write(PageKind::Segment, &payload).unwrap();
            pages.push((page, payload));
        }
        batch.commit().unwrap();
        acknowledged.push((outer.journal_len(), pages.clone()));
        if random.chance(10) {
            volume.checkpoint().unwrap();
        }
    }
    let journal = outer.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    loop {
        let position = crashes.position();
        let past = acknowledged.partition_point(|(journal, _)| *journal <= position);
        if past > 0 {
            let image = crashes.image(random.next_u64());
            let sets = open_on(Arc::new(MemDisk::from_bytes(image)), 1 << 20)?;
            let opened =
                Volume::open_with(disk_again(&sets), OpenMode::ReadWrite, volume_options());
            let volume = opened.map_err(|error| format!("after {position}: {error}"))?;
            let has = |(_, pages): &(usize, Vec<(PageId, Vec<u8>)>)| {
                let found = volume.pin().pages().len() == pages.len();
                let mut pages = pages.iter();
                found
                    && pages.all(|(page, payload)| {
                        volume.read(*page).is_ok_and(|found| *found == **payload)
                    })
            };
            let allowed = &acknowledged[past - 1..acknowledged.len().min(past + 1)];
            if !allowed.iter().any(has) {
                return Err(format!(
                    "after {position}: what was acknowledged is missing"
                ));
            }
            if let Some(finding) = volume.check().findings.first() {
                return Err(format!("after {position}: {finding}"));
            }
            drop(volume);
            sets.sync().map_err(|error| error.to_string())?;
            check(&sets)?;
        }
        if !crashes.advance() {
            return Ok(());
        }
    }
}

#[test]
fn what_a_volume_above_has_acknowledged_survives_a_crash_of_the_disk_below() {
    for seed in seeds(2) {
        for synchronous in [SynchronousWrites::Compressed, SynchronousWrites::Logged] {
            if let Err(what) = crash_everywhere(seed, synchronous) {
                panic!("QUIRE_SEED={seed} QUIRE_CASES=1, {synchronous:?}: {what}");
            }
        }
    }
}

#[test]
fn what_compresses_takes_less_on_it() {
    let sets = create_on(Arc::new(MemDisk::new()), 1 << 20);
    let disk = disk_in(&sets, properties("gzip-6", SynchronousWrites::Compressed));
    let volume = Volume::create(disk, volume_options()).unwrap();
    let text = (0..40_000)
        .map(|number| format!("row {number}, "))
        .collect::<String>();
    let batch = volume.begin().unwrap();
    let page = batch.write(PageKind::Segment, text.as_bytes()).unwrap();
    batch.commit().unwrap();
    let statistics = sets.open_set("device").unwrap().statistics();
    assert!(statistics.compression_ratio() > 2.0, "{statistics:?}");
    assert_eq!(&*volume.read(page).unwrap(), text.as_bytes());
}
