//! Rows that are kept for a while: as tuples of a layout of their own, so that attributes read them like any others (paper 1 §4.2).

use std::sync::Arc;

use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType};

use crate::avm::{Register, RegisterSet, Trap, Tuple, TuplePlace, TupleSource};
use crate::plan::ValueKind;

/// How the values of a kind are held in a temporary.
pub(super) fn tuple_type(kind: ValueKind) -> TupleType {
    match kind {
        ValueKind::Boolean => TupleType::Bool,
        ValueKind::Integer => TupleType::Int64,
        ValueKind::Decimal => TupleType::Int128 { digits: 38 },
        ValueKind::Real => TupleType::Float32,
        ValueKind::Double => TupleType::Float64,
        ValueKind::Bytes => TupleType::Bytes,
    }
}

/// Rows in memory, and the tuple register that points to them.
#[derive(Debug)]
pub(super) struct Temporary {
    layout: Arc<TupleLayout>,
    columns: Vec<Register>,
    register: Tuple,
    buffer: u16,
}

impl Temporary {
    /// For the values of `columns`, which attributes of `register` read by their positions. `is_compressed` says whether they are
    /// null-suppressed: smaller, and dearer to write.
    pub(super) fn new(
        columns: &[Register],
        register: Tuple,
        is_compressed: bool,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let compression = if is_compressed {
            TupleCompression::NullSuppressed
        } else {
            TupleCompression::None
        };
        let column = |column: &Register| TupleColumn {
            column_type: tuple_type(column.kind()),
            nullable: true,
            compression: compression.clone(),
        };
        let layout: Vec<TupleColumn> = columns.iter().map(column).collect();
        let layout = Arc::new(TupleLayout::new(&layout)?);
        registers.set_source(register, TupleSource::Temporary(Arc::clone(&layout)));
        Ok(Self {
            layout,
            columns: columns.to_vec(),
            register,
            buffer: registers.add_buffer(),
        })
    }

    /// Keeps the row that the registers have; where it is.
    pub(super) fn push(&self, registers: &mut RegisterSet) -> Result<TuplePlace, Trap> {
        let mut bytes = registers.take_buffer(self.buffer);
        let start = bytes.len();
        let values: Vec<_> = self
            .columns
            .iter()
            .map(|column| registers.tuple_value(*column))
            .collect();
        let encoded = self.layout.encode(&values, &mut bytes);
        let end = bytes.len();
        registers.put_buffer(self.buffer, bytes);
        encoded?;
        let place = |at: usize| u32::try_from(at).map_err(|_| Trap::too_large());
        Ok(TuplePlace {
            buffer: self.buffer,
            start: place(start)?,
            key_bytes: 0,
            tuple_bytes: place(end - start)?,
        })
    }

    /// Keeps a tuple of the layout.
    pub(super) fn push_tuple(
        &self,
        tuple: &[u8],
        registers: &mut RegisterSet,
    ) -> Result<TuplePlace, Trap> {
        let place = |at: usize| u32::try_from(at).map_err(|_| Trap::too_large());
        let mut bytes = registers.take_buffer(self.buffer);
        let start = bytes.len();
        bytes.extend_from_slice(tuple);
        registers.put_buffer(self.buffer, bytes);
        Ok(TuplePlace {
            buffer: self.buffer,
            start: place(start)?,
            key_bytes: 0,
            tuple_bytes: place(tuple.len())?,
        })
    }

    /// The row that the registers have as a tuple; no other row is kept.
    pub(super) fn encoded<'r>(&self, registers: &'r mut RegisterSet) -> Result<&'r [u8], Trap> {
        self.clear(registers);
        self.push(registers)?;
        Ok(registers.buffer(self.buffer))
    }

    /// Keeps one tuple of the layout, and no other row; the register points to it.
    pub(super) fn hold(&self, tuple: &[u8], registers: &mut RegisterSet) -> Result<(), Trap> {
        self.clear(registers);
        let place = self.push_tuple(tuple, registers)?;
        self.point_to(place, registers);
        Ok(())
    }

    /// Keeps no rows.
    pub(super) fn clear(&self, registers: &mut RegisterSet) {
        if let Some(bytes) = registers.buffer_mut(self.buffer) {
            bytes.clear();
        }
    }

    /// Keeps these tuples, and no other rows.
    pub(super) fn replace(&self, tuples: Vec<u8>, registers: &mut RegisterSet) {
        registers.put_buffer(self.buffer, tuples);
    }

    /// Bytes of all rows.
    pub(super) fn len_bytes(&self, registers: &RegisterSet) -> usize {
        registers.buffer(self.buffer).len()
    }

    /// The register that points to the rows.
    pub(super) fn register(&self) -> Tuple {
        self.register
    }

    /// Lets the register point to a row, or to one whose columns are all NULL.
    pub(super) fn point_to(&self, place: TuplePlace, registers: &mut RegisterSet) {
        registers.set_tuple(self.register, place);
    }
}
