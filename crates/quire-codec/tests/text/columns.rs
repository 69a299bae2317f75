//! Columns of strings to test with.

use quire_codec::{BytesSlice, CodecId};

/// Codecs that hold any strings.
pub const CODECS: [CodecId; 8] = [
    CodecId::Plain,
    CodecId::Dictionary,
    CodecId::Fsst,
    CodecId::Zstd,
    CodecId::Words,
    CodecId::Shape,
    CodecId::Phrases,
    CodecId::Pdict,
];

/// Strings, owned.
pub struct Column {
    pub name: &'static str,
    pub offsets: Vec<u32>,
    pub data: Vec<u8>,
}

impl Column {
    pub fn new(name: &'static str, values: impl IntoIterator<Item = Vec<u8>>) -> Self {
        // Starts inside the data, as a slice of a larger column does.
        let mut column = Self {
            name,
            offsets: vec![3],
            data: b"...".to_vec(),
        };
        for value in values {
            column.data.extend_from_slice(&value);
            column.offsets.push(column.data.len() as u32);
        }
        column.data.extend_from_slice(b"......");
        column
    }

    pub fn slice(&self) -> BytesSlice<'_> {
        BytesSlice {
            offsets: &self.offsets,
            data: &self.data,
        }
    }
}

/// A xorshift generator: the same numbers in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}

const WORDS: [&str; 24] = [
    "regular",
    "final",
    "ironic",
    "deposits",
    "accounts",
    "packages",
    "sleep",
    "haggle",
    "among",
    "the",
    "quickly",
    "carefully",
    "furiously",
    "bold",
    "foxes",
    "above",
    "requests",
    "nag",
    "it's",
    "über",
    "naïve",
    "blithely",
    "according",
    "internationalisation",
];

/// Words with punctuation, cut anywhere, as in the remarks of a benchmark.
pub fn sentence(random: &mut Random, longest: usize) -> Vec<u8> {
    let mut text = String::new();
    while text.len() < longest + 8 {
        text.push_str(WORDS[random.below(WORDS.len())]);
        text.push_str([" ", " ", " ", ". ", ", ", "; "][random.below(6)]);
    }
    let start = random.below(8);
    let length = random.below(longest);
    text.as_bytes()[start..start + length].to_vec()
}

fn remarks(name: &'static str, rows: usize, longest: usize) -> Column {
    let mut random = Random(rows as u64 + 77);
    Column::new(name, (0..rows).map(|_| sentence(&mut random, longest)))
}

fn binary(rows: usize, longest: usize) -> Column {
    let mut random = Random(5);
    Column::new(
        "binary",
        (0..rows).map(|_| {
            let length = random.below(longest);
            random.bytes(length)
        }),
    )
}

/// Values that each leave a word behind which occurs nowhere else.
fn unknown_words(rows: usize) -> Column {
    let mut random = Random(19);
    Column::new(
        "unknown words",
        (0..rows).map(|_| {
            (0..random.below(14))
                .map(|_| b"abcdefghijklmnopqrstuvwxyz "[random.below(27)])
                .collect()
        }),
    )
}

/// Values with runs of digits and letters, of each kind that a shape distinguishes.
/// UUIDs in both cases.
fn uuids() -> [Column; 2] {
    let mut random = Random(29);
    let mut uuid = |upper: bool| {
        let digits = [8, 4, 4, 4, 12].map(|width| {
            let number = random.below(1 << (4 * width));
            if upper {
                format!("{number:0width$X}")
            } else {
                format!("{number:0width$x}")
            }
        });
        digits.join("-").into_bytes()
    };
    let lower: Vec<_> = (0..2100).map(|_| uuid(false)).collect();
    let upper: Vec<_> = (0..1030).map(|row| uuid(row % 9 > 0)).collect();
    [
        Column::new("uuids", lower),
        Column::new("upper-case uuids", upper),
    ]
}

/// Runs of digits of many lengths, alone and between fixed text.
fn digit_columns() -> [Column; 2] {
    let mut random = Random(37);
    let mut digits = |most: usize| -> Vec<u8> {
        (0..random.below(most + 1))
            .map(|_| b"00123456789"[random.below(11)])
            .collect()
    };
    let runs: Vec<_> = (0..1500).map(|row| digits(row % 40)).collect();
    let numbers = (0..2048).map(|_| {
        let (first, second, third) = (digits(3), digits(9), digits(17));
        [b"(", &first[..], b".", &second, b", -", &third, b")"].concat()
    });
    let numbers: Vec<_> = numbers.collect();
    [
        Column::new("runs of digits", runs),
        Column::new("pairs of numbers", numbers),
    ]
}

