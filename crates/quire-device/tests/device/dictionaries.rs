//! Dictionaries of files: learnt, used, kept by snapshots, and gone with the last record.

use std::sync::Arc;

use quire_device::{
    AttributeChange, DataSet, DataSetCodec, DataSetProperties, DataSetVolume, ROOT_INODE,
};
use quire_format::data_set::DataSetHead;
use quire_store::{MemDisk, PageKind};

use crate::phrases::phrases;
use crate::random::Random;
use crate::volumes::{check, create_on, dictionary_pages, new_file, open_on, with_page};

const FILE_BYTES: usize = 400_000;
const DIRTY_BYTES: usize = 64 << 20;

fn with_compression(name: &str) -> DataSetProperties {
    DataSetProperties {
        record_bytes: Some(4096),
        compression: DataSetCodec::from_name(name),
        ..DataSetProperties::default()
    }
}

fn text(seed: u64) -> Vec<u8> {
    phrases(&mut Random(seed), FILE_BYTES)
}

/// A volume with the data set `data`, in which `file` has [`text`] 1 and a dictionary.
fn with_dictionary() -> (Arc<MemDisk>, DataSetVolume, Arc<DataSet>, u64) {
    let disk = Arc::new(MemDisk::new());
    let sets = create_on(disk.clone(), DIRTY_BYTES);
    sets.create_set("data", with_compression("auto")).unwrap();
    let set = sets.open_set("data").unwrap();
    let file = new_file(&set, "file");
    set.write(file, 0, &text(1)).unwrap();
    set.sync().unwrap();
    assert_eq!(set.space(file).unwrap().dictionaries.count, 1);
    (disk, sets, set, file)
}

fn set_size(set: &DataSet, file: u64, size: u64) {
    let change = AttributeChange {
        size: Some(size),
        ..AttributeChange::default()
    };
    set.set_attributes(file, &change).unwrap();
    set.sync().unwrap();
}

