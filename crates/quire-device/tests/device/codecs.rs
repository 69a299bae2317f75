use quire_device::{
    DataSet, DataSetCodec, DataSetProperties, DataSetVolume, NewInode, ROOT_INODE, SectorRounding,
};
use std::sync::Arc;

use crate::random::Random;
use crate::volumes::{check, in_memory};

const RECORD_BYTES: usize = 16 << 10;

fn with_properties(change: impl FnOnce(&mut DataSetProperties)) -> (DataSetVolume, Arc<DataSet>) {
    let sets = in_memory();
    let all = |properties: &mut DataSetProperties| {
        properties.record_bytes = Some(RECORD_BYTES as u32);
        change(properties);
    };
    sets.set_properties("data", all).unwrap();
    let set = sets.open_set("data").unwrap();
    (sets, set)
}

fn text(length: usize) -> Vec<u8> {
    let words = (0..).flat_map(|number: u32| format!("line {number} of a text\n").into_bytes());
    words.take(length).collect()
}

fn file_with(set: &DataSet, name: &[u8], content: &[u8]) -> u64 {
    let file = set
        .create(ROOT_INODE, name, &NewInode::file(0o644))
        .unwrap();
    set.write(file, 0, content).unwrap();
    set.sync_file(file).unwrap();
    file
}

#[test]
fn files_of_every_codec_come_back_and_are_counted() {
    let names = [
        "off",
        "zle",
        "lzjb",
        "lzjb-zfs",
        "lz4",
        "lz4hc",
        "lz4hc-12",
        "gzip-1",
        "gzip-9",
        "zstd",
        "zstd-19",
        "zstd-fast-5",
    ];
    let (sets, set) = with_properties(|_| {});
    // Half text, half zeros: every codec saves something.
    let mut content = text(RECORD_BYTES / 2);
    content.resize(RECORD_BYTES, 0);
    let content = content.repeat(5);
    let mut files = Vec::new();
    for name in names {
        let codec = DataSetCodec::from_name(name).unwrap();
        let before = set.statistics().totals;
        sets.set_properties("data", |properties| properties.compression = Some(codec))
            .unwrap();
        let file = file_with(&set, name.as_bytes(), &content);
        files.push(file);
        let DataSetCodec::Fixed { codec, .. } = codec else {
            panic!("{name} is one codec");
        };
        let (was, is) = (before.of(codec), set.statistics().totals.of(codec));
        assert_eq!(is.records - was.records, 5, "{name}");
        assert_eq!(is.raw_bytes - was.raw_bytes, content.len() as u64, "{name}");
        let space = set.space(file).unwrap();
        assert_eq!(
            space.stored_bytes,
            is.stored_bytes - was.stored_bytes,
            "{name}"
        );
        let ratio = space.raw_bytes as f64 / space.stored_bytes as f64;
        assert!(
            if name == "off" {
                ratio == 1.0
            } else {
                ratio > 1.5
            },
            "{name} {ratio}"
        );
    }
    assert_eq!(check(&sets), Ok(()));
    for file in files {
        assert_eq!(set.read(file, 0, usize::MAX).unwrap(), content);
    }
    let statistics = set.statistics();
    let expected = statistics.logical_bytes() as f64 / statistics.stored_bytes() as f64;
    assert_eq!(statistics.compression_ratio(), expected);
}

#[test]
fn records_take_whole_sectors_and_are_compressed_only_if_that_saves_one() {
    for (sectors, sector_bytes) in [
        (SectorRounding::Bytes512, 512),
        (SectorRounding::Bytes4096, 4096),
    ] {
        let (sets, set) = with_properties(|properties| {
            properties.sectors = Some(sectors);
            properties.compression = DataSetCodec::from_name("zstd");
        });
        let file = file_with(&set, b"text", &text(RECORD_BYTES * 8));
        let space = set.space(file).unwrap();
        assert_eq!(space.stored_bytes % sector_bytes, 0);
        assert!(space.stored_bytes < space.raw_bytes);
        let noise = file_with(&set, b"noise", &Random(3).bytes(RECORD_BYTES * 2 + 100));
        let space = set.space(noise).unwrap();
        let last = 100_u64.next_multiple_of(sector_bytes);
        assert_eq!(space.stored_bytes, RECORD_BYTES as u64 * 2 + last);
        assert_eq!(check(&sets), Ok(()));
    }
}

#[test]
fn the_gain_that_is_asked_for_decides() {
    // A quarter of each record is zeros.
    let mut record = Random(4).bytes(RECORD_BYTES * 3 / 4);
    record.resize(RECORD_BYTES, 0);
    for (gain, is_compressed) in [(0, true), (200, true), (260, false), (1000, false)] {
        let (_sets, set) = with_properties(|properties| {
            properties.gain_per_mille = Some(gain);
            properties.compression = DataSetCodec::from_name("zle");
        });
        let file = file_with(&set, b"file", &record);
        let space = set.space(file).unwrap();
        assert_eq!(
            space.stored_bytes < space.raw_bytes,
            is_compressed,
            "{gain}"
        );
    }
}

#[test]
fn zeros_are_holes_unless_compression_is_off() {
    for (codec, records) in [("lz4", 1), ("zle", 1), ("off", 4)] {
        let (_sets, set) = with_properties(|properties| {
            properties.compression = DataSetCodec::from_name(codec);
        });
        let mut content = vec![0; RECORD_BYTES * 4];
        content[RECORD_BYTES + 5] = 1;
        let file = file_with(&set, b"file", &content);
        assert_eq!(set.space(file).unwrap().record_count, records, "{codec}");
        assert_eq!(set.read(file, 0, usize::MAX).unwrap(), content);
    }
}

#[test]
fn auto_measures_each_file() {
    let (sets, set) = with_properties(|properties| {
        properties.compression = Some(DataSetCodec::Auto);
    });
    let mut random = Random(5);
    let noise = random.bytes(RECORD_BYTES * 4);
    let digits: Vec<u8> = random
        .bytes(RECORD_BYTES * 4)
        .iter()
        .map(|byte| b'0' + byte % 10)
        .collect();
    let repeated = noise[..2000].repeat(30);
    let codec_of = |name: &[u8], content: &[u8]| {
        let file = file_with(&set, name, content);
        set.space(file).unwrap().measured.unwrap().codec.name()
    };
    assert_eq!(codec_of(b"noise", &noise), "none");
    assert_eq!(codec_of(b"digits", &digits), "zstd");
    assert_eq!(codec_of(b"repeated", &repeated), "lz4");
    assert_eq!(check(&sets), Ok(()));
}

#[test]
fn a_file_keeps_the_length_of_its_records() {
    let (sets, set) = with_properties(|_| {});
    let content = text(100_000);
    let file = file_with(&set, b"file", &content[..50_000]);
    sets.set_properties("data", |properties| properties.record_bytes = Some(1 << 20))
        .unwrap();
    set.write(file, 50_000, &content[50_000..]).unwrap();
    let other = file_with(&set, b"other", &content);
    assert_eq!(
        set.attributes(file).unwrap().record_bytes,
        RECORD_BYTES as u32
    );
    assert_eq!(set.space(file).unwrap().record_count, 7);
    assert_eq!(set.space(other).unwrap().record_count, 1);
    for file in [file, other] {
        assert_eq!(set.read(file, 0, usize::MAX).unwrap(), content);
    }
}
