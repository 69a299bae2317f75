//! Weights, budgets, and tables at the edges.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use arrow_array::RecordBatch;
use quire_advisor::{
    AdviceRequest, AdviceWeights, AdvisorError, ChoiceScope, ChosenLayout, CompressionAdvice,
    DemandedCodecs, LeftOutReason, MachineClock, ReadKind, SampleDrawing, SampleOrigin,
    SampledTable, StorageChoice, WholeRowCount, advise, advise_between, candidates, device_named,
};
use quire_codec::block::BlockCodecId;
use quire_kv::mvcc::Cancel;
use quire_tables::TableOptions;

use crate::fixture::{Kind, TickingClock, pieces, sampled, whole};

fn small(kind: Kind, rows: usize) -> SampledTable {
    let all = whole(kind, rows, 7);
    sampled(kind, vec![all], rows as u64)
}

fn few_choices() -> Vec<StorageChoice> {
    let lz4 = StorageChoice::rows(TableOptions::default());
    vec![
        StorageChoice::uncompressed_rows(),
        lz4,
        StorageChoice::columns(DemandedCodecs::Chosen),
        StorageChoice::blocks(64 << 10),
    ]
}

fn advice(table: &SampledTable, weights: AdviceWeights, read_kind: ReadKind) -> CompressionAdvice {
    let request = AdviceRequest {
        weights,
        read_kind,
        budget: Duration::from_secs(3_600),
        ..AdviceRequest::default()
    };
    advise_between(table, &few_choices(), &request, &MachineClock::default()).unwrap()
}

const NONE: AdviceWeights = AdviceWeights {
    size: 0.0,
    read: 0.0,
    write: 0.0,
    response: 0.0,
    counts_processor: false,
};

#[test]
fn by_size_alone_the_smallest_is_best_and_by_reading_alone_the_fastest() {
    let all = whole(Kind::FewTexts, 20_000, 3);
    let table = sampled(Kind::FewTexts, pieces(&all, 2, 2_000), 20_000);
    let size = AdviceWeights { size: 3.0, ..NONE };
    let by_size = advice(&table, size, ReadKind::Both);
    let bytes = by_size.choices.iter().map(|one| one.predicted.whole_bytes);
    assert_eq!(Some(by_size.choices[0].predicted.whole_bytes), bytes.min());
    let read = AdviceWeights { read: 1.0, ..NONE };
    let by_reads = advice(&table, read, ReadKind::Points);
    let times = by_reads
        .choices
        .iter()
        .map(|one| one.predicted.point_read_us);
    let fastest = times.fold(f64::INFINITY, f64::min);
    assert_eq!(by_reads.choices[0].predicted.point_read_us, fastest);
    let by_scans = advice(&table, read, ReadKind::Scans);
    let scans = by_scans.choices.iter().map(|one| one.predicted.scan_mb_s);
    let fastest = scans.fold(0.0, f64::max);
    assert_eq!(by_scans.choices[0].predicted.scan_mb_s, fastest);
}

#[test]
fn what_the_budget_leaves_no_time_for_is_named_and_the_comparison_is_measured() {
    let table = small(Kind::RandomIntegers, 300);
    let all = candidates(&table, ChoiceScope::Usual);
    for budget in [Duration::ZERO, Duration::from_millis(4_000)] {
        let clock = TickingClock::default();
        let request = AdviceRequest {
            budget,
            ..AdviceRequest::default()
        };
        let advice = advise(&table, &request, &clock).unwrap();
        let over = advice.left_out.iter();
        assert!(over.clone().all(|one| one.reason == LeftOutReason::Budget));
        // The cheapest come first, so those that are left out are the last ones.
        let measured = all.len() - advice.left_out.len();
        let named: Vec<StorageChoice> = over.map(|one| one.choice).collect();
        assert_eq!(named, all[measured..]);
        assert_eq!(advice.choices.len(), measured);
        assert_eq!(advice.choices[advice.baseline].choice, all[0]);
        if budget.is_zero() {
            assert_eq!(measured, 1);
        } else {
            assert!(measured > 1 && measured < all.len(), "{measured}");
        }
    }
}

