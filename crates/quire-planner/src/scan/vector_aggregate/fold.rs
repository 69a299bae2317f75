//! Aggregation of one partition.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::memory_pool::MemoryPool;
use quire_tables::{ScanError, SelectedGroup};

use super::aggregates::VectorAggregates;
use super::coded::CodedFold;
use super::keys::VectorKeys;
use super::program::VectorRegisters;
use super::states::StateShape;
use super::window::WindowFold;

/// What is computed.
#[derive(Clone, Debug)]
pub(super) struct VectorAggregation {
    pub(super) keys: VectorKeys,
    pub(super) aggregates: VectorAggregates,
}

/// Aggregates vector groups.
pub(super) struct VectorFold {
    aggregates: VectorAggregates,
    registers: VectorRegisters,
    groups: VectorGroups,
}

enum VectorGroups {
    /// There is no memory for them: nothing is taken in.
    None,
    Coded(Box<CodedFold>),
    Window(Box<WindowFold>),
}

impl VectorFold {
    pub(super) fn new(aggregation: VectorAggregation, pool: &Arc<dyn MemoryPool>) -> Self {
        let VectorAggregation { keys, aggregates } = aggregation;
        let groups = match keys {
            VectorKeys::Coded(keys) => {
                VectorGroups::Coded(Box::new(CodedFold::new(keys, &aggregates, pool)))
            }
            VectorKeys::Window(key) => match WindowFold::new(key, &aggregates, pool) {
                Some(fold) => VectorGroups::Window(Box::new(fold)),
                None => VectorGroups::None,
            },
        };
        Self {
            registers: aggregates.program.registers(),
            groups,
            aggregates,
        }
    }

    /// Takes in the selected rows of a vector group; says whether it could.
    pub(super) fn take(
        &mut self,
        group: &mut SelectedGroup<'_>,
    ) -> std::result::Result<bool, ScanError> {
        let (aggregates, registers) = (&self.aggregates, &mut self.registers);
        match &mut self.groups {
            VectorGroups::None => Ok(false),
            VectorGroups::Coded(fold) => fold.take(group, aggregates, registers),
            VectorGroups::Window(fold) => fold.take(group, aggregates, registers),
        }
    }

    /// The partial states that are known before the end.
    pub(super) fn take_states(&mut self, shape: &StateShape) -> Result<Vec<RecordBatch>> {
        match &mut self.groups {
            VectorGroups::None | VectorGroups::Coded(_) => Ok(Vec::new()),
            VectorGroups::Window(fold) => fold.take_states(&self.aggregates, shape),
        }
    }

    /// All other partial states.
    pub(super) fn finish(self, shape: &StateShape) -> Result<Vec<RecordBatch>> {
        match self.groups {
            VectorGroups::None => Ok(Vec::new()),
            VectorGroups::Coded(fold) => fold.finish(&self.aggregates, shape),
            VectorGroups::Window(fold) => fold.finish(&self.aggregates, shape),
        }
    }
}
