//! Images by columns: the page comes back, whatever its tuples are, with every transform and codec; damage does no harm.

use quire_codec::block::{BlockCodecId, BlockOptions, open};
use quire_codec::text::{FsstTable, StringCodes};
use quire_format::row_page::{
    PageImage, PageOp, PageSetup, PageTransform, RowPage, RowPageMut, RowPageShape, append_op,
    encode_image, encode_image_as,
};
use quire_format::tuple::{
    TupleColumn, TupleCompression, TupleDictionary, TupleLayout, TupleType, TupleValue,
};

use crate::random::Random;

const TYPES: [TupleType; 13] = [
    TupleType::Bool,
    TupleType::Int16,
    TupleType::Int32,
    TupleType::Int64,
    TupleType::Int128 { digits: 4 },
    TupleType::Int128 { digits: 15 },
    TupleType::Int128 { digits: 38 },
    TupleType::Float32,
    TupleType::Float64,
    TupleType::Date { base_days: 9000 },
    TupleType::Timestamp,
    TupleType::Text,
    TupleType::Bytes,
];

fn pick<T: Copy>(random: &mut Random, items: &[T]) -> T {
    items[random.below(items.len())]
}

fn value<'a>(random: &mut Random, column_type: TupleType, strings: &'a [u8]) -> TupleValue<'a> {
    let small = random.below(300) as i64 - 100;
    let any = random.next() as i64;
    let number = pick(random, &[small, small, any, 0]);
    match column_type {
        TupleType::Bool => TupleValue::Bool(number & 1 == 1),
        TupleType::Int16 => TupleValue::Integer(number as i16 as i64),
        TupleType::Int32 | TupleType::Date { .. } => TupleValue::Integer(number as i32 as i64),
        TupleType::Int64 | TupleType::Timestamp => TupleValue::Integer(number),
        TupleType::Int128 { digits } => {
            let wide = i128::from(number) * i128::from(any);
            TupleValue::Wide(wide % 10_i128.pow(digits.into()))
        }
        TupleType::Float32 => TupleValue::Float32(number as f32),
        TupleType::Float64 => TupleValue::Float64(pick(random, &[0.5, 0.1, number as f64])),
        // Of one length, or of several.
        TupleType::Bytes => {
            let start = random.below(strings.len() - 12);
            TupleValue::Bytes(&strings[start..start + 12])
        }
        TupleType::Text => {
            let start = random.below(strings.len() - 40);
            TupleValue::Bytes(&strings[start..start + random.below(40)])
        }
    }
}

struct Table {
    layout: TupleLayout,
    columns: Vec<TupleColumn>,
}

impl Table {
    fn random(random: &mut Random) -> Self {
        let count = 1 + random.below(12);
        let columns: Vec<TupleColumn> = (0..count).map(|_| column(random)).collect();
        Self {
            layout: TupleLayout::new(&columns).unwrap(),
            columns,
        }
    }

    fn tuple(&self, random: &mut Random, strings: &[u8]) -> Vec<u8> {
        let values: Vec<TupleValue<'_>> = (self.columns.iter())
            .map(|column| match &column.compression {
                _ if column.nullable && random.below(4) == 0 => TupleValue::Null,
                TupleCompression::Dictionary(_) => TupleValue::Integer(random.below(3) as i64),
                TupleCompression::OpenDictionary(_) if random.below(3) > 0 => {
                    TupleValue::Integer([0, 1, 2, 5][random.below(4)])
                }
                _ => value(random, column.column_type, strings),
            })
            .collect();
        let mut tuple = Vec::new();
        self.layout.encode(&values, &mut tuple).unwrap();
        tuple
    }
}

fn column(random: &mut Random) -> TupleColumn {
    let nullable = random.below(2) == 0;
    if random.below(6) == 0 {
        let values = [0, 1, 2].map(TupleValue::Integer);
        let dictionary = TupleDictionary::new(TupleType::Int32, 2, &values).unwrap();
        return TupleColumn {
            column_type: TupleType::Int32,
            nullable,
            compression: TupleCompression::Dictionary(dictionary.into()),
        };
    }
    if random.below(6) == 0 {
        // Some of the values that `value` makes have codes.
        let values = [0, 1, 2, 5].map(TupleValue::Integer);
        let dictionary = TupleDictionary::new(TupleType::Int32, 3, &values).unwrap();
        return TupleColumn {
            column_type: TupleType::Int32,
            nullable,
            compression: TupleCompression::OpenDictionary(dictionary.into()),
        };
    }
    let column_type = pick(random, &TYPES);
    TupleColumn {
        column_type,
        nullable,
        compression: match (random.below(5), column_type) {
            (0, TupleType::Text) => TupleCompression::Padded { bytes: 25 },
            (1, TupleType::Text) => {
                let table = FsstTable::from_bytes(b"\x02\x02\x01aba").unwrap();
                TupleCompression::StringCodes(StringCodes::from(table).into())
            }
            (0 | 2, _) => TupleCompression::None,
            _ => TupleCompression::NullSuppressed,
        },
    }
}

