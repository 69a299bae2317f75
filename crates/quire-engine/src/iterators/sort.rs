//! Rows in order, all of them or the first few.

use quire_format::key::{KeyColumn, KeyLayout};

use super::RegisterIterator;
use super::temporary::{Temporary, tuple_type};
use crate::avm::{Register, RegisterSet, Trap, Tuple, TuplePlace};

/// One of the values that rows are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    pub register: Register,
    pub is_descending: bool,
    pub nulls_first: bool,
}

/// A row that is kept: where the bytes of its key are, whose order is that of the rows, and where it is.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// The first bytes of the key, as a number.
    prefix: u64,
    start: u32,
    bytes: u32,
    place: TuplePlace,
}

/// The rows of its input in order. Equal ones come in no particular order.
pub struct Sort<I> {
    input: I,
    keys: Vec<Register>,
    layout: KeyLayout,
    temporary: Temporary,
    /// As many rows as are wanted; the others are forgotten now and then.
    most_rows: Option<usize>,
    key_bytes: Vec<u8>,
    rows: Vec<Kept>,
    next: Option<usize>,
}

impl<I: RegisterIterator> Sort<I> {
    /// Lets `register` point to the rows of `input` in the order of `keys`; its attributes are what `columns` had. With `most_rows` only the
    /// first so many come.
    ///
    /// # Errors
    /// Columns of which no tuple can be made.
    pub fn new(
        input: I,
        keys: &[SortKey],
        (columns, register): (&[Register], Tuple),
        most_rows: Option<usize>,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let column = |key: &SortKey| KeyColumn {
            column_type: tuple_type(key.register.kind()),
            nullable: true,
            descending: key.is_descending,
            nulls_first: key.nulls_first,
        };
        let layout: Vec<KeyColumn> = keys.iter().map(column).collect();
        Ok(Self {
            input,
            keys: keys.iter().map(|key| key.register).collect(),
            layout: KeyLayout::new(&layout),
            temporary: Temporary::new(columns, register, false, registers)?,
            most_rows,
            key_bytes: Vec::new(),
            rows: Vec::new(),
            next: None,
        })
    }

    fn read_input(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        // So many rows more than are wanted are kept before some are forgotten: each row is compared a few times only.
        let limit = self
            .most_rows
            .map(|most| most.saturating_mul(2).saturating_add(1024));
        while self.input.next(registers)? {
            self.keep(registers)?;
            if let (Some(most), Some(limit)) = (self.most_rows, limit)
                && self.rows.len() >= limit
            {
                let (rows, keys) = (&mut self.rows, &self.key_bytes);
                if most == 0 {
                    rows.clear();
                } else {
                    rows.select_nth_unstable_by(most - 1, |left, right| compare(keys, left, right));
                    rows.truncate(most);
                }
            }
        }
        let (rows, keys) = (&mut self.rows, &self.key_bytes);
        rows.sort_unstable_by(|left, right| compare(keys, left, right));
        rows.truncate(self.most_rows.unwrap_or(usize::MAX));
        Ok(())
    }

    fn keep(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        let place = |at: usize| u32::try_from(at).map_err(|_| Trap::too_large());
        let start = self.key_bytes.len();
        let values: Vec<_> = self
            .keys
            .iter()
            .map(|key| registers.tuple_value(*key))
            .collect();
        self.layout.encode(&values, &mut self.key_bytes)?;
        let key = self.key_bytes.get(start..).unwrap_or_default();
        let mut first = [0; 8];
        for (to, from) in first.iter_mut().zip(key) {
            *to = *from;
        }
        let bytes = place(key.len())?;
        self.rows.push(Kept {
            prefix: u64::from_be_bytes(first),
            start: place(start)?,
            bytes,
            place: self.temporary.push(registers)?,
        });
        Ok(())
    }
}

fn compare(keys: &[u8], left: &Kept, right: &Kept) -> std::cmp::Ordering {
    let key = |kept: &Kept| {
        let start = kept.start as usize;
        keys.get(start..start + kept.bytes as usize)
            .unwrap_or_default()
    };
    left.prefix
        .cmp(&right.prefix)
        .then_with(|| key(left).cmp(key(right)))
}

impl<I: RegisterIterator> RegisterIterator for Sort<I> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        let next = match self.next {
            Some(next) => next,
            None => {
                self.read_input(registers)?;
                0
            }
        };
        self.next = Some(next.saturating_add(1));
        let Some(row) = self.rows.get(next) else {
            return Ok(false);
        };
        self.temporary.point_to(row.place, registers);
        Ok(true)
    }
}
