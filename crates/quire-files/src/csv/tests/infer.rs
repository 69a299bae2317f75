//! Which texts get which type.

use super::super::profile::Profile;
use super::*;
use arrow::datatypes::TimeUnit;

fn inferred(values: &[&str]) -> DataType {
    let mut profile = Profile::default();
    for value in values {
        profile.observe(value.as_bytes());
    }
    // The order of the values, and how they are divided over chunks, must not matter.
    let mut merged = Profile::default();
    for value in values.iter().rev() {
        let mut one = Profile::default();
        one.observe(value.as_bytes());
        merged.merge(&one);
    }
    assert_eq!(merged.data_type(), profile.data_type(), "{values:?}");
    profile.data_type()
}

const TEXT: DataType = DataType::Utf8View;
const DOUBLE: DataType = DataType::Float64;

#[test]
fn whole_numbers_are_bigint_unless_their_spelling_would_change() {
    assert_eq!(inferred(&["1", "-20", "0"]), DataType::Int64);
    assert_eq!(
        inferred(&["9223372036854775807", "-9223372036854775808"]),
        DataType::Int64
    );
    assert_eq!(
        inferred(&["9223372036854775808"]),
        DataType::Decimal128(38, 0)
    );
    assert_eq!(inferred(&[&"9".repeat(39)]), TEXT);
    for text in [
        "007", "+1", " 1", "1 ", "1E5", "0x10", "1,000", "1_000", "", "01", "-01", "٣",
    ] {
        assert_eq!(inferred(&["1", text]), TEXT, "{text:?}");
        assert_eq!(inferred(&[text]), TEXT, "{text:?}");
    }
}

#[test]
fn decimals_that_print_back_are_double() {
    assert_eq!(inferred(&["1.5", "-0.25", "3"]), DOUBLE);
    assert_eq!(inferred(&["42.35122196", "13.39843823"]), DOUBLE);
    assert_eq!(inferred(&["0.1", "1e+16", "2.5e-07"]), DOUBLE);
    assert_eq!(inferred(&["0.30000000000000004"]), DOUBLE);
    assert_eq!(inferred(&["1.5", "NaN", "Infinity"]), DOUBLE);
    assert_eq!(inferred(&["NaN"]), TEXT);
}

#[test]
fn a_fixed_number_of_decimals_is_kept() {
    assert_eq!(inferred(&["12.50", "3.25"]), DataType::Decimal128(18, 2));
    assert_eq!(inferred(&["20.0", "1.0"]), DataType::Decimal128(18, 1));
    assert_eq!(
        inferred(&["123456789012345678.90"]),
        DataType::Decimal128(38, 2)
    );
    // 17 digits that a double would change.
    assert_eq!(
        inferred(&["90071992547409.933"]),
        DataType::Decimal128(18, 3)
    );
    assert_eq!(inferred(&["012.50"]), TEXT);
}

#[test]
fn other_spellings_of_doubles_are_double() {
    assert_eq!(inferred(&["20.0", "3", "1.25"]), DOUBLE);
    assert_eq!(inferred(&[".5422968857270318", "-.25", "1"]), DOUBLE);
    assert_eq!(inferred(&["-6.40E-05", "0.5"]), DOUBLE);
    assert_eq!(inferred(&["-0.0", "0.5"]), DOUBLE);
}

#[test]
fn more_digits_than_a_double_has_stay_exact() {
    let long = "0.1234567890123456789";
    assert_eq!(inferred(&[long, "1.5"]), DataType::Decimal128(38, 19));
    assert_eq!(inferred(&[long, "1.5e-7"]), TEXT);
    assert_eq!(inferred(&["1e400"]), TEXT);
}

#[test]
fn dates_and_times() {
    let timestamp = DataType::Timestamp(TimeUnit::Microsecond, None);
    let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into()));
    assert_eq!(inferred(&["2020-02-29", "0001-01-01"]), DataType::Date32);
    assert_eq!(
        inferred(&["2020-02-24T18:00:00", "2020-02-24 18:00:00.5"]),
        timestamp
    );
    assert_eq!(
        inferred(&["2020-02-24 18:00:00Z", "2020-02-24T18:00:00+02:00"]),
        zoned
    );
    assert_eq!(inferred(&["2020-02-24", "2020-02-24 18:00:00"]), TEXT);
    assert_eq!(
        inferred(&["2020-02-24 18:00:00", "2020-02-24 18:00:00Z"]),
        TEXT
    );
    assert_eq!(inferred(&["2020-02-24", "2020"]), TEXT);
    let others = [
        "2021-02-29",
        "2020-2-4",
        "24.02.2020",
        "2020-02-24 25:00:00",
        "2020-02-24 24:00:00",
        "2020-02-24 18:00:60",
        "2020-02-24 18:00:00.1234567",
        "2020-02-24 18:00:00 PST",
    ];
    for text in others {
        assert_eq!(inferred(&[text]), TEXT, "{text}");
    }
}

#[test]
fn booleans_are_spelled_out() {
    assert_eq!(inferred(&["true", "false"]), DataType::Boolean);
    assert_eq!(inferred(&["TRUE", "False"]), DataType::Boolean);
    assert_eq!(inferred(&["t", "f"]), TEXT);
    assert_eq!(inferred(&["true", "1"]), TEXT);
    assert_eq!(inferred(&[]), TEXT);
}

/// Whatever type is chosen, every text must come back as the same value.
#[test]
fn no_inferred_type_changes_a_value() {
    let mut random = Random(23);
    for case in 0..3_000 {
        let values: Vec<String> = (0..1 + random.below(4))
            .map(|_| random_value(&mut random))
            .collect();
        let csv: String = values.iter().map(|value| format!("{value}\n")).collect();
        let options = CsvOptions {
            delimiter: Delimiter::None,
            ..no_header()
        };
        let file = open(csv.as_bytes(), &options, None).unwrap();
        let schema = file.infer_schema(&CopyControl::default()).unwrap();
        let batch = read(csv.as_bytes(), &options, &schema).unwrap();
        let back: Vec<String> = rows(&batch)
            .into_iter()
            .map(|row| row[0].clone().unwrap_or_default())
            .collect();
        for (value, back) in values.iter().zip(&back) {
            let data_type = schema.field(0).data_type();
            assert!(
                shared_files::same_value(value, back, data_type),
                "{case} {value} {back}"
            );
        }
    }
}

fn random_value(random: &mut Random) -> String {
    let alphabet = b"0123456789....--+eEtT: ";
    let kind = random.below(6);
    match kind {
        0 => (random.next() as i64 >> random.below(60)).to_string(),
        1 => format!("{:.*}", random.below(20), (random.next() as f64) / 1e17),
        2 => format!("{:e}", f64::from_bits(random.next())).replace("inf", "Infinity"),
        3 => format!("{}", (random.next() >> 40) as f64 / 64.0),
        _ => {
            let length = 1 + random.below(if kind == 4 { 3 } else { 24 });
            (0..length)
                .map(|_| char::from(alphabet[random.below(alphabet.len())]))
                .collect()
        }
    }
}
