//! Text to values and back, against values known from the SQL standard and PostgreSQL's manual,
//! and against the standard library's parsers.

use quire_text::boolean::parse_bool;
use quire_text::calendar::*;
use quire_text::number_in::*;
use quire_text::number_out::{write_date, write_decimal, write_f32, write_f64, write_timestamp};
use quire_text::temporal::TimeZoneRules;

use super::*;

const INVALID: NumberInError = NumberInError::Invalid;
const OUT_OF_RANGE: NumberInError = NumberInError::OutOfRange;

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn whole_numbers() {
    assert_eq!(parse_i64(b"0"), Ok(0));
    assert_eq!(parse_i64(b"-17"), Ok(-17));
    assert_eq!(parse_i64(b" +17 "), Ok(17));
    assert_eq!(parse_i64(b"9223372036854775807"), Ok(i64::MAX));
    assert_eq!(parse_i64(b"-9223372036854775808"), Ok(i64::MIN));
    assert_eq!(parse_i64(b"9223372036854775808"), Err(OUT_OF_RANGE));
    assert_eq!(parse_i64(b"0000000000000000000000012"), Ok(12));
    assert_eq!(parse_integer::<i16>(b"-32768"), Ok(i16::MIN));
    assert_eq!(parse_integer::<i16>(b"32768"), Err(OUT_OF_RANGE));
    for wrong in ["", " ", "-", "+", "1.0", "1 2", "a", "--1", "1e3", "٣"] {
        assert_eq!(parse_i64(wrong.as_bytes()), Err(INVALID), "{wrong}");
    }
    let mut random = Random(3);
    for _ in 0..2_000 {
        let value = (random.next() as i64) >> random.below(63);
        assert_eq!(parse_i64(value.to_string().as_bytes()), Ok(value));
    }
}

#[test]
fn decimals_round_half_away_from_zero() {
    let parse = |text: &str| parse_decimal(text.as_bytes(), 6, 2);
    assert_eq!(parse("12.34"), Ok(1234));
    assert_eq!(parse("-12.3"), Ok(-1230));
    assert_eq!(parse("7"), Ok(700));
    assert_eq!(parse(" +7. "), Ok(700));
    assert_eq!(parse(".5"), Ok(50));
    assert_eq!(parse("1.005"), Ok(101));
    assert_eq!(parse("-1.005"), Ok(-101));
    assert_eq!(parse("1.00499999999999999999999999"), Ok(100));
    assert_eq!(parse("0.004"), Ok(0));
    assert_eq!(parse("0.0005"), Ok(0));
    assert_eq!(parse("1.5e1"), Ok(1500));
    assert_eq!(parse("1234E-2"), Ok(1234));
    assert_eq!(parse("5e-3"), Ok(1));
    assert_eq!(parse("5e-4"), Ok(0));
    assert_eq!(parse("0e999999999999"), Ok(0));
    assert_eq!(parse("9999.99"), Ok(999_999));
    assert_eq!(parse("9999.995"), Err(OUT_OF_RANGE));
    assert_eq!(parse("10000"), Err(OUT_OF_RANGE));
    assert_eq!(parse("1e999999999999999999999"), Err(OUT_OF_RANGE));
    for wrong in [
        "", ".", "-", "1.2.3", "1,2", "NaN", "Infinity", "1e", "e5", "1 0", "0x1",
    ] {
        assert_eq!(parse(wrong), Err(INVALID), "{wrong}");
    }
    let nines = "9".repeat(38);
    assert_eq!(
        parse_decimal(nines.as_bytes(), 38, 0),
        Ok(10i128.pow(38) - 1)
    );
    assert_eq!(parse_decimal(b"1e38", 38, 0), Err(OUT_OF_RANGE));
    assert_eq!(
        parse_decimal(b"0.1234567890123456789", 38, 19),
        Ok(1_234_567_890_123_456_789)
    );
}

#[test]
fn the_fast_decimal_path_agrees_with_the_general_one() {
    let mut random = Random(5);
    for _ in 0..5_000 {
        let scale = random.below(8) as u8;
        let digits = 1 + random.below(12);
        let mut number: String = (0..digits)
            .map(|_| char::from(b'0' + random.below(10) as u8))
            .collect();
        if random.below(3) > 0 {
            number.insert(random.below(number.len() + 1), '.');
        }
        if random.below(2) == 0 {
            number.insert(0, '-');
        }
        // A blank makes the general path take it.
        let general = parse_decimal(format!(" {number}").as_bytes(), 15, scale);
        assert_eq!(
            parse_decimal(number.as_bytes(), 15, scale),
            general,
            "{number} {scale}"
        );
    }
}

