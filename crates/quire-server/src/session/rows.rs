//! Rows as messages.

use std::sync::Arc;

use quire::arrow::array::RecordBatch;
use quire::arrow::datatypes::{Schema, SchemaRef};
use quire::{Reply, Rows};

use super::stop::SessionStop;
use crate::failure::ServerFailure;
use crate::net::Sender;
use crate::types::{PgType, WireCell, WireColumn, WireFormat, write_binary, write_text};
use crate::wire::{Described, MessageBuffer};

/// Bytes of the longest row of an answer, as in PostgreSQL.
const ROW_BYTES_MAX: usize = (1 << 30) - 1;

/// The columns of a result.
#[derive(Debug, Clone)]
pub(super) struct ResultColumns {
    pub(super) schema: SchemaRef,
    types: Vec<PgType>,
}

impl ResultColumns {
    pub(super) fn new(schema: SchemaRef) -> Self {
        let types = schema
            .fields()
            .iter()
            .map(|field| PgType::of_field(field))
            .collect();
        Self { schema, types }
    }

    /// Whether clients would be told the same of both.
    pub(super) fn are_like(&self, schema: &Schema) -> bool {
        let (ours, theirs) = (self.schema.fields(), schema.fields());
        ours.len() == theirs.len()
            && ours.iter().zip(theirs).all(|(ours, theirs)| {
                ours.name() == theirs.name() && ours.data_type() == theirs.data_type()
            })
    }

    pub(super) fn describe(&self, formats: &[WireFormat], output: &mut MessageBuffer) {
        let columns = self.schema.fields().iter().zip(&self.types).enumerate();
        output.row_description(columns.map(|(index, (field, pg_type))| Described {
            name: field.name(),
            pg_type,
            format: WireFormat::at(formats, index),
        }));
    }

    /// A client may name one format, or as many as there are columns.
    pub(super) fn check_formats(&self, formats: &[WireFormat]) -> Result<(), ServerFailure> {
        let (given, columns) = (formats.len(), self.types.len());
        if given > 1 && given != columns {
            let text =
                format!("bind message has {given} result formats but query has {columns} columns");
            return Err(ServerFailure::error("08P01", text));
        }
        Ok(())
    }
}

/// Rows that come.
pub(super) enum PortalSource {
    /// One after the other.
    Values(Box<Reply>),
    /// There are none.
    Nothing,
    Batches(PortalBatches),
}

/// Rows in batches; the one that is being sent, and its next row.
pub(super) struct PortalBatches {
    rows: Rows,
    columns: Vec<WireColumn>,
    row_count: usize,
    next: usize,
}

impl PortalBatches {
    /// The place of the next row in `columns`, if there is one.
    fn next_row(&mut self) -> Result<Option<usize>, SessionStop> {
        while self.next >= self.row_count {
            let Some(batch) = self.rows.next_batch()? else {
                return Ok(None);
            };
            (self.columns, self.row_count) = batch_of(&batch)?;
            self.next = 0;
        }
        self.next += 1;
        Ok(Some(self.next - 1))
    }
}

impl PortalSource {
    pub(super) fn of_rows(rows: Rows) -> Self {
        Self::Batches(PortalBatches {
            rows,
            columns: Vec::new(),
            row_count: 0,
            next: 0,
        })
    }

    /// The rows that are left are for another statement, with all of its time.
    pub(super) fn renew_time_limit(&self) {
        match self {
            Self::Values(reply) => reply.renew_time_limit(),
            Self::Batches(batches) => batches.rows.renew_time_limit(),
            Self::Nothing => {}
        }
    }

    /// Sends at most so many rows; returns how many, fewer only at their end.
    pub(super) fn send(
        &mut self,
        columns: &ResultColumns,
        formats: &[WireFormat],
        most: u64,
        sender: &mut Sender,
    ) -> Result<u64, SessionStop> {
        let mut sent = 0;
        while sent < most {
            let is_sent = match self {
                Self::Nothing => false,
                Self::Values(reply) => match reply.next_row()? {
                    Some(row) => {
                        let cells = row.iter().zip(&columns.types);
                        let cells =
                            cells.map(|(value, pg_type)| WireCell::of_value(value, pg_type));
                        write_row(&mut sender.output, cells, columns, formats)?;
                        true
                    }
                    None => false,
                },
                Self::Batches(batches) => match batches.next_row()? {
                    Some(row) => {
                        let cells = batches.columns.iter().map(|column| column.cell(row));
                        write_row(&mut sender.output, cells, columns, formats)?;
                        true
                    }
                    None => false,
                },
            };
            if !is_sent {
                *self = Self::Nothing;
                break;
            }
            sent += 1;
            sender.flush_if_full()?;
        }
        Ok(sent)
    }

    /// Passes at most so many rows by; returns how many.
    pub(super) fn skip(&mut self, most: u64) -> Result<u64, SessionStop> {
        let mut skipped = 0;
        while skipped < most {
            let is_skipped = match self {
                Self::Nothing => false,
                Self::Values(reply) => reply.next_row()?.is_some(),
                Self::Batches(batches) => batches.next_row()?.is_some(),
            };
            if !is_skipped {
                *self = Self::Nothing;
                break;
            }
            skipped += 1;
        }
        Ok(skipped)
    }
}

/// Columns of a batch, and the number of its rows.
fn batch_of(batch: &RecordBatch) -> Result<(Vec<WireColumn>, usize), ServerFailure> {
    let columns = batch.columns().iter().map(WireColumn::new);
    let columns = columns.collect::<Result<Vec<_>, _>>();
    let columns = columns.map_err(|error| ServerFailure::error("22000", error.to_string()))?;
    Ok((columns, batch.num_rows()))
}

fn write_row<'a>(
    output: &mut MessageBuffer,
    cells: impl Iterator<Item = WireCell<'a>>,
    columns: &ResultColumns,
    formats: &[WireFormat],
) -> Result<(), ServerFailure> {
    let row_start = output.bytes.len();
    let mut is_too_long = false;
    let zone = Arc::clone(&output.zone);
    output.message(b'D', |body| {
        body.extend((columns.types.len() as u16).to_be_bytes());
        for (index, (cell, pg_type)) in cells.zip(&columns.types).enumerate() {
            let start = body.len();
            is_too_long |= start - row_start + cell.long_bytes() > ROW_BYTES_MAX;
            if is_too_long {
                break;
            }
            body.extend((-1_i32).to_be_bytes());
            let is_value = match WireFormat::at(formats, index) {
                WireFormat::Text => write_text(body, &cell, &zone),
                WireFormat::Binary => write_binary(body, &cell, pg_type),
            };
            if is_value {
                let length = (body.len() - start - 4) as i32;
                if let Some(place) = body.get_mut(start..start + 4) {
                    place.copy_from_slice(&length.to_be_bytes());
                }
            }
        }
    });
    if is_too_long {
        output.bytes.truncate(row_start);
        let text = format!("a row of the answer has more than {ROW_BYTES_MAX} bytes");
        return Err(ServerFailure::error("54000", text));
    }
    Ok(())
}

/// The tag of a command that gave so many rows.
pub(super) fn tag_of(command: &str, count: u64) -> String {
    match command {
        "SHOW" | "EXPLAIN" => command.to_owned(),
        _ => format!("{command} {count}"),
    }
}
