//! Types of the columns, from every record of the file.
//!
//! A sample can be contradicted by a later record, which a load must survive; so the whole file
//! is read once, with the reader's splitter and threads, before the first row is handed out.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::{Field, Schema, SchemaRef};

use super::super::control::{CopyControl, CopyPhase, CopyProgress};
use super::super::error::CopyError;
use super::super::pipeline::{ParallelPipeline, Stage};
use super::chunk::{
    BadRecords, BlockVisitor, ChunkText, ParsedRecords, RecordFailure, RecordFormat, walk,
};
use super::profile::Profile;
use super::splitter::{CsvChunk, Splitter};

/// What inference reads, and how.
pub(super) struct InferPlan {
    pub format: RecordFormat,
    pub thread_count: usize,
    pub bytes_total: Option<u64>,
}

/// Reads everything the splitter gives. All columns are nullable.
pub(super) fn infer_schema(
    splitter: Splitter,
    plan: InferPlan,
    control: &CopyControl,
) -> Result<SchemaRef, CopyError> {
    let InferPlan {
        format,
        thread_count,
        bytes_total,
    } = plan;
    let names = Arc::clone(&format.names);
    let mut profiles = vec![Profile::default(); names.len()];
    let phase = CopyPhase::Inferring;
    let mut progress = CopyProgress {
        phase,
        row_count: 0,
        bytes_done: 0,
        bytes_total,
    };
    let stage = InferStage {
        splitter: Mutex::new(splitter),
        format,
    };
    let mut pipeline = ParallelPipeline::start(stage, thread_count, usize::MAX, control.clone());
    while let Some(part) = pipeline.next()? {
        for (profile, other) in profiles.iter_mut().zip(&part.profiles) {
            profile.merge(other);
        }
        progress.row_count += part.row_count as u64;
        progress.bytes_done += part.byte_count as u64;
        control.report(progress);
    }
    let typed = names.iter().zip(&profiles);
    let fields: Vec<_> = typed
        .map(|(name, profile)| Field::new(name, profile.data_type(), true))
        .collect();
    Ok(Arc::new(Schema::new(fields)))
}

struct InferredPart {
    profiles: Vec<Profile>,
    row_count: usize,
    byte_count: usize,
}

struct InferStage {
    splitter: Mutex<Splitter>,
    format: RecordFormat,
}

impl Stage for InferStage {
    type Task = CsvChunk;
    type Item = InferredPart;

    fn next_task(&self) -> Result<Option<CsvChunk>, CopyError> {
        self.splitter
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next_chunk()
    }

    fn run(
        &self,
        chunk: CsvChunk,
        emit: &mut dyn FnMut(InferredPart, usize) -> bool,
    ) -> Result<(), CopyError> {
        let chunk = ChunkText::new(chunk);
        let profiles = vec![Profile::default(); self.format.names.len()];
        let mut visitor = ProfileVisitor {
            profiles,
            row_count: 0,
            scratch: Vec::new(),
        };
        walk(
            &chunk,
            &self.format,
            &mut BadRecords::default(),
            &mut visitor,
        )?;
        let ProfileVisitor {
            profiles,
            row_count,
            ..
        } = visitor;
        emit(
            InferredPart {
                profiles,
                row_count,
                byte_count: chunk.byte_count(),
            },
            0,
        );
        Ok(())
    }

    fn panicked(&self, detail: String) -> CopyError {
        CopyError::Internal {
            file: Arc::clone(&self.format.file),
            detail,
        }
    }
}

struct ProfileVisitor {
    profiles: Vec<Profile>,
    row_count: usize,
    scratch: Vec<u8>,
}

impl BlockVisitor for ProfileVisitor {
    fn parse(&mut self, block: &ParsedRecords<'_>) -> Vec<RecordFailure> {
        for (column, profile) in self.profiles.iter_mut().enumerate() {
            for row in 0..block.row_count() {
                if !profile.is_open() {
                    break;
                }
                if let Some(text) = block.value(row, column, &mut self.scratch) {
                    profile.observe(text);
                }
            }
        }
        Vec::new()
    }

    fn keep(&mut self, block: &ParsedRecords<'_>, failed_rows: &[usize]) -> Result<(), CopyError> {
        self.row_count += block.row_count() - failed_rows.len();
        Ok(())
    }
}