/// Several shapes, empty strings and sentences, in no order.
fn mixed() -> Column {
    let mut random = Random(43);
    let mut mixed = |row: usize| match random.below(12) {
        0 => sentence(&mut random, 90),
        1 => vec![],
        2..5 => [0; 4]
            .map(|_| random.below(256).to_string())
            .join(".")
            .into_bytes(),
        5..7 => format!("flight {}{row:04}", ["LH", "AF", "BA"][row % 3]).into_bytes(),
        _ => {
            let (year, month, day) = (1990 + row / 365, row % 12 + 1, row % 28 + 1);
            format!("{year}-{month:02}-{day:02}").into_bytes()
        }
    };
    let mixed: Vec<_> = (0..2400).map(&mut mixed).collect();
    Column::new("several shapes", mixed)
}

fn shaped() -> Vec<Column> {
    let mut random = Random(47);
    let sparse = (0..2500).map(|row| match row % 40 {
        17 => sentence(&mut random, 30),
        _ => vec![],
    });
    let text = "fixed text that is longer than a block of sixteen bytes #";
    let mut columns = Vec::from(uuids());
    columns.extend(digit_columns());
    columns.extend([
        mixed(),
        Column::new("sparse", sparse.collect::<Vec<_>>()),
        Column::new(
            "the same places every day",
            (0..2300).map(|row| format!("place {}", row % 37 * 31 % 37).into_bytes()),
        ),
        Column::new(
            "long fixed text",
            (0..1500).map(|row| format!("{text}{:05}{text}", row * 7 % 977).into_bytes()),
        ),
        Column::new(
            "letters",
            (0..1100).map(|row: usize| {
                let letter = |place: u32| b'A' + (row * 7919 / 3usize.pow(place) % 26) as u8;
                (0..14).map(letter).collect()
            }),
        ),
    ]);
    columns
}

/// Columns of every kind that the codecs distinguish.
pub fn columns() -> Vec<Column> {
    let mut columns = shaped();
    columns.extend(unshaped());
    columns
}

fn unshaped() -> Vec<Column> {
    let mut random = Random(11);
    let unicode = [
        "",
        "ä",
        "東京都",
        "Ωmega",
        "🦊🦊",
        "naïve café",
        "\u{0}zero\u{0}",
    ];
    vec![
        Column::new("no rows", []),
        Column::new("one empty", [vec![]]),
        Column::new("one byte", [vec![0]]),
        Column::new("all empty", (0..2049).map(|_| vec![])),
        Column::new("all equal", (0..3000).map(|_| b"same old words".to_vec())),
        Column::new("single bytes", (0..=255u8).map(|byte| vec![byte])),
        Column::new(
            "unicode",
            (0..1500).map(|row| unicode[row % 7].as_bytes().to_vec()),
        ),
        Column::new(
            "keys",
            (0..5000).map(|row| format!("Customer#{row:09}").into_bytes()),
        ),
        Column::new(
            "few distinct",
            (0..9000).map(|_| WORDS[random.below(5)].as_bytes().to_vec()),
        ),
        Column::new("zeros", (0..1200).map(|row| vec![0; row % 9])),
        Column::new(
            "mixed lengths",
            (0..1030).map(|row| vec![b'x'; if row == 700 { 70_000 } else { row % 3 }]),
        ),
        remarks("full vectors", 4096, 60),
        remarks("partial vector", 2500, 130),
        remarks("partial lane", 300, 40),
        remarks("fewer rows than lanes", 3, 40),
        binary(2000, 40),
        unknown_words(2200),
    ]
}

/// A value of 5 MiB among short ones, which no codec may choke on.
pub fn long_value(of_text: bool) -> Column {
    let mut random = Random(23);
    let mut long = Vec::new();
    while long.len() < 5 << 20 {
        long.extend(if of_text {
            sentence(&mut random, 4000)
        } else {
            random.bytes(4000)
        });
    }
    let values = (0..1100).map(|row| {
        if row == 517 {
            long.clone()
        } else {
            sentence(&mut random, 30)
        }
    });
    Column::new(
        if of_text { "long text" } else { "long binary" },
        values.collect::<Vec<_>>(),
    )
}