/// A leaf full of tuples, with keys of one length or of several.
fn page(random: &mut Random, table: &Table, page_bytes: usize) -> Vec<u8> {
    let strings: Vec<u8> = (0..4000).map(|_| b'a' + random.below(9) as u8).collect();
    let mut frame = vec![0; page_bytes];
    let setup = PageSetup {
        lower: pick(random, &[b"".as_slice(), b"k"]),
        upper: pick(random, &[b"".as_slice(), b"l"]),
        lsn: random.next(),
        layout: random.next() as u32,
        ..PageSetup::default()
    };
    let mut page = RowPageMut::create(&mut frame, &setup).unwrap();
    let key_bytes = 1 + random.below(11);
    let varies = random.below(3) == 0;
    let limit = random.below(400);
    for number in 0..limit {
        let mut key = b"k".to_vec();
        key.extend_from_slice(&(number as u64 * 7).to_be_bytes()[6..]);
        key.resize(3 + key_bytes + usize::from(varies) * random.below(3), 7);
        let tuple = table.tuple(random, &strings);
        if page.insert(&key, &tuple, false).is_err() {
            break;
        }
    }
    frame
}

fn decode(image: &[u8]) -> Vec<u8> {
    let opened = PageImage::open(image).unwrap();
    let mut codec = open(opened.codec(), &BlockOptions::default()).unwrap();
    let mut page = vec![0; opened.page_bytes()];
    opened.decode(codec.as_mut(), &mut page).unwrap();
    page
}

const CODECS: [BlockCodecId; 4] = [
    BlockCodecId::None,
    BlockCodecId::Lz4,
    BlockCodecId::Zlib,
    BlockCodecId::Zstd,
];

#[test]
fn pages_of_any_table_come_back() {
    let mut by_columns = 0;
    for seed in 0..150 {
        let mut random = Random(seed + 1);
        let table = Table::random(&mut random);
        let Ok(shape) = table.layout.page_shape() else {
            panic!("{:?}", table.columns);
        };
        let page_bytes = pick(&mut random, &[4096, 16_384]);
        let frame = page(&mut random, &table, page_bytes);
        let page = RowPage::open(&frame).unwrap();
        let mut codec = open(pick(&mut random, &CODECS), &BlockOptions::default()).unwrap();
        let rows = decode(&encode_image(&page, codec.as_mut()).unwrap());
        for transform in PageTransform::ALL {
            let image = encode_image_as(&page, transform, &shape, codec.as_mut()).unwrap();
            by_columns += usize::from(PageImage::open(&image).unwrap().transform() == transform);
            assert_eq!(decode(&image), rows, "{transform:?}");
        }
    }
    assert!(by_columns > 900, "{by_columns}");
}

#[test]
fn operations_follow_an_image_by_columns() {
    let mut random = Random(7);
    let table = Table::random(&mut random);
    let shape = table.layout.page_shape().unwrap();
    let mut frame = page(&mut random, &table, 16_384);
    let mut codec = open(BlockCodecId::Zstd, &BlockOptions::default()).unwrap();
    let before = RowPage::open(&frame).unwrap();
    let mut image =
        encode_image_as(&before, PageTransform::Packed, &shape, codec.as_mut()).unwrap();
    let op = PageOp::Put {
        key: b"k\xFF",
        value: b"new",
        overflow: false,
    };
    append_op(&mut image, &op, 9).unwrap();
    RowPageMut::open(&mut frame)
        .unwrap()
        .insert(b"k\xFF", b"new", false)
        .unwrap();
    let restored = decode(&image);
    let (found, expected) = (
        RowPage::open(&restored).unwrap(),
        RowPage::open(&frame).unwrap(),
    );
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.entries().zip(expected.entries()) {
        assert_eq!(found.unwrap(), expected.unwrap());
    }
}

