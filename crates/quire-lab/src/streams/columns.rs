//! The columns of figure 6.8, plain and compressed, and streams of its query over them.

use std::hint::black_box;

use quire_codec::choose::{ChooseOptions, choose};
use quire_codec::int::Element;
use quire_codec::{Corrupt, ROWS_MAX, RowGroupValues, VECTOR_VALUES, vector_count};

use super::mean_seconds;
use super::primitives::{ItemVector, MoneyVector, PrimitiveResults};
use crate::codecs::revenues;
use crate::stored::{StoredColumn, StoredPayloads, Vector};
use crate::{Lab, LabError};

/// The query of the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamedQuery {
    /// A: query 6 of TPC-H, of four columns.
    WithPredicates,
    /// B: without its predicates, of two columns.
    WithoutPredicates,
}

impl StreamedQuery {
    /// In the order of their names.
    pub const BOTH: [Self; 2] = [Self::WithPredicates, Self::WithoutPredicates];

    /// What the paper calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::WithPredicates => "A",
            Self::WithoutPredicates => "B",
        }
    }
}

/// How the columns are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamedStorage {
    /// As values, which the primitives read where they are.
    Plain,
    /// Compressed. Each vector that a query names is decompressed into the cache, all of its values.
    Compressed,
}

/// Columns of `lineitem`: dates and quantities of 4 bytes, prices and discounts of 8. All streams share them.
pub struct StreamedColumns {
    plain: PlainItems,
    compressed: CompressedItems,
}

/// Nanoseconds of what B consists of, for all rows, by one thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultiplicationParts {
    /// The multiplication over uncompressed columns in memory.
    pub plain_ns: f64,
    /// Decompression of both columns, vector by vector.
    pub decompression_ns: f64,
    /// The multiplication over as many vectors that are in the cache.
    pub cached_ns: f64,
}

struct PlainItems {
    ship_days: Vec<i32>,
    quantities: Vec<i32>,
    prices: Vec<i64>,
    discounts: Vec<i64>,
}

struct CompressedItems {
    ship_days: StoredPayloads,
    quantities: StoredPayloads,
    prices: StoredPayloads,
    discounts: StoredPayloads,
}

/// Hands out vectors of the columns. Each stream has one.
trait ItemCursor {
    fn money(&mut self, number: usize) -> Result<MoneyVector<'_>, Corrupt>;

    fn items(&mut self, number: usize) -> Result<ItemVector<'_>, Corrupt>;
}

impl PlainItems {
    fn draw(row_count: usize) -> Self {
        let mut items = Self {
            ship_days: Vec::with_capacity(row_count),
            quantities: Vec::with_capacity(row_count),
            prices: Vec::with_capacity(row_count),
            discounts: Vec::with_capacity(row_count),
        };
        for row in revenues().take(row_count) {
            items.ship_days.push(row.ship_day);
            items.quantities.push(row.quantity);
            items.prices.push(row.price.into());
            items.discounts.push(row.discount.into());
        }
        items
    }

    fn vector_count(&self) -> usize {
        vector_count(self.prices.len())
    }
}

/// The values of one vector; none behind the end.
fn vector_of<T>(values: &[T], number: usize) -> &[T] {
    let start = number.saturating_mul(VECTOR_VALUES).min(values.len());
    let end = start.saturating_add(VECTOR_VALUES).min(values.len());
    &values[start..end]
}

impl ItemCursor for &PlainItems {
    fn money(&mut self, number: usize) -> Result<MoneyVector<'_>, Corrupt> {
        Ok(MoneyVector {
            prices: vector_of(&self.prices, number),
            discounts: vector_of(&self.discounts, number),
        })
    }

    fn items(&mut self, number: usize) -> Result<ItemVector<'_>, Corrupt> {
        Ok(ItemVector {
            ship_days: vector_of(&self.ship_days, number),
            quantities: vector_of(&self.quantities, number),
            money: self.money(number)?,
        })
    }
}

impl CompressedItems {
    fn encode(items: &PlainItems) -> Result<Self, LabError> {
        Ok(Self {
            ship_days: stored(&items.ship_days, |values| RowGroupValues::Int32(values))?,
            quantities: stored(&items.quantities, |values| RowGroupValues::Int32(values))?,
            prices: stored(&items.prices, |values| RowGroupValues::Int64(values))?,
            discounts: stored(&items.discounts, |values| RowGroupValues::Int64(values))?,
        })
    }
}

/// By the codec that Quire chooses for the first row group.
fn stored<E: Element>(
    values: &[E],
    of_type: impl for<'v> Fn(&'v [E]) -> RowGroupValues<'v>,
) -> Result<StoredPayloads, LabError> {
    let first = &values[..values.len().min(ROWS_MAX)];
    let choice = choose(&of_type(first), &ChooseOptions::default());
    StoredPayloads::encode(choice.codec, values)
}

