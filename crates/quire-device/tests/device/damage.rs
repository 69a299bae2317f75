use std::sync::Arc;

use quire_device::{DataSetCodec, DataSetProperties, DataSetVolume, NewInode, ROOT_INODE};
use quire_format::data_set::{DataSetHead, DataSetItem, NodeEntry, encode_node};
use quire_store::{CATALOG_PAGE, MemDisk, OpenMode, PageId, PageKind, Volume};

use crate::phrases::phrases;
use crate::random::Random;
use crate::volumes::{
    create_on, device_options, in_memory, new_file, open_on, short_records_on, volume_options,
    with_page,
};

/// Some files, a snapshot, and lists of dead pages.
fn some_files(sets: &DataSetVolume) {
    let properties = DataSetProperties {
        record_bytes: Some(4096),
        compression: Some(DataSetCodec::Auto),
        ..DataSetProperties::default()
    };
    sets.create_set("set", properties).unwrap();
    let set = sets.open_set("set").unwrap();
    let mut random = Random(9);
    let text = new_file(&set, "text");
    set.write(text, 0, &phrases(&mut random, 100_000)).unwrap();
    for round in 0..3 {
        for number in 0..10 {
            let name = format!("file {number}");
            let file = match set.lookup(ROOT_INODE, name.as_bytes()) {
                Ok(file) => file,
                Err(_) => set
                    .create(ROOT_INODE, name.as_bytes(), &NewInode::file(0o644))
                    .unwrap(),
            };
            let mut content = random.content(30_000);
            content[0] = 1;
            set.write(file, round * 10_000, &content).unwrap();
        }
        set.sync().unwrap();
        sets.snapshot(&format!("set@{round}")).unwrap();
    }
    set.unlink(ROOT_INODE, b"file 3").unwrap();
    set.sync().unwrap();
}

/// Reads all there is; what cannot be read is an error.
fn read_all(sets: &DataSetVolume) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let mut names = Vec::new();
    for set in sets.list().map_err(|error| told(&error))? {
        let snapshots = set.snapshots.iter();
        names.extend(snapshots.map(|snapshot| format!("{}@{}", set.name, snapshot.name)));
        names.push(set.name);
    }
    let mut result: Result<(), String> = Ok(());
    for name in names {
        let read = || -> Result<(), String> {
            let set = sets.open_set(&name).map_err(|error| told(&error))?;
            let entries = set.read_directory(ROOT_INODE, None, usize::MAX);
            for entry in entries.map_err(|error| told(&error))? {
                set.read(entry.inode, 0, 1 << 20)
                    .map_err(|error| told(&error))?;
            }
            Ok(())
        };
        result = result.and(read());
    }
    result
}

#[test]
fn a_flipped_bit_is_an_error_that_names_file_page_and_offset() {
    let disk = Arc::new(MemDisk::new());
    let sets = create_on(disk.clone(), 1 << 20);
    sets.create_set("data", DataSetProperties::default())
        .unwrap();
    let set = sets.open_set("data").unwrap();
    let mut files = Vec::new();
    for name in [b"a", b"b"] {
        let file = set
            .create(ROOT_INODE, name, &NewInode::file(0o644))
            .unwrap();
        let marked = [&name[..], &Random(u64::from(name[0])).bytes(5000)].concat();
        set.write(file, 0, &marked).unwrap();
        files.push((file, marked));
    }
    set.sync().unwrap();
    drop(set);
    drop(sets);
    // Noise is stored as it is: the bytes of the file are in the volume.
    let mut image = disk.to_bytes();
    let wanted = &files[0].1[100..200];
    let place = image
        .windows(100)
        .position(|window| window == wanted)
        .unwrap();
    image[place] ^= 4;
    let sets = open_on(Arc::new(MemDisk::from_bytes(image)), 1 << 20).unwrap();
    let set = sets.open_set("data").unwrap();
    let error = set.read(files[0].0, 0, 10).unwrap_err().to_string();
    // The image begins 32 bytes in front of the payload, and the place is byte 100 of that.
    let expected = format!("of (in memory) is damaged at byte {}", place - 100 - 32);
    assert!(
        error.starts_with("page ") && error.contains(&expected),
        "{error}, {expected}"
    );
    assert!(set.read(files[1].0, 0, 5001).unwrap() == files[1].1);
    let findings = sets.check().findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].invariant, "trees_are_whole");
    assert!(findings[0].what.contains(&expected), "{findings:?}");
}

