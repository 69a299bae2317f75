//! Tuples of five columns of `lineitem`.

use std::sync::Arc;

use quire_format::tuple::{TupleColumn, TupleCompression, TupleDictionary, TupleLayout, TupleType};
use quire_tables::row_table::TupleValue;

use super::failure::ExpressionFailure;

pub(crate) const ROWS: usize = 20_000;

/// Quantity, price, discount, tax, date of shipment.
pub(crate) const QUANTITY: usize = 0;
pub(crate) const PRICE: usize = 1;
pub(crate) const DISCOUNT: usize = 2;
pub(crate) const TAX: usize = 3;
pub(crate) const SHIPDATE: usize = 4;

/// Tuples behind each other, and where each ends.
pub(crate) struct TpcdTuples {
    pub(crate) layout: Arc<TupleLayout>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) ends: Vec<usize>,
}

/// Numbers that rows are drawn from, always the same ones.
pub(crate) struct LineitemNumbers(u64);

impl Default for LineitemNumbers {
    fn default() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }
}

impl LineitemNumbers {
    /// The next number, below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> i128 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        i128::from(self.0 % limit)
    }
}

/// How fields are stored in tuples.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TpcdFieldStorage {
    Plain,
    Compressed,
    /// Discount and tax as codes of a dictionary, the others null-suppressed.
    Coded,
}

impl TpcdFieldStorage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Compressed => "compressed",
            Self::Coded => "with codes",
        }
    }

    fn compression(
        self,
        slot: usize,
        column_type: TupleType,
    ) -> Result<TupleCompression, ExpressionFailure> {
        Ok(match self {
            Self::Plain => TupleCompression::None,
            Self::Coded if [DISCOUNT, TAX].contains(&slot) => {
                let values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(TupleValue::Wide);
                let dictionary = TupleDictionary::new(column_type, 4, &values)?;
                TupleCompression::OpenDictionary(Arc::new(dictionary))
            }
            Self::Compressed | Self::Coded => TupleCompression::NullSuppressed,
        })
    }
}

/// The same rows in tuples of one storage or another.
pub(crate) fn tuples(storage: TpcdFieldStorage) -> Result<TpcdTuples, ExpressionFailure> {
    let money = TupleType::Int128 { digits: 15 };
    let date = TupleType::Date { base_days: 8_000 };
    let mut columns = Vec::new();
    for (slot, column_type) in [money, money, money, money, date].into_iter().enumerate() {
        columns.push(TupleColumn {
            column_type,
            nullable: false,
            compression: storage.compression(slot, column_type)?,
        });
    }
    let layout = TupleLayout::new(&columns)?;
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    let mut numbers = LineitemNumbers::default();
    let mut below = |limit| numbers.below(limit);
    for _ in 0..ROWS {
        let row = [
            TupleValue::Wide(100 * (1 + below(50))),
            TupleValue::Wide(90_000 + below(10_000_000)),
            TupleValue::Wide(below(11)),
            TupleValue::Wide(below(9)),
            TupleValue::Integer(8_036 + below(2_526) as i64),
        ];
        layout.encode(&row, &mut bytes)?;
        ends.push(bytes.len());
    }
    Ok(TpcdTuples {
        layout: Arc::new(layout),
        bytes,
        ends,
    })
}

impl TpcdTuples {
    /// Where each begins and ends.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        std::iter::once(0)
            .chain(self.ends.iter().copied())
            .zip(self.ends.iter().copied())
    }
}
