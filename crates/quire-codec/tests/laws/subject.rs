//! A codec under test, whatever its type, and the laws.

use crate::random::Random;
use quire_codec::{Corrupt, EncodeError, VECTOR_VALUES, vector_count, vector_rows};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// One decoder of `T`, whose equality is bit for bit.
pub trait Decode<T>: Sized {
    fn decode(&mut self, vector: usize, out: &mut Vec<T>) -> Result<usize, Corrupt>;
    fn one(&mut self, row: usize) -> Result<T, Corrupt>;
}

type Encode<'a, T, R> = &'a dyn Fn(&[T]) -> Result<R, EncodeError>;
type Open<'a, D> = &'a dyn Fn(Arc<[u8]>, Range<usize>, usize) -> Result<D, Corrupt>;

/// A codec for columns of `T`.
pub struct Subject<'a, T, D> {
    pub name: &'a str,
    pub encode: Encode<'a, T, Vec<u8>>,
    pub encoded_bytes: Encode<'a, T, usize>,
    pub open: Open<'a, D>,
}

impl<T: Copy + PartialEq + Debug, D: Decode<T>> Subject<'_, T, D> {
    /// All laws on one column.
    pub fn obeys_the_laws(&self, values: &[T], seed: u64) {
        let payload = (self.encode)(values).unwrap();
        assert_eq!(
            (self.encoded_bytes)(values).unwrap(),
            payload.len(),
            "{}: size",
            self.name
        );
        self.gives_back(values, &payload);
        self.survives_damage(&payload, values.len(), seed);
    }

    /// The payload decodes to `values`, also when it lies within a larger image.
    fn gives_back(&self, values: &[T], payload: &[u8]) {
        let image: Arc<[u8]> = [&[0xAA; 3], payload, &[0xBB; 5]].concat().into();
        let mut decoder = (self.open)(image, 3..3 + payload.len(), values.len()).unwrap();
        for vector in (0..vector_count(values.len())).rev() {
            let rows = vector_rows(values.len(), vector);
            let mut out = Vec::new();
            assert_eq!(
                decoder.decode(vector, &mut out).unwrap(),
                rows,
                "{}: rows",
                self.name
            );
            let expected = &values[vector * VECTOR_VALUES..][..rows];
            assert!(out[..rows] == *expected, "{}: vector {vector}", self.name);
        }
        for row in (0..values.len())
            .step_by(values.len() / 97 + 1)
            .chain(values.len().checked_sub(1))
        {
            let one = decoder.one(row).unwrap();
            assert!(
                one == values[row],
                "{}: row {row}: {one:?}, not {:?}",
                self.name,
                values[row]
            );
        }
        assert!(
            decoder
                .decode(vector_count(values.len()), &mut Vec::new())
                .is_err()
        );
        assert!(decoder.one(values.len()).is_err());
    }

    /// Cut, extended and flipped payloads.
    fn survives_damage(&self, payload: &[u8], row_count: usize, seed: u64) {
        let open = |bytes: &[u8]| (self.open)(bytes.into(), 0..bytes.len(), row_count);
        for length in (0..payload.len()).step_by(payload.len() / 50 + 1) {
            assert!(
                open(&payload[..length]).is_err(),
                "{}: cut to {length}",
                self.name
            );
        }
        assert!(
            open(&[payload, &[0]].concat()).is_err(),
            "{}: extended",
            self.name
        );
        assert!(
            (self.open)([].into(), 1..9, row_count).is_err(),
            "{}: outside",
            self.name
        );
        let mut random = Random(seed);
        for _ in 0..40 {
            let mut damaged = payload.to_vec();
            for _ in 0..=random.below(3) {
                // Most of the structure is at the front.
                let reach = if random.below(2) == 0 {
                    40
                } else {
                    damaged.len() as u64
                };
                let at = random.below(reach.clamp(1, damaged.len().max(1) as u64)) as usize;
                if let Some(byte) = damaged.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            self.read_all(&damaged, row_count);
        }
    }

    /// Reads everything and expects nothing but to survive.
    fn read_all(&self, payload: &[u8], row_count: usize) {
        let Ok(mut decoder) = (self.open)(payload.into(), 0..payload.len(), row_count) else {
            return;
        };
        let mut out = Vec::new();
        for vector in 0..vector_count(row_count) {
            if let Ok(rows) = decoder.decode(vector, &mut out) {
                assert_eq!(rows, vector_rows(row_count, vector), "{}: rows", self.name);
            }
        }
        for row in (0..row_count).step_by(row_count / 11 + 1) {
            let _ = decoder.one(row);
        }
    }
}