#[test]
fn wrong_bytes_with_a_right_checksum_are_errors_too() {
    let disk = Arc::new(MemDisk::new());
    let sets = create_on(disk.clone(), 1 << 20);
    some_files(&sets);
    drop(sets);
    let image = disk.to_bytes();
    let volume = Volume::open(disk, OpenMode::ReadOnly).unwrap();
    let pages = volume.pin().pages();
    let kinds: Vec<PageKind> = pages
        .iter()
        .map(|page| volume.pin().kind(*page).unwrap())
        .collect();
    for kind in [
        PageKind::DataSetHead,
        PageKind::DataSetNode,
        PageKind::DeadPages,
        PageKind::Dictionary,
    ] {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
    let mut random = Random(11);
    for (page, kind) in pages.into_iter().zip(kinds) {
        let payload = volume.read(page).unwrap();
        let tries = if kind == PageKind::DataSetRecord {
            1
        } else {
            12
        };
        for round in 0..tries {
            let mut wrong = payload.to_vec();
            match round {
                0 => wrong.truncate(payload.len() / 2),
                1 => wrong.fill(0),
                2 => wrong.fill(255),
                _ => {
                    let place = random.below(payload.len().min(300) as u64) as usize;
                    wrong[place] ^= 1 << random.below(8);
                }
            }
            let image = with_page(&image, page, &wrong);
            // An error, or other values; and no panic.
            let Ok(sets) = open_on(Arc::new(MemDisk::from_bytes(image)), 1 << 20) else {
                continue;
            };
            let read = read_all(&sets);
            let found = !sets.check().findings.is_empty();
            assert!(found || read.is_ok(), "page {page}: {read:?}");
            // A head may have another number for the next inode, and a table another name.
            let is_free = matches!(kind, PageKind::DataSetHead | PageKind::DataSetTable);
            if round < 3 && !is_free {
                assert!(found, "page {page} {kind:?} {round}");
            }
        }
    }
}

#[test]
fn a_damaged_table_names_its_page() {
    let sets = in_memory();
    let volume = sets.volume().clone();
    drop(sets);
    let batch = volume.begin().unwrap();
    batch
        .replace(CATALOG_PAGE, PageKind::DataSetTable, &[0xD1, 1, 9])
        .unwrap();
    batch.commit().unwrap();
    let error = DataSetVolume::open(volume, device_options(1 << 20))
        .err()
        .unwrap();
    let error = error.to_string();
    assert!(
        error.starts_with("page 1 of (in memory) is damaged at byte 3"),
        "{error}"
    );
}

/// A volume with the data set `data`, which has one file, and the page of its head.
fn one_file() -> (Arc<MemDisk>, PageId, DataSetHead) {
    let disk = Arc::new(MemDisk::new());
    let (sets, set) = short_records_on(disk.clone(), 1 << 20);
    let file = new_file(&set, "file");
    set.write(file, 0, b"content").unwrap();
    set.sync().unwrap();
    drop(set);
    drop(sets);
    let volume = Volume::open(disk.clone(), OpenMode::ReadOnly).unwrap();
    let pin = volume.pin();
    let mut pages = pin.pages().into_iter();
    let is_head = |page: &PageId| pin.kind(*page).unwrap() == PageKind::DataSetHead;
    let page = pages.find(is_head).unwrap();
    let head = DataSetHead::decode(&pin.read(page).unwrap()).unwrap();
    (disk, page, head)
}

#[test]
fn an_inode_number_that_is_taken_is_an_error_and_the_file_stays() {
    let (disk, page, head) = one_file();
    let wrong = DataSetHead {
        next_inode: 2,
        ..head
    };
    let image = with_page(&disk.to_bytes(), page, &wrong.encode());
    let sets = open_on(Arc::new(MemDisk::from_bytes(image)), 1 << 20).unwrap();
    let set = sets.open_set("data").unwrap();
    let created = set.create(ROOT_INODE, b"other", &NewInode::file(0o644));
    let error = created.unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("page {page} of (in memory) is damaged")),
        "{error}"
    );
    assert_eq!(set.read(2, 0, 100).unwrap(), b"content");
}