#[test]
fn floating_point_numbers() {
    assert_eq!(parse_f64(b" 1.5 "), Ok(1.5));
    assert_eq!(parse_f64(b"-infinity"), Ok(f64::NEG_INFINITY));
    assert!(parse_f64(b"NaN").unwrap().is_nan());
    assert_eq!(parse_f64(b"1e400"), Err(OUT_OF_RANGE));
    assert_eq!(parse_f64(b"1e-400"), Err(OUT_OF_RANGE));
    assert_eq!(parse_f64(b"0e-400"), Ok(0.0));
    assert_eq!(parse_f64(b""), Err(INVALID));
    assert_eq!(parse_f64(b"1,5"), Err(INVALID));
    assert_eq!(parse_f32(b"3.4e39"), Err(OUT_OF_RANGE));
    assert_eq!(parse_f32(b"0.1"), Ok(0.1));
}

#[test]
fn floating_point_text_is_postgresqls_and_reads_back() {
    let expected: [(f64, &str); 16] = [
        (0.0, "0"),
        (-0.0, "-0"),
        (20.0, "20"),
        (0.1, "0.1"),
        (-2.5, "-2.5"),
        (123_456.789, "123456.789"),
        (1e14, "100000000000000"),
        (1e15, "1e+15"),
        (1.5e300, "1.5e+300"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-1.25e-7, "-1.25e-07"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
        (1e22, "1e+22"),
    ];
    for (value, printed) in expected {
        assert_eq!(text(|out| write_f64(value, out)), printed);
    }
    assert_eq!(text(|out| write_f32(1e6, out)), "1e+06");
    assert_eq!(text(|out| write_f32(0.1, out)), "0.1");
    let mut random = Random(11);
    for _ in 0..5_000 {
        let value = f64::from_bits(random.next());
        let printed = text(|out| write_f64(value, out));
        let back: f64 = printed.parse().unwrap();
        assert!(
            back.to_bits() == value.to_bits() || value.is_nan(),
            "{value:e} {printed}"
        );
        let value = f32::from_bits(random.next() as u32);
        let back: f32 = text(|out| write_f32(value, out)).parse().unwrap();
        assert!(
            back.to_bits() == value.to_bits() || value.is_nan(),
            "{value:e}"
        );
    }
}

#[test]
fn dates_count_days_as_the_calendar_does() {
    // One day after the other through all lengths of months and kinds of years.
    let (mut year, mut month, mut day) = (-401, 1, 1);
    let mut days = days_from_civil(year, month, day);
    assert_eq!(days_from_civil(1970, 1, 1), 0);
    assert_eq!(days_from_civil(2000, 3, 1), 11_017);
    while year < 2_101 {
        assert_eq!(days_from_civil(year, month, day), days);
        assert_eq!(civil_from_days(days), (year, month, day));
        if year > 0 {
            let printed = format!("{year:04}-{month:02}-{day:02}");
            assert_eq!(
                parse_date(printed.as_bytes()).map(i64::from),
                Ok(days),
                "{printed}"
            );
        }
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let last = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        day += 1;
        if day > last {
            (month, day) = (month + 1, 1);
        }
        if month > 12 {
            (year, month) = (year + 1, 1);
        }
        days += 1;
    }
}

#[test]
fn dates() {
    assert_eq!(parse_date(b"1970-01-01"), Ok(0));
    assert_eq!(parse_date(b" 1970-1-2 "), Ok(1));
    assert_eq!(parse_date(b"2000-02-29"), Ok(11_016));
    assert_eq!(parse_date(b"0001-01-01"), Ok(-719_162));
    assert_eq!(parse_date(b"0001-12-31 BC"), Ok(-719_163));
    assert_eq!(parse_date(b"0001-02-29 BC"), Ok(-719_163 - 306));
    for wrong in [
        "2001-02-29",
        "1900-02-29",
        "2000-13-01",
        "2000-00-10",
        "2000-01-32",
        "0000-01-01",
    ] {
        assert_eq!(parse_date(wrong.as_bytes()), Err(OUT_OF_RANGE), "{wrong}");
    }
    for wrong in [
        "",
        "2000",
        "2000-01",
        "2000/01/01",
        "01-02-2000",
        "2000-01-01x",
        "2000-01-01 10:00x",
    ] {
        assert_eq!(parse_date(wrong.as_bytes()), Err(INVALID), "{wrong}");
    }
    // A time of day behind a date counts for nothing, as in PostgreSQL.
    assert_eq!(parse_date(b"2000-01-01 10:00"), Ok(10_957));
    for days in [
        -1_000_000, -719_163, -719_162, -1, 0, 20_000, 2_932_896, 2_932_897, 80_000_000,
    ] {
        let printed = text(|out| write_date(days, out));
        assert_eq!(
            parse_date(printed.as_bytes()).map(i64::from),
            Ok(days),
            "{printed}"
        );
    }
}

#[test]
fn timestamps() {
    let second = 1_000_000i64;
    let noon = 12 * 3600 * second;
    let plain = |text: &str| parse_timestamp(text.as_bytes(), None);
    let zoned = |text: &str| parse_timestamp(text.as_bytes(), Some(&TimeZoneRules::default()));
    assert_eq!(plain("1970-01-01 12:00:00"), Ok(noon));
    assert_eq!(plain("1970-01-01T12:00"), Ok(noon));
    assert_eq!(plain("1970-01-02"), Ok(86_400 * second));
    assert_eq!(plain("1970-01-01 00:00:01.5"), Ok(1_500_000));
    assert_eq!(plain("1970-01-01 00:00:00.0000014"), Ok(1));
    assert_eq!(plain("1970-01-01 00:00:00.0000015"), Ok(2));
    assert_eq!(plain("1969-12-31 23:59:59.999999"), Ok(-1));
    assert_eq!(plain("1970-01-01 24:00:00"), Ok(86_400 * second));
    assert_eq!(plain("1970-01-01 00:00:60"), Ok(60 * second));
    // Without time zone the zone is ignored, with it applied.
    assert_eq!(plain("1970-01-01 12:00:00+02"), Ok(noon));
    assert_eq!(zoned("1970-01-01 12:00:00+02"), Ok(noon - 7_200 * second));
    assert_eq!(
        zoned("1970-01-01 12:00:00-05:30"),
        Ok(noon + 19_800 * second)
    );
    assert_eq!(
        zoned("1970-01-01T12:00:00+0530"),
        Ok(noon - 19_800 * second)
    );
    for utc in [
        "1970-01-01 12:00:00Z",
        "1970-01-01 12:00:00 UTC",
        "1970-01-01 12:00:00",
    ] {
        assert_eq!(zoned(utc), Ok(noon), "{utc}");
    }
    for wrong in [
        "1970-01-01 25:00",
        "1970-01-01 10:60",
        "1970-01-01 24:00:01",
        "1970-02-30 10:00",
    ] {
        assert_eq!(plain(wrong), Err(OUT_OF_RANGE), "{wrong}");
    }
    for wrong in [
        "",
        "12:00",
        "1970-01-01 12",
        "1970-01-01 12:00:00 Mars",
        "1970-01-01x12:00",
    ] {
        assert_eq!(plain(wrong), Err(INVALID), "{wrong}");
    }
    assert_eq!(plain("294277-01-01 00:00:00"), Err(OUT_OF_RANGE));
    let mut random = Random(17);
    for _ in 0..2_000 {
        let value = (random.next() as i64 >> 2 >> random.below(40)).max(FIRST_MOMENT);
        for zone in [false, true] {
            let printed = text(|out| write_timestamp(value, zone, out));
            assert_eq!(
                parse_timestamp(printed.as_bytes(), Some(&TimeZoneRules::default())),
                Ok(value),
                "{printed}"
            );
        }
    }
}

#[test]
fn booleans() {
    for yes in ["t", "true", "TRUE", " tr ", "y", "yes", "on", "1"] {
        assert_eq!(parse_bool(yes.as_bytes()), Ok(true), "{yes}");
    }
    for no in ["f", "false", "Fals", "n", "no", "of", "off", "0"] {
        assert_eq!(parse_bool(no.as_bytes()), Ok(false), "{no}");
    }
    for wrong in ["", "o", "2", "truee", "maybe"] {
        assert_eq!(parse_bool(wrong.as_bytes()), Err(INVALID), "{wrong}");
    }
}

#[test]
fn decimal_text_has_all_fraction_digits() {
    let printed = |value, scale| text(|out| write_decimal(value, scale, out));
    assert_eq!(printed(1250, 2), "12.50");
    assert_eq!(printed(-5, 2), "-0.05");
    assert_eq!(printed(0, 3), "0.000");
    assert_eq!(printed(42, 0), "42");
    assert_eq!(
        printed(10i128.pow(38) - 1, 38),
        format!("0.{}", "9".repeat(38))
    );
    assert_eq!(
        printed(-(10i128.pow(38) - 1), 0),
        format!("-{}", "9".repeat(38))
    );
}
