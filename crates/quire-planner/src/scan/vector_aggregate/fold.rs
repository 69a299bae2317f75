//! Aggregation of one partition.

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
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
    Coded(Box<CodedFold>),
    Window(Box<WindowFold>),
}

impl VectorFold {
    pub(super) fn new(aggregation: VectorAggregation) -> Self {
        let VectorAggregation { keys, aggregates } = aggregation;
        Self {
            registers: aggregates.program.registers(),
            groups: match keys {
                VectorKeys::Coded(keys) => {
                    VectorGroups::Coded(Box::new(CodedFold::new(keys, &aggregates)))
                }
                VectorKeys::Window(key) => {
                    VectorGroups::Window(Box::new(WindowFold::new(key, &aggregates)))
                }
            },
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
            VectorGroups::Coded(fold) => fold.take(group, aggregates, registers),
            VectorGroups::Window(fold) => fold.take(group, aggregates, registers),
        }
    }

    /// The partial states that are known before the end.
    pub(super) fn take_states(&mut self, shape: &StateShape) -> Result<Vec<RecordBatch>> {
        match &mut self.groups {
            VectorGroups::Coded(_) => Ok(Vec::new()),
            VectorGroups::Window(fold) => fold.take_states(&self.aggregates, shape),
        }
    }

    /// All other partial states.
    pub(super) fn finish(self, shape: &StateShape) -> Result<Vec<RecordBatch>> {
        match self.groups {
            VectorGroups::Coded(fold) => fold.finish(&self.aggregates, shape),
            VectorGroups::Window(fold) => fold.finish(&self.aggregates, shape),
        }
    }
}
