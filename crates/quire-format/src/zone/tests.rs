#![allow(clippy::unwrap_used)]
use super::*;

fn round_trip(
    zone: &ZoneBounds,
    physical_type: PhysicalType,
    reference: Option<&CodecScalar>,
) -> ZoneBounds {
    let mut writer = WireItemWriter::new(1);
    zone.encode(reference, &mut writer);
    let bytes = writer.finish();
    let mut reader = WireItemReader::new(&bytes, 1, "test").unwrap();
    let decoded = ZoneBounds::decode(physical_type, u64::MAX, reference, &mut reader).unwrap();
    reader.finish().unwrap();
    decoded
}

fn zone(min: CodecScalar, max: CodecScalar) -> ZoneBounds {
    ZoneBounds {
        min: Some(min),
        max: Some(max),
        min_exact: true,
        max_exact: true,
        null_count: 3,
    }
}

#[test]
fn zones_of_every_type_round_trip() {
    let zones = [
        zone(CodecScalar::Bool(false), CodecScalar::Bool(true)),
        zone(CodecScalar::Int16(i16::MIN), CodecScalar::Int16(i16::MAX)),
        zone(CodecScalar::Int32(i32::MIN), CodecScalar::Int32(i32::MAX)),
        zone(CodecScalar::Int64(i64::MIN), CodecScalar::Int64(i64::MAX)),
        zone(
            CodecScalar::Int128(i128::MIN),
            CodecScalar::Int128(i128::MAX),
        ),
        zone(
            CodecScalar::Float32(-0.0),
            CodecScalar::Float32(f32::INFINITY),
        ),
        zone(CodecScalar::Float64(f64::MIN), CodecScalar::Float64(1e-300)),
        zone(
            CodecScalar::Bytes(b"abcdef".to_vec()),
            CodecScalar::Bytes(b"abcxyz".to_vec()),
        ),
    ];
    for zone in zones {
        let min = zone.min.clone().unwrap();
        assert_eq!(round_trip(&zone, min.physical_type(), None), zone);
        assert_eq!(round_trip(&zone, min.physical_type(), Some(&min)), zone);
        let unknown = ZoneBounds {
            null_count: 9,
            ..ZoneBounds::default()
        };
        assert_eq!(
            round_trip(&unknown, min.physical_type(), Some(&min)),
            unknown
        );
    }
}

#[test]
fn text_bounds_enclose_and_stay_text() {
    let texts = [
        String::new(),
        "short".to_owned(),
        "x".repeat(31) + "é and more",
        "日本語".repeat(20),
        "\u{7f}".repeat(40),
        "\u{10ffff}".repeat(9),
        "a".repeat(20) + &"\u{10ffff}".repeat(9),
        "\u{d7ff}".repeat(11),
    ];
    for text in &texts {
        let zone = bytes_bounds(text.as_bytes(), text.as_bytes(), true, 0);
        assert!(
            zone.contains(&CodecScalar::Bytes(text.clone().into_bytes())),
            "{text}: {zone:?}"
        );
        for bound in [&zone.min, &zone.max].into_iter().flatten() {
            let CodecScalar::Bytes(bound) = bound else {
                panic!("not bytes")
            };
            assert!(bound.len() <= BOUND_BYTES && std::str::from_utf8(bound).is_ok());
        }
        assert_eq!(zone.max_exact, text.len() <= BOUND_BYTES);
        let greatest = text.chars().all(|character| character == '\u{10ffff}');
        assert_eq!(
            zone.max.is_none(),
            !text.is_empty() && greatest,
            "{text}: {zone:?}"
        );
    }
}

#[test]
fn byte_bounds_round_up_over_the_greatest_byte() {
    let value = [&[7_u8, 9][..], &[0xff; 40]].concat();
    let zone = bytes_bounds(&value, &value, false, 0);
    assert_eq!(zone.max, Some(CodecScalar::Bytes(vec![7, 10])));
    assert_eq!(bytes_bounds(&[], &[0xff; 40], false, 0).max, None);
}

#[test]
fn merging_widens_and_forgets_what_is_unknown() {
    let number = |min, max| zone(CodecScalar::Int32(min), CodecScalar::Int32(max));
    let mut merged = number(5, 9);
    merged.merge(1, &number(1, 7), 1);
    assert_eq!(
        merged,
        ZoneBounds {
            null_count: 6,
            ..number(1, 9)
        }
    );
    merged.merge(
        2,
        &ZoneBounds {
            null_count: 4,
            ..ZoneBounds::default()
        },
        0,
    );
    assert_eq!(
        merged,
        ZoneBounds {
            null_count: 10,
            ..number(1, 9)
        }
    );
    merged.merge(2, &ZoneBounds::default(), 5);
    assert_eq!(
        merged,
        ZoneBounds {
            null_count: 10,
            ..ZoneBounds::default()
        }
    );
    let mut empty = ZoneBounds {
        null_count: 2,
        ..ZoneBounds::default()
    };
    empty.merge(0, &number(1, 2), 1);
    assert_eq!(
        empty,
        ZoneBounds {
            null_count: 5,
            ..number(1, 2)
        }
    );
}

#[test]
fn hostile_zones_are_errors() {
    let decode = |physical_type, bytes: &[u8]| {
        let page = [&[1], bytes].concat();
        let mut reader = WireItemReader::new(&page, 1, "test").unwrap();
        ZoneBounds::decode(physical_type, 10, Some(&CodecScalar::Int32(5)), &mut reader).is_err()
    };
    assert!(
        decode(PhysicalType::Int32, &[0, 11]),
        "more NULLs than rows"
    );
    assert!(decode(PhysicalType::Int32, &[4, 0]), "exact but absent");
    assert!(
        decode(PhysicalType::Int32, &[1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f]),
        "not 32 bits"
    );
    assert!(
        decode(PhysicalType::Bool, &[1, 0, 2]),
        "neither true nor false"
    );
    assert!(
        decode(PhysicalType::Bytes, &[1, 0, 4, 0]),
        "shares with nothing"
    );
    assert!(
        decode(PhysicalType::Float32, &[3, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0]),
        "crossed"
    );
}