/// A stream's own place in the compressed columns, and the vectors that it has decompressed.
struct DecodingCursor {
    ship_days: DecodedColumn<i32>,
    quantities: DecodedColumn<i32>,
    prices: DecodedColumn<i64>,
    discounts: DecodedColumn<i64>,
}

/// A column, and the vector of it that was decompressed last.
struct DecodedColumn<E: Element> {
    column: StoredColumn<E>,
    vector: Box<Vector<E>>,
}

impl DecodingCursor {
    fn open(columns: &CompressedItems) -> Result<Self, Corrupt> {
        Ok(Self {
            ship_days: DecodedColumn::open(&columns.ship_days)?,
            quantities: DecodedColumn::open(&columns.quantities)?,
            prices: DecodedColumn::open(&columns.prices)?,
            discounts: DecodedColumn::open(&columns.discounts)?,
        })
    }
}

impl<E: Element> DecodedColumn<E> {
    fn open(payloads: &StoredPayloads) -> Result<Self, Corrupt> {
        Ok(Self {
            column: payloads.open()?,
            vector: Box::new(Vector([E::default(); VECTOR_VALUES])),
        })
    }

    fn decode(&mut self, number: usize) -> Result<&[E], Corrupt> {
        let Vector(out) = &mut *self.vector;
        let rows = self.column.decode_vector(number, out)?;
        Ok(&out[..rows])
    }
}

impl ItemCursor for DecodingCursor {
    fn money(&mut self, number: usize) -> Result<MoneyVector<'_>, Corrupt> {
        Ok(MoneyVector {
            prices: self.prices.decode(number)?,
            discounts: self.discounts.decode(number)?,
        })
    }

    fn items(&mut self, number: usize) -> Result<ItemVector<'_>, Corrupt> {
        Ok(ItemVector {
            ship_days: self.ship_days.decode(number)?,
            quantities: self.quantities.decode(number)?,
            money: MoneyVector {
                prices: self.prices.decode(number)?,
                discounts: self.discounts.decode(number)?,
            },
        })
    }
}

/// The answer of a query over so many vectors.
fn revenue(
    query: StreamedQuery,
    cursor: &mut impl ItemCursor,
    vectors: usize,
    results: &mut PrimitiveResults,
) -> Result<i64, Corrupt> {
    let mut total = 0_i64;
    for number in 0..vectors {
        let revenue = match query {
            StreamedQuery::WithPredicates => results.selected_revenue(cursor.items(number)?),
            StreamedQuery::WithoutPredicates => results.revenue(cursor.money(number)?),
        };
        total = total.wrapping_add(revenue);
    }
    Ok(total)
}

impl StreamedColumns {
    /// Draws so many rows, and compresses them as Quire chooses.
    ///
    /// # Errors
    /// When a codec refuses the values, or the query has another answer over compressed ones.
    pub fn draw(row_count: usize) -> Result<Self, LabError> {
        let plain = PlainItems::draw(row_count);
        let compressed = CompressedItems::encode(&plain)?;
        let columns = Self { plain, compressed };
        for query in StreamedQuery::BOTH {
            let both = [StreamedStorage::Plain, StreamedStorage::Compressed];
            let [plain, compressed] = both.map(|storage| columns.answer(query, storage));
            if plain? != compressed? {
                let codec = "a compressed column of lineitem".to_owned();
                return Err(LabError::NotRestored { codec });
            }
        }
        Ok(columns)
    }

    fn answer(&self, query: StreamedQuery, storage: StreamedStorage) -> Result<i64, Corrupt> {
        let results = &mut PrimitiveResults::new();
        let vectors = self.plain.vector_count();
        match storage {
            StreamedStorage::Plain => revenue(query, &mut &self.plain, vectors, results),
            StreamedStorage::Compressed => {
                let cursor = &mut DecodingCursor::open(&self.compressed)?;
                revenue(query, cursor, vectors, results)
            }
        }
    }

    /// Bytes of the columns that a query reads.
    pub fn column_bytes(&self, query: StreamedQuery, storage: StreamedStorage) -> usize {
        let (plain, compressed) = (&self.plain, &self.compressed);
        let [tested, money] = match storage {
            StreamedStorage::Plain => [
                size_of_val(&plain.ship_days[..]) + size_of_val(&plain.quantities[..]),
                size_of_val(&plain.prices[..]) + size_of_val(&plain.discounts[..]),
            ],
            StreamedStorage::Compressed => [
                compressed.ship_days.bytes + compressed.quantities.bytes,
                compressed.prices.bytes + compressed.discounts.bytes,
            ],
        };
        match query {
            StreamedQuery::WithPredicates => tested + money,
            StreamedQuery::WithoutPredicates => money,
        }
    }

