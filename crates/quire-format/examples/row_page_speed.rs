//! Nanoseconds per operation on a full 16 KiB page, beside an ordered map of the standard library with the same
//! entries: `cargo run --release -p quire-format --example row_page_speed`. Each figure is the best of many rounds.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use quire_codec::block::{BlockCodecId, BlockOptions, open};
use quire_format::row_page::{
    ApplyError, PAGE_BYTES_DEFAULT, PageImage, PageOp, PageSetup, RowPage, RowPageMut, append_op,
    encode_image,
};

const ROUNDS: usize = 400;
const VALUE_BYTES: usize = 60;

type Failure = Box<dyn std::error::Error>;
type Map = BTreeMap<Vec<u8>, Vec<u8>>;

fn main() -> Result<(), Failure> {
    println!(
        "{:32} {:>10} {:>10} {:>7}",
        "ns per operation, best round", "page", "BTreeMap", "ratio"
    );
    for (name, spread) in [
        ("dense keys", 2_654_435_761_u64),
        ("wide keys", 11_400_714_819_323_198_485),
    ] {
        let keys = full_page_of_keys(spread)?;
        println!(
            "{name}: {} entries of 8 + {VALUE_BYTES} bytes, in random order",
            keys.len()
        );
        measure_reads(&keys)?;
        measure_changes(&keys)?;
        measure_whole_page(&keys)?;
    }
    Ok(())
}

/// Keys of 8 bytes in random order, as many as a page holds. Dense ones share their first four bytes.
fn full_page_of_keys(spread: u64) -> Result<Vec<[u8; 8]>, Failure> {
    let mut frame = vec![0; PAGE_BYTES_DEFAULT];
    let mut page = RowPageMut::create(&mut frame, &PageSetup::default())?;
    let mut keys = Vec::new();
    loop {
        let mixed = spread.wrapping_mul(keys.len() as u64 + 1);
        let number = if spread >> 32 == 0 {
            mixed % (1 << 32)
        } else {
            mixed
        };
        let key = number.to_be_bytes();
        match page.insert(&key, &[7; VALUE_BYTES], false) {
            Ok(_) => keys.push(key),
            Err(ApplyError::Full { .. }) => return Ok(keys),
            Err(error) => return Err(error.into()),
        }
    }
}

fn filled(keys: &[[u8; 8]]) -> Result<(Vec<u8>, Map), Failure> {
    let mut frame = vec![0; PAGE_BYTES_DEFAULT];
    let mut page = RowPageMut::create(&mut frame, &PageSetup::default())?;
    let mut map = Map::new();
    for (index, key) in keys.iter().enumerate() {
        // Something a block codec can shorten by half, as rows are.
        let value: Vec<u8> = (0..VALUE_BYTES)
            .map(|at| (at * (index % 9) / 7) as u8)
            .collect();
        page.insert(key, &value, false)?;
        map.insert(key.to_vec(), value);
    }
    Ok((frame, map))
}

/// Best time of a round in nanoseconds, divided by `count`; `prepare` is not measured.
fn best<T>(count: usize, mut prepare: impl FnMut() -> T, mut run: impl FnMut(&mut T)) -> f64 {
    let round = |_| {
        let mut subject = prepare();
        let start = Instant::now();
        run(&mut subject);
        let seconds = start.elapsed().as_secs_f64();
        black_box(subject);
        seconds
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min) * 1e9 / count as f64
}

fn report(name: &str, page: f64, map: Option<f64>) {
    match map {
        Some(map) => println!("{name:32} {page:10.1} {map:10.1} {:7.2}", page / map),
        None => println!("{name:32} {page:10.1}"),
    }
}

fn measure_reads(keys: &[[u8; 8]]) -> Result<(), Failure> {
    let (full, map) = filled(keys)?;
    let count = keys.len();
    let page = RowPage::open(&full)?;
    let found = best(
        count,
        || (),
        |()| {
            keys.iter()
                .for_each(|key| drop(black_box(page.get(black_box(key)))));
        },
    );
    let opened = best(
        count,
        || (),
        |()| {
            for key in keys {
                let page = RowPage::trusted(black_box(&full));
                let _ = black_box(page.and_then(|page| page.get(key).map(|found| found.is_some())));
            }
        },
    );
    let in_map = best(
        count,
        || (),
        |()| {
            keys.iter()
                .for_each(|key| _ = black_box(map.get(black_box(key).as_slice())));
        },
    );
    report("find", found, Some(in_map));
    report("find, header read each time", opened, Some(in_map));
    Ok(())
}

