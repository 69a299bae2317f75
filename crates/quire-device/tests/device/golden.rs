//! Data sets of every format version open, and hold what they held when they were made.

use std::sync::Arc;

use quire_device::{DataSet, DataSetVolume, ROOT_INODE};
use quire_store::{MemDisk, OpenMode, Volume};

use crate::golden_content::{SETS, make, make_with_dictionary, options, orders, sparse, text_of};
use crate::volumes::check;

fn open(bytes: Vec<u8>, mode: OpenMode) -> DataSetVolume {
    let volume = Volume::open(Arc::new(MemDisk::from_bytes(bytes)), mode).unwrap();
    DataSetVolume::open(volume, options()).unwrap()
}

fn assert_content(set: &DataSet, name: &str) {
    let text = set.lookup(ROOT_INODE, b"text").unwrap();
    assert_eq!(
        set.read(text, 0, usize::MAX).unwrap(),
        text_of(name),
        "{name}"
    );
    let other = set.lookup(ROOT_INODE, b"sparse").unwrap();
    assert!(
        set.read(other, 0, usize::MAX).unwrap() == sparse(),
        "{name}"
    );
    assert_eq!(set.space(other).unwrap().record_count, 1);
    let folder = set.lookup(ROOT_INODE, b"folder").unwrap();
    assert_eq!(set.lookup(folder, b"also text").unwrap(), text);
    assert_eq!(set.attributes(text).unwrap().links, 2);
    let link = set.lookup(folder, b"link").unwrap();
    assert_eq!(set.read_link(link).unwrap(), b"../text");
    assert_eq!(
        (
            set.attributes(link).unwrap().uid,
            set.attributes(link).unwrap().gid
        ),
        (1, 2)
    );
    assert_eq!(set.extended(folder, b"user.color").unwrap(), b"blue");
    let modified = set.attributes(folder).unwrap().modified;
    assert_eq!((modified.seconds, modified.nanoseconds), (1_700_000_000, 7));
}

fn assert_volume(bytes: &[u8]) {
    for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite] {
        let sets = open(bytes.to_vec(), mode);
        assert_eq!(check(&sets), Ok(()));
        for name in SETS {
            assert_content(&sets.open_set(name).unwrap(), name);
        }
        let list = sets.list().unwrap();
        let first = list[0].effective;
        assert_eq!(first.compression.to_string(), "zstd-5");
        assert_eq!((first.record_bytes, first.gain_per_mille), (4096, 100));
        assert_eq!(first.quota_bytes, Some(1 << 30));
        assert_eq!(list[1].origin.as_deref(), Some("first@one"));
    }
    // And they take more.
    let sets = open(bytes.to_vec(), OpenMode::ReadWrite);
    let set = sets.open_set("first").unwrap();
    let text = set.lookup(ROOT_INODE, b"text").unwrap();
    set.write(text, 0, b"new").unwrap();
    sets.destroy_set("second").unwrap();
    sets.destroy_snapshot("first@one").unwrap();
    sets.sync().unwrap();
    assert_eq!(check(&sets), Ok(()));
    assert_eq!(set.read(text, 0, 6).unwrap(), b"newe 0");
}

#[test]
fn data_sets_of_version_1_open() {
    assert_volume(include_bytes!("../golden/v1/sets.volume"));
}

fn assert_volume_with_dictionary(bytes: &[u8]) {
    for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite] {
        let sets = open(bytes.to_vec(), mode);
        assert_eq!(check(&sets), Ok(()));
        for (name, end) in [("learnt@one", ""), ("learnt", "the end\n")] {
            let set = sets.open_set(name).unwrap();
            let file = set.lookup(ROOT_INODE, b"orders").unwrap();
            let expected = [&orders()[..], end.as_bytes()].concat();
            assert!(set.read(file, 0, usize::MAX).unwrap() == expected, "{name}");
            assert_eq!(set.space(file).unwrap().dictionaries.count, 1);
        }
    }
    let sets = open(bytes.to_vec(), OpenMode::ReadWrite);
    let set = sets.open_set("learnt").unwrap();
    set.unlink(ROOT_INODE, b"orders").unwrap();
    sets.destroy_snapshot("learnt@one").unwrap();
    sets.sync().unwrap();
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn data_sets_of_version_2_open() {
    assert_volume_with_dictionary(include_bytes!("../golden/v2/dictionary.volume"));
    assert_volume_with_dictionary(&make_with_dictionary().unwrap());
}

#[test]
fn data_sets_that_are_made_now_are_what_those_of_version_1_are() {
    assert_volume(&make().unwrap());
}