    /// Seconds of a query when so many streams run, each of them `rounds` queries; see [`mean_seconds`].
    ///
    /// # Errors
    /// When what was encoded cannot be decoded.
    pub fn query_seconds(
        &self,
        (query, storage): (StreamedQuery, StreamedStorage),
        streams: usize,
        rounds: usize,
    ) -> Result<f64, LabError> {
        let vectors = self.plain.vector_count();
        let seconds = match storage {
            StreamedStorage::Plain => mean_seconds(streams, rounds, || {
                Ok(stream_of(query, &self.plain, vectors))
            }),
            StreamedStorage::Compressed => mean_seconds(streams, rounds, || {
                let cursor = DecodingCursor::open(&self.compressed)?;
                Ok(stream_of(query, cursor, vectors))
            }),
        };
        Ok(seconds?)
    }

    /// What B consists of, each part by itself.
    ///
    /// # Errors
    /// When what was encoded cannot be decoded.
    pub fn multiplication(&self, lab: &Lab) -> Result<MultiplicationParts, LabError> {
        let vectors = self.plain.vector_count();
        let results = &mut PrimitiveResults::new();
        let cursor = &mut &self.plain;
        let plain_ns = lab.nanoseconds(|| {
            for number in 0..vectors {
                black_box(results.multiply(cursor.money(number)?));
            }
            Ok::<(), Corrupt>(())
        })?;
        let cursor = &mut DecodingCursor::open(&self.compressed)?;
        let decompression_ns = lab.nanoseconds(|| {
            for number in 0..vectors {
                black_box(cursor.money(number)?);
            }
            Ok::<(), Corrupt>(())
        })?;
        let first = cursor.money(0)?;
        let cached_ns = lab.nanoseconds_of(|| {
            for _ in 0..vectors {
                black_box(results.multiply(black_box(first)));
            }
        });
        Ok(MultiplicationParts {
            plain_ns,
            decompression_ns,
            cached_ns,
        })
    }
}

/// Runs a query each time it is called.
fn stream_of(
    query: StreamedQuery,
    mut cursor: impl ItemCursor,
    vectors: usize,
) -> impl FnMut() -> Result<(), Corrupt> {
    let mut results = Box::new(PrimitiveResults::new());
    move || {
        black_box(revenue(query, &mut cursor, vectors, &mut results)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MeasureEffort;

    /// More than a payload, and an end that is no full vector.
    const ROWS: usize = ROWS_MAX + 2 * VECTOR_VALUES + 77;
    const STORAGES: [StreamedStorage; 2] = [StreamedStorage::Plain, StreamedStorage::Compressed];

    #[test]
    fn answers_are_those_of_a_loop_over_rows() {
        let columns = StreamedColumns::draw(ROWS).unwrap();
        let product = |price: i32, discount: i32| i64::from(price) * i64::from(discount);
        let all: i64 = revenues()
            .take(ROWS)
            .map(|row| product(row.price, row.discount))
            .sum();
        let selected: Vec<i64> = revenues()
            .take(ROWS)
            // The days of 1994: 1992 has 366 days, 1993 has 365.
            .filter(|row| row.ship_day >= 366 + 365 && row.ship_day < 366 + 365 + 365)
            .filter(|row| row.quantity < 24 && (5..=7).contains(&row.discount))
            .map(|row| product(row.price, row.discount))
            .collect();
        // The paper: about 2 % of the rows.
        let share = selected.len() as f64 / ROWS as f64;
        assert!((0.015..0.025).contains(&share), "{share}");
        for storage in STORAGES {
            let answer = |query| columns.answer(query, storage).unwrap();
            assert_eq!(answer(StreamedQuery::WithoutPredicates), all);
            let sum: i64 = selected.iter().sum();
            assert_eq!(answer(StreamedQuery::WithPredicates), sum);
        }
    }

    #[test]
    fn bytes_are_those_of_the_columns_that_are_read() {
        let columns = StreamedColumns::draw(ROWS).unwrap();
        let bytes = |query, storage| columns.column_bytes(query, storage);
        let [plain, compressed] = STORAGES;
        assert_eq!(bytes(StreamedQuery::WithPredicates, plain), 24 * ROWS);
        assert_eq!(bytes(StreamedQuery::WithoutPredicates, plain), 16 * ROWS);
        for query in StreamedQuery::BOTH {
            // The paper: 144 MB in 37.5, and 96 MB in 21.
            assert!(bytes(query, compressed) < bytes(query, plain) / 3);
        }
    }

    #[test]
    fn streams_and_parts_have_times() {
        let columns = StreamedColumns::draw(2 * VECTOR_VALUES + 5).unwrap();
        for storage in STORAGES {
            let query = (StreamedQuery::WithPredicates, storage);
            assert!(columns.query_seconds(query, 2, 3).unwrap() > 0.0);
        }
        let parts = columns.multiplication(&Lab::new(MeasureEffort::Quick));
        let parts = parts.unwrap();
        for ns in [parts.plain_ns, parts.decompression_ns, parts.cached_ns] {
            assert!(ns > 0.0);
        }
    }
}
