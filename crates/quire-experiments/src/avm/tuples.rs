//! Tuples of five columns of `lineitem`.

use std::sync::Arc;

use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType};
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

/// The same rows in tuples that are null-suppressed, or not.
pub(crate) fn tuples(is_compressed: bool) -> Result<TpcdTuples, ExpressionFailure> {
    let compression = if is_compressed {
        TupleCompression::NullSuppressed
    } else {
        TupleCompression::None
    };
    let money = TupleType::Int128 { digits: 15 };
    let date = TupleType::Date { base_days: 8_000 };
    let columns = [money, money, money, money, date].map(|column_type| TupleColumn {
        column_type,
        nullable: false,
        compression: compression.clone(),
    });
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