#[test]
fn a_dictionary_saves_more_than_it_takes_and_is_read_again() {
    let (disk, sets, set, file) = with_dictionary();
    let space = set.space(file).unwrap();
    sets.create_set("plain", with_compression("zstd-9"))
        .unwrap();
    let plain = sets.open_set("plain").unwrap();
    let other = new_file(&plain, "file");
    plain.write(other, 0, &text(1)).unwrap();
    plain.sync().unwrap();
    let without = plain.space(other).unwrap().stored_bytes;
    assert!(
        space.stored_bytes < without - without / 32,
        "{} and {without}",
        space.stored_bytes
    );
    assert_eq!(dictionary_pages(&sets), 1);
    // What is saved counts in the ratios, and so does what the dictionary takes.
    assert_eq!(set.statistics().stored_bytes(), space.stored_bytes);
    assert_eq!(set.statistics().logical_bytes(), FILE_BYTES as u64);
    assert_eq!(check(&sets), Ok(()));
    drop((set, plain, sets));
    let sets = open_on(disk, DIRTY_BYTES).unwrap();
    let set = sets.open_set("data").unwrap();
    assert!(set.read(file, 0, usize::MAX).unwrap() == text(1));
    // Records that are written later use it, too.
    set.write(file, 8192, &text(2)[..100_000]).unwrap();
    set.sync().unwrap();
    let later = set.space(file).unwrap();
    assert_eq!(later.dictionaries.count, 1);
    assert!(later.stored_bytes < space.stored_bytes + space.stored_bytes / 16);
    let mut expected = text(1);
    expected[8192..108_192].copy_from_slice(&text(2)[..100_000]);
    assert!(set.read(file, 0, usize::MAX).unwrap() == expected);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn the_head_of_a_data_set_without_dictionaries_has_version_1() {
    let (disk, sets, set, _) = with_dictionary();
    sets.create_set("plain", with_compression("lz4")).unwrap();
    sets.snapshot("data@one").unwrap();
    sets.clone_snapshot("data@one", "clone", DataSetProperties::default())
        .unwrap();
    drop((set, sets));
    let sets = open_on(disk, DIRTY_BYTES).unwrap();
    let pin = sets.volume().pin();
    let pages = pin.pages().into_iter();
    let is_head = |page: &_| pin.kind(*page).unwrap() == PageKind::DataSetHead;
    let payloads = pages.filter(is_head).map(|page| pin.read(page).unwrap());
    let mut heads: Vec<(u8, bool)> = payloads
        .map(|payload| {
            let head = DataSetHead::decode(&payload).unwrap();
            (payload[0], head.has_dictionaries)
        })
        .collect();
    heads.sort_unstable();
    // That of the clone has them before it has written any.
    assert_eq!(heads, [(1, false), (2, true), (2, true)]);
}

#[test]
fn the_last_record_takes_the_dictionaries_along() {
    let (_, sets, set, file) = with_dictionary();
    // One record is left, and may need it.
    set_size(&set, file, 1);
    assert_eq!(dictionary_pages(&sets), 1);
    assert_eq!(set.read(file, 0, 10).unwrap(), text(1)[..1]);
    set_size(&set, file, 0);
    assert_eq!(dictionary_pages(&sets), 0);
    assert_eq!(set.space(file).unwrap(), Default::default());
    assert_eq!(check(&sets), Ok(()));
    // Holes are no records.
    set.write(file, 0, &text(3)).unwrap();
    set.sync().unwrap();
    assert_eq!(dictionary_pages(&sets), 1);
    set.punch_hole(file, 0, FILE_BYTES as u64).unwrap();
    set.sync().unwrap();
    assert_eq!(dictionary_pages(&sets), 0);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn a_removed_file_takes_its_dictionaries_along() {
    let (_, sets, set, _) = with_dictionary();
    set.unlink(ROOT_INODE, b"file").unwrap();
    set.sync().unwrap();
    assert_eq!(dictionary_pages(&sets), 0);
    assert_eq!(check(&sets), Ok(()));
    // Removed before its first batch is over, and with one of another file.
    let other = new_file(&set, "other");
    set.write(other, 0, &text(2)).unwrap();
    set.write_back().unwrap();
    set.write(other, 0, &text(3)).unwrap();
    set.unlink(ROOT_INODE, b"other").unwrap();
    set.sync().unwrap();
    assert_eq!(dictionary_pages(&sets), 0);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn a_destroyed_data_set_takes_its_dictionaries_along() {
    let (_, sets, set, _) = with_dictionary();
    drop(set);
    sets.destroy_set("data").unwrap();
    sets.sync().unwrap();
    assert_eq!(dictionary_pages(&sets), 0);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn snapshots_and_clones_keep_the_dictionaries_that_they_need() {
    let (_, sets, set, file) = with_dictionary();
    sets.snapshot("data@one").unwrap();
    sets.clone_snapshot("data@one", "clone", DataSetProperties::default())
        .unwrap();
    set.unlink(ROOT_INODE, b"file").unwrap();
    set.sync().unwrap();
    for name in ["data@one", "clone"] {
        let kept = sets.open_set(name).unwrap();
        assert!(kept.read(file, 0, usize::MAX).unwrap() == text(1), "{name}");
    }
    assert_eq!(dictionary_pages(&sets), 1);
    assert_eq!(check(&sets), Ok(()));
    sets.promote("clone").unwrap();
    assert_eq!(check(&sets), Ok(()));
    sets.open_set("clone")
        .unwrap()
        .unlink(ROOT_INODE, b"file")
        .unwrap();
    sets.sync().unwrap();
    sets.rollback("clone@one").unwrap();
    let clone = sets.open_set("clone").unwrap();
    assert!(clone.read(file, 0, usize::MAX).unwrap() == text(1));
    clone.unlink(ROOT_INODE, b"file").unwrap();
    drop((clone, set));
    sets.sync().unwrap();
    assert_eq!(dictionary_pages(&sets), 1);
    sets.destroy_set("data").unwrap();
    sets.destroy_snapshot("clone@one").unwrap();
    sets.sync().unwrap();
    assert_eq!(dictionary_pages(&sets), 0);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn noise_gets_none_and_fixed_codecs_do_not_either() {
    let disk = Arc::new(MemDisk::new());
    let sets = create_on(disk, DIRTY_BYTES);
    for (name, content) in [
        ("auto", Random(5).bytes(FILE_BYTES)),
        ("zstd-9", text(1)),
        ("lz4", text(1)),
    ] {
        sets.create_set(name, with_compression(name)).unwrap();
        let set = sets.open_set(name).unwrap();
        let file = new_file(&set, "file");
        set.write(file, 0, &content).unwrap();
        set.sync().unwrap();
        assert_eq!(set.space(file).unwrap().dictionaries.count, 0, "{name}");
    }
    assert_eq!(dictionary_pages(&sets), 0);
}

#[test]
fn a_grown_file_that_has_changed_gets_another_dictionary() {
    let (_, sets, set, file) = with_dictionary();
    // Other phrases: letters are capitals.
    let other: Vec<u8> = (2..12).flat_map(text).map(|byte| byte - 32).collect();
    let mut written = FILE_BYTES;
    for part in other.chunks(FILE_BYTES) {
        set.write(file, written as u64, part).unwrap();
        set.sync().unwrap();
        written += part.len();
    }
    let space = set.space(file).unwrap();
    assert_eq!(space.dictionaries.count, 2, "{space:?}");
    assert_eq!(dictionary_pages(&sets), 2);
    assert!(set.read(file, 0, usize::MAX).unwrap() == [text(1), other].concat());
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn a_file_whose_dictionary_cannot_be_read_is_overwritten_and_removed() {
    let (disk, sets, set, file) = with_dictionary();
    let other = new_file(&set, "other");
    set.write(other, 0, b"other").unwrap();
    set.sync().unwrap();
    let pin = sets.volume().pin();
    let mut pages = pin.pages().into_iter();
    let page = pages.find(|page| pin.kind(*page).unwrap() == PageKind::Dictionary);
    let page = page.unwrap();
    let garbage = vec![0xff; pin.read(page).unwrap().len()];
    drop((pin, set, sets));
    let image = with_page(&disk.to_bytes(), page, &garbage);
    let sets = open_on(Arc::new(MemDisk::from_bytes(image)), DIRTY_BYTES).unwrap();
    let set = sets.open_set("data").unwrap();
    let error = set.read(file, 8192, 100).unwrap_err().to_string();
    assert!(error.contains(&format!("page {page}")), "{error}");
    assert!(check(&sets).is_err());
    // Whole records need nothing of the old ones.
    set.write(file, 8192, &text(2)[..8192]).unwrap();
    set.write(other, 0, b"later").unwrap();
    set.sync().unwrap();
    assert_eq!(set.read(file, 8192, 8192).unwrap(), text(2)[..8192]);
    assert_eq!(set.read(other, 0, 10).unwrap(), b"later");
    set.read(file, 0, 8192).unwrap_err();
    // Until there is another dictionary.
    for part in 0..20 {
        set.write(file, 0, &text(3 + part)).unwrap();
        set.sync().unwrap();
    }
    assert!(set.read(file, 0, usize::MAX).unwrap() == text(22));
    assert_eq!(set.space(file).unwrap().dictionaries.count, 2);
    set.unlink(ROOT_INODE, b"file").unwrap();
    set.sync().unwrap();
    assert_eq!(dictionary_pages(&sets), 0);
    assert_eq!(check(&sets), Ok(()));
}