#[test]
fn whoever_cancels_gets_what_was_measured() {
    let table = small(Kind::RandomIntegers, 50);
    let cancelled_after = |questions: usize| {
        let asked = AtomicUsize::new(0);
        let cancel: Cancel = Arc::new(move || asked.fetch_add(1, Relaxed) >= questions);
        let request = AdviceRequest {
            cancel: Some(cancel),
            ..AdviceRequest::default()
        };
        advise(&table, &request, &TickingClock::default())
    };
    assert!(matches!(cancelled_after(0), Err(AdvisorError::Cancelled)));
    // More than one choice asks, and less than all of them.
    let advice = cancelled_after(60).unwrap();
    assert!(advice.choices.len() > 1 && !advice.left_out.is_empty());
    let mut left_out = advice.left_out.iter();
    assert!(left_out.all(|one| one.reason == LeftOutReason::Cancelled));
}

#[test]
fn tables_at_the_edges_have_advice() {
    let mut tables = vec![
        small(Kind::RandomIntegers, 0),
        small(Kind::RandomIntegers, 1),
        small(Kind::AllNull, 2_000),
        small(Kind::HugeTexts, 20),
    ];
    let mut one_column = small(Kind::ManyTexts, 500);
    let piece = one_column.pieces[0].project(&[1]).unwrap();
    one_column.columns.remove(0);
    one_column.pieces = vec![piece];
    one_column.primary_key = Vec::new();
    tables.push(one_column);
    for table in tables {
        let advice = advice(&table, AdviceWeights::default(), ReadKind::Both);
        assert_eq!(advice.left_out, []);
        assert_eq!(advice.choices.len(), few_choices().len());
        assert_eq!(advice.choices[0].rank.rank, Some(1));
        for one in &advice.choices {
            // The sample is the whole.
            let bytes = one.measured.data_bytes + one.measured.metadata_bytes;
            assert_eq!(one.predicted.whole_bytes, bytes, "{}", one.choice);
            let columns = if table.sampled_rows() == 0 {
                0
            } else {
                table.columns.len()
            };
            assert_eq!(one.measured.scan_column_ns.len(), columns);
        }
    }
}

#[test]
fn a_choice_that_cannot_hold_the_rows_says_why() {
    let mut table = small(Kind::RandomIntegers, 100);
    let twice: RecordBatch = table.pieces[0].slice(0, 1);
    table.pieces.push(twice);
    table.whole_rows = WholeRowCount::Exact(101);
    let choices = [
        StorageChoice::columns(DemandedCodecs::Chosen),
        StorageChoice::uncompressed_rows(),
    ];
    let request = AdviceRequest::default();
    let advice = advise_between(&table, &choices, &request, &TickingClock::default()).unwrap();
    let [left_out] = advice.left_out.as_slice() else {
        panic!("{:?}", advice.left_out);
    };
    assert!(matches!(left_out.reason, LeftOutReason::Failed(_)));
}

#[test]
fn samples_that_do_not_go_together_are_refused() {
    let refused = |table: SampledTable| {
        advise(&table, &AdviceRequest::default(), &TickingClock::default()).unwrap_err()
    };
    let table = small(Kind::RandomIntegers, 10);
    let no_columns = SampledTable {
        columns: Vec::new(),
        ..table.clone()
    };
    assert!(matches!(refused(no_columns), AdvisorError::NoColumns));
    let key = SampledTable {
        primary_key: vec![2],
        ..table.clone()
    };
    assert!(matches!(refused(key), AdvisorError::KeyColumn { .. }));
    let too_few = SampledTable {
        whole_rows: WholeRowCount::Exact(9),
        ..table.clone()
    };
    assert!(matches!(refused(too_few), AdvisorError::TooFewRows { .. }));
    let not_whole = SampledTable {
        whole_rows: WholeRowCount::Exact(11),
        drawing: SampleDrawing::Whole,
        ..table.clone()
    };
    assert!(matches!(
        refused(not_whole),
        AdvisorError::TooFewRows { .. }
    ));
    let other = small(Kind::FewTexts, 10);
    let piece = SampledTable {
        pieces: other.pieces,
        ..table
    };
    assert!(matches!(refused(piece), AdvisorError::PieceColumns { .. }));
}