/// Each node has 200 children, which are all the same one: 200^12 ways to a leaf that has nothing of what is looked for.
#[test]
fn a_tree_that_leads_to_one_leaf_in_many_ways_is_an_error_soon() {
    let (disk, page, head) = one_file();
    let volume = Volume::open_with(disk.clone(), OpenMode::ReadWrite, volume_options()).unwrap();
    let batch = volume.begin().unwrap();
    let value = Vec::new();
    // Below all keys that there can be.
    let key = vec![0];
    let leaf = encode_node(0, &[NodeEntry { key, value }]);
    let mut child = batch.write(PageKind::DataSetNode, &leaf).unwrap();
    for level in 1..=12 {
        let entries: Vec<NodeEntry> = (0..200)
            .map(|number| NodeEntry::of_child(DataSetItem::Record(1, number).key(), child))
            .collect();
        let node = encode_node(level, &entries);
        child = batch.write(PageKind::DataSetNode, &node).unwrap();
    }
    let wrong = DataSetHead {
        root: Some(child),
        ..head
    };
    batch
        .replace(page, PageKind::DataSetHead, &wrong.encode())
        .unwrap();
    batch.commit().unwrap();
    drop(volume);
    let sets = open_on(disk, 1 << 20).unwrap();
    // Looking for inodes without names is what opening does.
    let error = sets.open_set("data").err().unwrap().to_string();
    assert!(error.contains("do not ascend"), "{error}");
}

#[test]
fn a_data_set_that_is_damaged_does_not_keep_others_from_being_synced() {
    let disk = Arc::new(MemDisk::new());
    let sets = create_on(disk, 1 << 20);
    let mut files = Vec::new();
    for name in ["a", "b"] {
        sets.create_set(name, DataSetProperties::default()).unwrap();
        let set = sets.open_set(name).unwrap();
        let file = new_file(&set, "file");
        set.sync().unwrap();
        files.push((set, file));
    }
    let volume = sets.volume();
    for round in 0..4 {
        // The older root is that of the data set that was synced first in the round before.
        let pin = volume.pin();
        let mut pages = pin.pages().into_iter();
        let is_node = |page: &PageId| pin.kind(*page).unwrap() == PageKind::DataSetNode;
        let page = pages.find(is_node).unwrap();
        let whole = volume.read(page).unwrap();
        let replaced = |payload: &[u8]| {
            let batch = volume.begin().unwrap();
            batch.replace(page, PageKind::DataSetNode, payload).unwrap();
            batch.commit().unwrap();
        };
        for (set, file) in &files {
            set.write(*file, round, &[7; 100]).unwrap();
        }
        replaced(&[9; 20]);
        assert!(sets.sync().is_err());
        let changed: Vec<bool> = files
            .iter()
            .map(|(set, _)| set.statistics().changed_bytes > 0)
            .collect();
        assert_eq!(
            changed.iter().filter(|is_changed| **is_changed).count(),
            1,
            "{changed:?}"
        );
        replaced(&whole);
        sets.sync().unwrap();
    }
}
