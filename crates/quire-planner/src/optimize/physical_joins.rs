//! Joins of a physical plan, whichever operator does them.

use datafusion::common::JoinType;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec,
};

use super::hybrid_joins::HybridHashJoinExec;
use super::vector_joins::VectorHashJoinExec;

/// A join, by its operator.
pub(super) enum PhysicalJoin<'p> {
    Cross,
    Hash(&'p HashJoinExec),
    Hybrid(&'p HybridHashJoinExec),
    NestedLoop(&'p NestedLoopJoinExec),
    SortMerge(&'p SortMergeJoinExec),
    Vector(&'p VectorHashJoinExec),
}

impl<'p> PhysicalJoin<'p> {
    /// Nothing if the operator is no join.
    pub(super) fn of(node: &'p dyn ExecutionPlan) -> Option<Self> {
        if let Some(join) = node.downcast_ref::<HashJoinExec>() {
            return Some(Self::Hash(join));
        }
        if let Some(join) = node.downcast_ref::<HybridHashJoinExec>() {
            return Some(Self::Hybrid(join));
        }
        if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
            return Some(Self::NestedLoop(join));
        }
        if let Some(join) = node.downcast_ref::<SortMergeJoinExec>() {
            return Some(Self::SortMerge(join));
        }
        if let Some(join) = node.downcast_ref::<VectorHashJoinExec>() {
            return Some(Self::Vector(join));
        }
        node.is::<CrossJoinExec>().then_some(Self::Cross)
    }

    /// Which rows without a partner it gives.
    pub(super) fn kind(&self) -> JoinType {
        match self {
            Self::Cross => JoinType::Inner,
            Self::Hash(join) => *join.join_type(),
            Self::Hybrid(hybrid) => *hybrid.join().join_type(),
            Self::NestedLoop(join) => *join.join_type(),
            Self::SortMerge(join) => join.join_type(),
            Self::Vector(join) => *join.join().join_type(),
        }
    }
}
