//! A column keeps its codec from row group to row group, as long as that does it good.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringViewArray};
use quire_codec::{BytesVector, CodecId, RowGroupValues};
use quire_format::segment::{ChooseOptions, SegmentInput, choose_and_encode};
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_tables::{
    AppendOptions, Beneath, BlockCodecId, ColumnDefinition, ColumnTable, Decision, Engine, SqlType,
    TableDefinition,
};

/// Rows of a row group here: 16 vectors, of which four are sampled before the codec is kept.
const ROWS: usize = 16 * 1024;

fn definition() -> TableDefinition {
    let column = |name: &str, sql_type| ColumnDefinition {
        nullable: false,
        ..ColumnDefinition::new(name, sql_type)
    };
    TableDefinition::new(
        "t",
        vec![column("n", SqlType::BigInt), column("s", SqlType::Text)],
    )
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// A row group of numbers and strings.
#[derive(Clone)]
struct Rows {
    numbers: Vec<i64>,
    texts: Vec<String>,
}

/// Numbers below a hundred and remarks; or numbers that ascend and keys.
fn rows(seed: u64, ascending: bool) -> Rows {
    const WORDS: [&str; 6] = ["carefully", "final", "deposits", "sleep", "among", "the"];
    let mut state = seed * 2 + 1;
    for _ in 0..9 {
        random(&mut state);
    }
    let numbers = (0..ROWS as i64).map(|row| {
        if ascending {
            (1 << 40) + (seed as i64 * ROWS as i64 + row) * 1_000_003
        } else {
            (random(&mut state) % 100) as i64
        }
    });
    let numbers = numbers.collect();
    let texts = (0..ROWS).map(|row| {
        if ascending {
            format!("Customer#{:09}", seed as usize * ROWS + row)
        } else {
            (0..3 + random(&mut state) % 5)
                .map(|_| WORDS[(random(&mut state) % 6) as usize])
                .collect::<Vec<_>>()
                .join(" ")
        }
    });
    let texts = texts.collect();
    Rows { numbers, texts }
}

fn append(row_groups: &[Rows], options: AppendOptions) -> Arc<ColumnTable> {
    let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition()).unwrap();
    let options = AppendOptions {
        row_group_rows: ROWS,
        ..options
    };
    let mut appender = transaction.appender_with("t", options).unwrap();
    for rows in row_groups {
        let numbers: ArrayRef = Arc::new(Int64Array::from(rows.numbers.clone()));
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values(&rows.texts));
        let schema = definition().arrow_schema();
        let batch = RecordBatch::try_new(schema, vec![numbers, texts]).unwrap();
        appender.append(&batch).unwrap();
    }
    appender.finish().unwrap();
    transaction.commit().unwrap();
    assert_eq!(Engine::check(engine.volume()), []);
    let table = engine.snapshot().table("t").unwrap().unwrap();
    assert_eq!(table.row_group_count(), row_groups.len());
    table
}

/// Codec, decision, expected and actual size of every row group of a column.
fn chunks(table: &ColumnTable, column: usize) -> Vec<(CodecId, Decision, u64, u64)> {
    let of = |index| {
        let chunk = &table.row_group(index).unwrap().columns[column];
        let sizes = (chunk.estimated_bytes, chunk.encoded_bytes);
        (chunk.codec, chunk.decision, sizes.0, sizes.1)
    };
    (0..table.row_group_count()).map(of).collect()
}

/// What each row group takes when it is analysed by itself.
fn analysed_bytes(rows: &Rows, column: usize) -> u64 {
    let mut texts = BytesVector::new();
    for text in &rows.texts {
        texts.push(text.as_bytes()).unwrap();
    }
    let values = match column {
        0 => RowGroupValues::Int64(&rows.numbers),
        _ => RowGroupValues::Bytes(texts.as_slice()),
    };
    let input = SegmentInput {
        values,
        validity: None,
    };
    let (_, image) = choose_and_encode(&input, &ChooseOptions::default()).unwrap();
    image.len() as u64
}

fn decisions(chunks: &[(CodecId, Decision, u64, u64)]) -> Vec<Decision> {
    chunks.iter().map(|(_, decision, ..)| *decision).collect()
}