#[test]
fn a_table_with_constraints_stays_a_row_table_and_each_choice_is_there_once() {
    let mut table = small(Kind::RandomIntegers, 1);
    let current = StorageChoice::rows(TableOptions::default());
    table.origin = SampleOrigin::Table {
        current,
        needs_rows: true,
    };
    for scope in [ChoiceScope::Usual, ChoiceScope::All] {
        let all = candidates(&table, scope);
        assert_eq!(all[0], current);
        assert!(all.iter().all(StorageChoice::is_rows));
        for (place, one) in all.iter().enumerate() {
            assert!(!all[place + 1..].contains(one), "{one}");
        }
    }
    // Two ways to keep tuples, each codec of pages, each transform of pages and the choice between them.
    let transforms = quire_tables::PageTransform::ALL.len();
    let expected = 2 * BlockCodecId::ALL.len() * (transforms + 1);
    assert_eq!(candidates(&table, ChoiceScope::All).len(), expected);
}

#[test]
fn statements_say_what_the_choice_is() {
    let mut table = small(Kind::FewTexts, 30);
    let request = AdviceRequest::default();
    let clock = TickingClock::default();
    let of = |table: &SampledTable, layout: ChosenLayout| {
        let advice = advise_between(table, &few_choices(), &request, &clock).unwrap();
        let mut all = advice.choices.into_iter();
        let found = all.find(|one| one.choice.layout() == layout && one.choice != few_choices()[0]);
        found.unwrap().statements
    };
    assert_eq!(
        of(&table, ChosenLayout::Row),
        [
            "CREATE TABLE \"t\" (\"id\" BIGINT NOT NULL, \"value\" TEXT, PRIMARY KEY (\"id\")) USING row WITH (compression = auto, \
             page_codec = lz4, storage_format = auto)",
            "COPY \"t\" FROM 't.csv'",
        ]
    );
    table.origin = SampleOrigin::Table {
        current: StorageChoice::uncompressed_rows(),
        needs_rows: false,
    };
    assert_eq!(
        of(&table, ChosenLayout::Row),
        ["ALTER TABLE \"t\" SET (compression = auto, page_codec = lz4, storage_format = auto)"]
    );
    assert_eq!(
        of(&table, ChosenLayout::Pax),
        [
            "CREATE TABLE \"t_advised\" (\"id\" BIGINT NOT NULL, \"value\" TEXT) USING pax WITH (block_bytes = 65536)",
            "INSERT INTO \"t_advised\" SELECT * FROM \"t\"",
            "DROP TABLE \"t\"",
            "ALTER TABLE \"t_advised\" RENAME TO \"t\"",
        ]
    );
    let light = StorageChoice::columns(DemandedCodecs::Light);
    let text = light.column_clause(quire_tables::SqlType::Text);
    assert_eq!(text, "TEXT COMPRESSION fsst");
}

#[test]
fn devices_are_found_by_the_beginning_of_their_names() {
    assert_eq!(device_named("nvme").unwrap().typed_name(), Some("nvme-ssd"));
    assert_eq!(
        device_named("SATA_SSD").unwrap().typed_name(),
        Some("sata-ssd")
    );
    for unclear in ["disk", "raid", "", "tape"] {
        let error = device_named(unclear).unwrap_err().to_string();
        assert!(error.contains("nvme-ssd"), "{error}");
    }
}
