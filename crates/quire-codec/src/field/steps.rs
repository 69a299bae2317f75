//! How a value is found, told as data: for code that is made for one layout.

use super::{FieldLayout, TupleField};

/// What finds the value of one field: what [`FieldLayout::value`] does, as data.
///
/// For each length byte `i` up to the field's own, `tables[i]` is looked up at that byte. An entry with its highest bit set says that the byte has no
/// meaning. Otherwise byte `k` of an entry, the lowest first, is where field `k` of the length byte ends, and its highest byte is the total. So the
/// value starts at the totals of the bytes before, plus the end of the field before it in its own byte (0 for the first), and ends at
/// the totals plus its own end. A value of no bytes is NULL.
#[derive(Clone, Debug)]
pub struct FieldSteps {
    /// Type and whether it may be NULL.
    pub field: TupleField,
    /// One table for each length byte up to the field's own, which is the last.
    pub tables: Vec<Box<[u64; 256]>>,
    /// Number of the field among those of its length byte, 0 to 7.
    pub within: u8,
}

impl FieldLayout {
    /// What finds the value of field `field`; none if there is no such field.
    pub fn steps(&self, field: usize) -> Option<FieldSteps> {
        let slot = self.slots.get(field)?;
        let tables = self.tables.iter().take(slot.byte + 1);
        Some(FieldSteps {
            field: slot.field,
            tables: tables
                .map(|table| Box::new(table.map(|entry| entry.word())))
                .collect(),
            within: slot.within,
        })
    }
}