#[test]
fn a_change_in_the_middle_is_analysed_at_once_and_costs_no_bytes() {
    use Decision::{Analysed, Different, Followed};
    let row_groups: Vec<Rows> = (0..12).map(|seed| rows(seed, seed >= 6)).collect();
    let table = append(&row_groups, AppendOptions::default());
    for column in 0..2 {
        let chunks = chunks(&table, column);
        let mut expected = vec![Followed; 12];
        (expected[0], expected[6]) = (Analysed, Different);
        assert_eq!(decisions(&chunks), expected, "column {column}: {chunks:?}");
        assert_ne!(chunks[5].0, chunks[6].0, "the codec changes: {chunks:?}");
        for (index, (codec, decision, estimated, encoded)) in chunks.iter().enumerate() {
            let alone = analysed_bytes(&row_groups[index], column);
            assert!(
                *encoded <= alone + alone / 100,
                "column {column}, row group {index}, {codec}: {encoded} bytes, {alone} alone"
            );
            if *decision == Followed {
                let difference = estimated.abs_diff(*encoded);
                assert!(
                    difference <= encoded / 20 + 600,
                    "{estimated} for {encoded}"
                );
            }
        }
    }
}

/// Only vectors that the sample of four leaves out change, so that sizes tell, not looks.
fn changed_out_of_sight(mut rows: Rows, change: fn(usize) -> i64) -> Rows {
    for vector in (0..16).filter(|vector| ![0, 3, 7, 11].contains(vector)) {
        for row in vector * 1024..(vector + 1) * 1024 {
            rows.numbers[row] = change(row);
        }
    }
    rows
}

#[test]
fn a_size_that_is_not_as_expected_is_analysed_and_encoded_anew() {
    let row_groups = [
        rows(0, false),
        rows(1, false),
        changed_out_of_sight(rows(2, false), |row| {
            row as i64 * 1_000_003 + row as i64 % 5
        }),
        changed_out_of_sight(rows(3, false), |row| row as i64 / 2000),
        rows(4, false),
    ];
    let table = append(&row_groups, AppendOptions::default());
    let chunks = chunks(&table, 0);
    use Decision::{Analysed, Followed, Larger, Smaller};
    let expected = [Analysed, Followed, Larger, Smaller, Followed];
    assert_eq!(decisions(&chunks), expected, "{chunks:?}");
    for index in [0, 1, 4] {
        assert_eq!(chunks[index].0, CodecId::Pfor, "{chunks:?}");
    }
    assert_eq!(chunks[2].0, CodecId::PforDelta, "{chunks:?}");
    for (index, (.., encoded)) in chunks.iter().enumerate() {
        let alone = analysed_bytes(&row_groups[index], 0);
        assert!(
            *encoded <= alone + alone / 100,
            "{index}: {encoded}, {alone} alone"
        );
    }
}

#[test]
fn decisions_do_not_depend_on_the_number_of_workers() {
    let change = |seed: u64| seed % 7 > 3;
    let row_groups: Vec<Rows> = (0..20).map(|seed| rows(seed, change(seed))).collect();
    let with = |workers| {
        let options = AppendOptions {
            workers: Some(workers),
            ..AppendOptions::default()
        };
        let table = append(&row_groups, options);
        [chunks(&table, 0), chunks(&table, 1)]
    };
    let by_one = with(1);
    for workers in [2, 5] {
        assert_eq!(with(workers), by_one, "{workers} workers");
    }
    let is_first = |decision: &Decision| *decision == Decision::Analysed;
    let analysed = decisions(&by_one[0]);
    let first: Vec<usize> = (0..20)
        .filter(|&index| is_first(&analysed[index]))
        .collect();
    assert_eq!(first, [0, 16], "{analysed:?}");
}

#[test]
fn what_lies_beneath_is_asked_when_codecs_are_chosen() {
    let mut state = 5;
    let sentence: Vec<i64> = (0..1500)
        .map(|_| (random(&mut state) % 8000) as i64)
        .collect();
    let mut row_group = rows(0, false);
    row_group.numbers = sentence.iter().copied().cycle().take(ROWS).collect();
    let row_groups = [row_group];
    let alone = append(&row_groups, AppendOptions::default());
    let beneath = Beneath::Blocks {
        codec: BlockCodecId::Zstd,
        block_bytes: 128 << 10,
    };
    let options = AppendOptions {
        beneath,
        ..AppendOptions::default()
    };
    let on_zstd = append(&row_groups, options);
    assert_ne!(chunks(&alone, 0)[0].0, CodecId::Plain);
    assert_eq!(chunks(&on_zstd, 0)[0].0, CodecId::Plain);
}
