use quire_device::{
    DataSetProperties, ExtendedMode, FileError, InodeKind, NewInode, ROOT_INODE, RenameMode,
};

use crate::volumes::{check, in_memory};

fn code(result: Result<(), FileError>) -> String {
    let text = result.unwrap_err().to_string();
    text.split(':').next().unwrap_or_default().to_owned()
}

#[test]
fn a_file_without_a_name_stays_while_somebody_has_it_open() {
    let sets = in_memory();
    let set = sets.open_set("data").unwrap();
    let file = set
        .create(ROOT_INODE, b"file", &NewInode::file(0o644))
        .unwrap();
    set.write(file, 0, b"content").unwrap();
    set.open(file).unwrap();
    set.open(file).unwrap();
    set.unlink(ROOT_INODE, b"file").unwrap();
    set.sync().unwrap();
    assert_eq!(check(&sets), Ok(()));
    set.release(file).unwrap();
    set.write(file, 7, b" and more").unwrap();
    assert_eq!(set.read(file, 0, 100).unwrap(), b"content and more");
    assert_eq!(set.attributes(file).unwrap().links, 0);
    assert_eq!(code(set.link(file, ROOT_INODE, b"again")), "ENOENT");
    set.release(file).unwrap();
    assert_eq!(code(set.attributes(file).map(|_| ())), "ENOENT");
    set.sync().unwrap();
    assert_eq!(set.statistics().logical_bytes(), 0);
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn names_that_cannot_be_are_refused() {
    let sets = in_memory();
    let set = sets.open_set("data").unwrap();
    let new = NewInode::file(0o644);
    for name in [&b""[..], b".", b"..", b"a/b", b"a\0b"] {
        assert_eq!(
            code(set.create(ROOT_INODE, name, &new).map(|_| ())),
            "EINVAL",
            "{name:?}"
        );
    }
    let long = [b'a'; 256];
    assert_eq!(
        code(set.create(ROOT_INODE, &long, &new).map(|_| ())),
        "ENAMETOOLONG"
    );
    assert!(set.create(ROOT_INODE, &long[..255], &new).is_ok());
    assert_eq!(
        code(set.create_link(ROOT_INODE, b"l", b"", (0, 0)).map(|_| ())),
        "EINVAL"
    );
    let long = [b'a'; 4095];
    let link = set.create_link(ROOT_INODE, b"l", &long, (5, 6)).unwrap();
    assert_eq!(set.read_link(link).unwrap(), long);
    assert_eq!(set.attributes(link).unwrap().size, 4095);
    assert_eq!(code(set.write(link, 0, b"x")), "EINVAL");
}

#[test]
fn directories_are_not_moved_into_themselves_and_know_where_they_are() {
    let sets = in_memory();
    let set = sets.open_set("data").unwrap();
    let new = NewInode::directory(0o755);
    let a = set.create(ROOT_INODE, b"a", &new).unwrap();
    let b = set.create(a, b"b", &new).unwrap();
    let c = set.create(b, b"c", &new).unwrap();
    let replace = RenameMode::Replace;
    assert_eq!(
        code(set.rename((ROOT_INODE, b"a"), (c, b"x"), replace)),
        "EINVAL"
    );
    assert_eq!(code(set.rename((a, b"b"), (b, b"x"), replace)), "EINVAL");
    set.rename((b, b"c"), (ROOT_INODE, b"c"), RenameMode::NoReplace)
        .unwrap();
    assert_eq!(set.attributes(c).unwrap().parent, ROOT_INODE);
    set.rename((ROOT_INODE, b"a"), (c, b"a"), replace).unwrap();
    set.rename((c, b"a"), (ROOT_INODE, b"c"), RenameMode::Exchange)
        .unwrap_err();
    let links = |inode| set.attributes(inode).unwrap().links;
    assert_eq!(
        (links(ROOT_INODE), links(a), links(b), links(c)),
        (3, 3, 2, 3)
    );
    assert_eq!(code(set.remove_directory(ROOT_INODE, b"c")), "ENOTEMPTY");
    set.sync().unwrap();
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn many_names_are_listed_in_order_and_in_parts() {
    let sets = in_memory();
    let set = sets.open_set("data").unwrap();
    let new = NewInode {
        kind: InodeKind::Fifo,
        ..NewInode::file(0o600)
    };
    let mut expected: Vec<Vec<u8>> = (0..3000)
        .map(|n: u32| format!("{n}").into_bytes())
        .collect();
    for (number, name) in expected.iter().enumerate() {
        set.create(ROOT_INODE, name, &new).unwrap();
        // Some are in the tree, some in memory.
        if number % 1000 == 700 {
            set.write_back().unwrap();
        }
    }
    set.unlink(ROOT_INODE, b"1500").unwrap();
    expected.sort();
    expected.retain(|name| name != b"1500");
    for limit in [1, 7, 511, 512, 513, 5000] {
        let mut found: Vec<Vec<u8>> = Vec::new();
        loop {
            let after = found.last().map(Vec::as_slice);
            let some = set.read_directory(ROOT_INODE, after, limit).unwrap();
            if some.is_empty() {
                break;
            }
            assert!(some.len() <= limit);
            found.extend(some.into_iter().map(|entry| entry.name));
            if limit == 1 && found.len() > 20 {
                found.extend_from_slice(&expected[found.len()..]);
            }
        }
        assert!(found == expected, "{limit}");
    }
}

#[test]
fn extended_attributes_are_set_as_asked() {
    let sets = in_memory();
    let set = sets.open_set("data").unwrap();
    let set_it = |value: &[u8], mode| set.set_extended(ROOT_INODE, b"user.a", value, mode);
    assert_eq!(code(set_it(b"1", ExtendedMode::Replace)), "ENODATA");
    set_it(b"1", ExtendedMode::Create).unwrap();
    assert_eq!(code(set_it(b"2", ExtendedMode::Create)), "EEXIST");
    set_it(&[2; 3072], ExtendedMode::Replace).unwrap();
    assert_eq!(code(set_it(&[2; 3073], ExtendedMode::Any)), "E2BIG");
    assert_eq!(set.extended(ROOT_INODE, b"user.a").unwrap(), [2; 3072]);
    set.sync().unwrap();
    set.set_extended(ROOT_INODE, b"user.b", b"", ExtendedMode::Any)
        .unwrap();
    assert_eq!(
        set.extended_names(ROOT_INODE).unwrap(),
        [b"user.a", b"user.b"]
    );
    set.remove_extended(ROOT_INODE, b"user.a").unwrap();
    assert_eq!(code(set.remove_extended(ROOT_INODE, b"user.a")), "ENODATA");
    assert_eq!(set.extended_names(ROOT_INODE).unwrap(), [b"user.b"]);
}

#[test]
fn what_is_opened_again_by_another_name_is_the_same() {
    let sets = in_memory();
    sets.create_set("data/below", DataSetProperties::default())
        .unwrap();
    let first = sets.open_set("data").unwrap();
    let file = first
        .create(ROOT_INODE, b"a", &NewInode::file(0o644))
        .unwrap();
    first.link(file, ROOT_INODE, b"b").unwrap();
    let second = sets.open_set("data").unwrap();
    second.write(file, 0, b"same").unwrap();
    let linked = first.lookup(ROOT_INODE, b"b").unwrap();
    assert_eq!(first.read(linked, 0, 10).unwrap(), b"same");
    assert_eq!(first.attributes(file).unwrap().links, 2);
    let below = sets.open_set("data/below").unwrap();
    assert!(below.lookup(ROOT_INODE, b"a").is_err());
}