fn measure_changes(keys: &[[u8; 8]]) -> Result<(), Failure> {
    let (full, map) = filled(keys)?;
    let count = keys.len();
    let empty = || {
        let mut frame = vec![0; PAGE_BYTES_DEFAULT];
        let made = RowPageMut::create(&mut frame, &PageSetup::default()).is_ok();
        assert!(made);
        frame
    };
    let value = [9; VALUE_BYTES];
    let every = |frame: &mut Vec<u8>, change: &dyn Fn(&mut RowPageMut<'_>, &[u8]) -> bool| {
        let page = RowPageMut::trusted(frame);
        let all = page.is_ok_and(|mut page| keys.iter().all(|key| change(&mut page, key)));
        assert!(all);
    };
    let insert = |page: &mut RowPageMut<'_>, key: &[u8]| page.insert(key, &value, false).is_ok();
    let inserted = best(count, empty, |frame| every(frame, &insert));
    let in_map = best(count, Map::new, |map| {
        keys.iter()
            .for_each(|key| drop(map.insert(key.to_vec(), value.to_vec())));
    });
    report("insert", inserted, Some(in_map));

    let update = |page: &mut RowPageMut<'_>, key: &[u8]| page.update(key, &value, false).is_ok();
    let updated = best(count, || full.clone(), |frame| every(frame, &update));
    let in_map = best(
        count,
        || map.clone(),
        |map| {
            for key in keys {
                if let Some(old) = map.get_mut(key.as_slice()) {
                    old.copy_from_slice(black_box(&value));
                }
            }
        },
    );
    report("update, same length", updated, Some(in_map));
    let remove = |page: &mut RowPageMut<'_>, key: &[u8]| page.remove(key).is_ok();
    let removed = best(count, || full.clone(), |frame| every(frame, &remove));
    let in_map = best(
        count,
        || map.clone(),
        |map| {
            keys.iter().for_each(|key| drop(map.remove(key.as_slice())));
        },
    );
    report("remove", removed, Some(in_map));
    Ok(())
}

fn measure_whole_page(keys: &[[u8; 8]]) -> Result<(), Failure> {
    let (full, map) = filled(keys)?;
    let mut right = vec![0; PAGE_BYTES_DEFAULT];
    let middle = map.keys().nth(map.len() / 2).cloned().unwrap_or_default();
    let split = best(
        1,
        || full.clone(),
        |frame| {
            let page = RowPageMut::trusted(frame);
            let done = page.is_ok_and(|mut page| page.split(&mut right, &middle).is_ok());
            assert!(done);
        },
    );
    let in_map = best(
        1,
        || (map.clone(), Map::new()),
        |(map, right)| {
            *right = map.split_off(&middle);
        },
    );
    report("split", split, Some(in_map));
    let checked = best(
        1,
        || (),
        |()| assert!(black_box(RowPage::open(black_box(&full))).is_ok()),
    );
    report("open, everything checked", checked, None);
    let compacted = best(
        1,
        || full.clone(),
        |frame| {
            let done = RowPageMut::trusted(frame).and_then(|mut page| page.compact());
            assert!(done.is_ok());
        },
    );
    report("compact", compacted, None);
    measure_image(&full, &keys[0])
}

fn measure_image(full: &[u8], key: &[u8]) -> Result<(), Failure> {
    let page = RowPage::open(full)?;
    for id in [BlockCodecId::None, BlockCodecId::Lz4, BlockCodecId::Zstd] {
        let mut codec = open(id, &BlockOptions::default())?;
        let image = encode_image(&page, codec.as_mut())?;
        let encoded = best(
            1,
            || (),
            |()| drop(black_box(encode_image(&page, codec.as_mut()))),
        );
        report(
            &format!("image, {id}: encode, {} bytes", image.len()),
            encoded,
            None,
        );
        let mut frame = vec![0; PAGE_BYTES_DEFAULT];
        let mut decode = |image: &[u8]| {
            let image = PageImage::open(image);
            let done = image.and_then(|image| image.decode(codec.as_mut(), &mut frame));
            assert!(done.is_ok());
        };
        report(
            &format!("image, {id}: decode"),
            best(1, || (), |()| decode(&image)),
            None,
        );
        let op = PageOp::Patch {
            key,
            keep_prefix_bytes: 50,
            keep_suffix_bytes: 9,
            middle: b"x",
        };
        let mut logged = image.clone();
        while append_op(&mut logged, &op, 1).is_ok() {}
        let ops = PageImage::open(&logged)?.log_bytes() / op.encoded_bytes();
        let replayed = best(1, || (), |()| decode(&logged));
        report(
            &format!("image, {id}: decode, {ops} in log"),
            replayed,
            None,
        );
    }
    Ok(())
}
