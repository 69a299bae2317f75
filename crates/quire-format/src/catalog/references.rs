//! How records refer to columns of a table.

use quire_codec::Corrupt;

use crate::wire::{WireItemReader, WireItemWriter};

pub(super) fn read_index(reader: &mut WireItemReader<'_>) -> Result<usize, Corrupt> {
    let index = usize::try_from(reader.varint()?);
    index.map_err(|_| reader.corrupt("index of a column out of range"))
}

pub(super) fn write_indexes(writer: &mut WireItemWriter, indexes: &[usize]) {
    writer.varint(indexes.len() as u64);
    for &index in indexes {
        writer.varint(index as u64);
    }
}