#[test]
fn values_of_another_shape_are_stored_by_rows() {
    let integers = TupleColumn {
        column_type: TupleType::Int32,
        nullable: false,
        compression: TupleCompression::None,
    };
    let shape = TupleLayout::new(&[integers.clone(), integers])
        .unwrap()
        .page_shape()
        .unwrap();
    let mut codec = open(BlockCodecId::Lz4, &BlockOptions::default()).unwrap();
    let mut stored_as = |values: &[(&[u8], bool)], level| {
        let mut frame = vec![0; 4096];
        let setup = PageSetup {
            level,
            ..PageSetup::default()
        };
        let mut page = RowPageMut::create(&mut frame, &setup).unwrap();
        for (number, (value, overflow)) in values.iter().enumerate() {
            page.insert(&vec![1; number], value, *overflow).unwrap();
        }
        let page = RowPage::open(&frame).unwrap();
        let image = encode_image_as(&page, PageTransform::Packed, &shape, codec.as_mut()).unwrap();
        assert_eq!(RowPage::open(&decode(&image)).unwrap().len(), values.len());
        PageImage::open(&image).unwrap().transform()
    };
    let (packed, rows) = (PageTransform::Packed, PageTransform::ROWS);
    assert_eq!(stored_as(&[(&[1; 8], false), (&[2; 8], false)], 0), packed);
    assert_eq!(stored_as(&[(&[1; 8], false), (&[2; 80], true)], 0), packed);
    assert_eq!(stored_as(&[(&[1; 8], false), (&[2; 7], false)], 0), rows);
    assert_eq!(stored_as(&[], 0), rows);
    assert_eq!(stored_as(&[(&[1], false), (&[2, 2], false)], 1), rows);
}

#[test]
fn damaged_images_are_errors_or_other_pages() {
    let mut others = 0;
    for seed in 0..60 {
        let mut random = Random(9_000 + seed);
        let table = Table::random(&mut random);
        let shape = table.layout.page_shape().unwrap();
        let frame = page(&mut random, &table, 4096);
        let page = RowPage::open(&frame).unwrap();
        let id = pick(&mut random, &[BlockCodecId::None, BlockCodecId::Lz4]);
        let mut codec = open(id, &BlockOptions::default()).unwrap();
        for transform in PageTransform::ALL {
            let image = encode_image_as(&page, transform, &shape, codec.as_mut()).unwrap();
            for _ in 0..80 {
                let mut image = image.clone();
                match random.below(4) {
                    0 => image.truncate(random.below(image.len())),
                    _ => {
                        let at = random.below(image.len().min(200));
                        image[at] ^= 1 << random.below(8);
                    }
                }
                let Ok(opened) = PageImage::open(&image) else {
                    continue;
                };
                let mut codec = open(opened.codec(), &BlockOptions::default()).unwrap();
                let mut restored = vec![0; opened.page_bytes()];
                if opened.decode(codec.as_mut(), &mut restored).is_ok() {
                    RowPage::open(&restored).unwrap();
                    others += 1;
                }
            }
        }
    }
    assert!(others > 100, "{others}");
}

#[test]
fn numbers_of_a_narrow_range_take_the_bits_of_their_range() {
    let column = TupleColumn {
        column_type: TupleType::Int32,
        nullable: false,
        compression: TupleCompression::None,
    };
    let layout = TupleLayout::new(&vec![column; 32]).unwrap();
    let shape: RowPageShape = layout.page_shape().unwrap();
    let mut random = Random(3);
    let mut frame = vec![0; 16_384];
    let mut page = RowPageMut::create(&mut frame, &PageSetup::default()).unwrap();
    let mut rows = 0_u64;
    loop {
        let values: Vec<_> = (0..32_i64)
            .map(|at| TupleValue::Integer(1000 * at + random.below(700) as i64))
            .collect();
        let mut tuple = Vec::new();
        layout.encode(&values, &mut tuple).unwrap();
        if page.insert(&rows.to_be_bytes(), &tuple, false).is_err() {
            break;
        }
        rows += 1;
    }
    let page = RowPage::open(&frame).unwrap();
    let mut codec = open(BlockCodecId::Zlib, &BlockOptions::default()).unwrap();
    let image = encode_image_as(&page, PageTransform::Packed, &shape, codec.as_mut()).unwrap();
    // 700 values are 10 bits; besides them a base for each column, and what all images have.
    let bits = rows as usize * 32 * 10;
    assert!(image.len() < bits / 8 + 32 * 5 + 120, "{}", image.len());
    assert!(image.len() > bits / 8);
}
