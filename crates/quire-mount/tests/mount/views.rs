//! Snapshots, quotas, and what can be asked about compression.

use std::path::Path;
use std::process::Command;

use quire_device::{DataSetCodec, DataSetProperties};
use quire_mount::MountedDataSet;

use crate::mounting::{Mount, Place, can_mount, create_sets, has_program, options, output, text};

fn python(script: &str, path: &Path) -> String {
    let mut command = Command::new("python3");
    command.arg("-c").arg(script).arg(path);
    text(&mut command, 60).trim().to_owned()
}

#[test]
fn extended_attributes_say_what_compression_has_made_of_a_file() {
    if !can_mount() || !has_program("python3") {
        return;
    }
    let place = Place::new("virtual");
    let properties = DataSetProperties {
        compression: DataSetCodec::from_name("zstd-7"),
        record_bytes: Some(16 << 10),
        ..DataSetProperties::default()
    };
    let sets = create_sets(&place, properties);
    let mount = Mount::new(&place, sets, options(&place));
    let path = place.directory().join("file");
    std::fs::write(&path, b"compressible ".repeat(10_000)).unwrap();
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    let set = mount.sets.open_set("data").unwrap();
    let space = set.space(2).unwrap();
    assert!(space.stored_bytes > 0 && space.raw_bytes == 130_000);
    let get = |path: &Path, name: &str| {
        let script =
            format!("import os,sys; print(os.getxattr(sys.argv[1], 'user.quire.{name}').decode())");
        python(&script, path)
    };
    let ratio = 130_000.0 / space.stored_bytes as f64;
    assert_eq!(get(&path, "compressratio"), format!("{ratio:.2}"));
    assert_eq!(get(&path, "used"), space.stored_bytes.to_string());
    assert_eq!(get(&path, "logicalused"), "130000");
    assert_eq!(get(&path, "recordsize"), "16384");
    let root = place.directory();
    let statistics = set.statistics();
    let ratio = statistics.compression_ratio();
    assert_eq!(get(&root, "compressratio"), format!("{ratio:.2}"));
    assert_eq!(get(&root, "used"), statistics.used_bytes.to_string());
    assert_eq!(get(&root, "compression"), "zstd-7");
    let listed = "import os,sys; print(os.listxattr(sys.argv[1]))";
    assert_eq!(python(listed, &path), "[]");
    let changed = "import os,sys; os.setxattr(sys.argv[1], 'user.quire.used', b'1')";
    let mut command = Command::new("python3");
    command.arg("-c").arg(changed).arg(&path);
    assert!(!output(&mut command, 60).status.success());
    let blocks = "import os,sys; print(os.stat(sys.argv[1]).st_blocks)";
    let expected = space.stored_bytes.div_ceil(512).to_string();
    // Known for a second.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(python(blocks, &path), expected);
    mount.end();
}

#[test]
fn a_snapshot_is_mounted_read_only() {
    if !can_mount() {
        return;
    }
    let place = Place::new("snapshot");
    let mount = Mount::created(&place);
    let path = place.directory().join("file");
    std::fs::write(&path, b"before").unwrap();
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    mount.sets.snapshot("data@one").unwrap();
    std::fs::write(&path, b"after!").unwrap();
    let other = place.folder.join("snapshot");
    std::fs::create_dir(&other).unwrap();
    let snapshot = mount.sets.open_set("data@one").unwrap();
    let mounted = MountedDataSet::mount(snapshot, &other, options(&place)).unwrap();
    assert_eq!(std::fs::read(other.join("file")).unwrap(), b"before");
    assert_eq!(std::fs::read(&path).unwrap(), b"after!");
    let refused = std::fs::write(other.join("file"), b"x").unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(libc::EROFS));
    mounted.unmount().unwrap();
    mount.end();
}

#[test]
fn a_quota_is_what_df_says_and_what_writers_get() {
    if !can_mount() || !has_program("df") {
        return;
    }
    let place = Place::new("quota");
    let properties = DataSetProperties {
        compression: Some(DataSetCodec::OFF),
        quota_bytes: Some(16 << 20),
        ..DataSetProperties::default()
    };
    let sets = create_sets(&place, properties);
    let mount = Mount::new(&place, sets, options(&place));
    let mut df = Command::new("df");
    df.args(["-B1", "--output=size"]).arg(place.directory());
    let size = text(&mut df, 20)
        .lines()
        .last()
        .unwrap()
        .trim()
        .parse::<u64>();
    let size = size.unwrap();
    assert!((15 << 20..=17 << 20).contains(&size), "{size}");
    let path = place.directory().join("file");
    let refused = std::fs::write(&path, vec![1; 20 << 20]).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(libc::EDQUOT));
    std::fs::remove_file(&path).unwrap();
    mount.end();
}
