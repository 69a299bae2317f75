//! What is predicted of the whole by a tenth of its rows, against the file that the whole is.

use quire_advisor::{AdviceRequest, DemandedCodecs, MachineClock, StorageChoice, advise_between};
use quire_codec::block::BlockCodecId;
use quire_tables::{StorageFormat, TableOptions};

use crate::fixture::{Kind, file_bytes, pieces, sampled, whole};

const ROWS: usize = 200_000;
const SEED: u64 = 20_261_201;
const ERROR_MAX: f64 = 0.05;

fn choices() -> Vec<StorageChoice> {
    let rows = |page_codec, format: &str| {
        StorageChoice::rows(TableOptions {
            page_codec,
            storage_format: StorageFormat::from_name(format).unwrap(),
            ..TableOptions::default()
        })
    };
    vec![
        StorageChoice::uncompressed_rows(),
        rows(BlockCodecId::Lz4, "auto"),
        rows(BlockCodecId::Zstd, "clt"),
        StorageChoice::columns(DemandedCodecs::Light),
        StorageChoice::columns(DemandedCodecs::Chosen),
        StorageChoice::blocks(64 << 10),
    ]
}

fn predicted_within_five_percent(kind: Kind) {
    let all = whole(kind, ROWS, SEED);
    let table = sampled(kind, pieces(&all, 4, 5_000), ROWS as u64);
    let request = AdviceRequest::default();
    let request = AdviceRequest {
        budget: std::time::Duration::from_secs(3_600),
        ..request
    };
    let choices = choices();
    let advice = advise_between(&table, &choices, &request, &MachineClock::default()).unwrap();
    assert_eq!(advice.left_out, []);
    let mut wrong = Vec::new();
    for one in &advice.choices {
        let actual = file_bytes(kind, &all, &one.choice) as f64;
        let predicted = one.predicted.whole_bytes as f64;
        let error = predicted / actual - 1.0;
        println!(
            "{kind:?}, {}: {predicted} for {actual}, {:.2} %",
            one.choice,
            100.0 * error
        );
        if error.abs() > ERROR_MAX {
            wrong.push(format!("{}: {predicted} for {actual}", one.choice));
        }
    }
    assert!(wrong.is_empty(), "{kind:?}, seed {SEED}: {wrong:#?}");
}

#[test]
fn ascending_integers() {
    predicted_within_five_percent(Kind::AscendingIntegers);
}

#[test]
fn random_integers() {
    predicted_within_five_percent(Kind::RandomIntegers);
}

#[test]
fn texts_with_few_distinct_values() {
    predicted_within_five_percent(Kind::FewTexts);
}

#[test]
fn texts_with_many_distinct_values() {
    predicted_within_five_percent(Kind::ManyTexts);
}

#[test]
fn decimals() {
    predicted_within_five_percent(Kind::Decimals);
}

#[test]
fn floats() {
    predicted_within_five_percent(Kind::Floats);
}

#[test]
fn random_bytes() {
    predicted_within_five_percent(Kind::RandomBytes);
}

#[test]
fn integers_most_of_which_are_null() {
    predicted_within_five_percent(Kind::ManyNulls);
}
