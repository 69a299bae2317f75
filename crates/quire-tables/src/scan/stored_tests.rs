//! Tests on stored integers: a mask for each vector, without Arrow arrays.

use std::ops::RangeInclusive;
use std::sync::Arc;

use quire_codec::{CodecScalar, Corrupt, PhysicalType, RowMask};
use quire_vector::{Comparison, KeySet, VectorInteger};

use super::SharedTableScan;
use super::column::{ColumnReader, ValueTest};
use super::integers::StoredInteger;
use super::open_row_group::{OpenRowGroup, corrupt};
use super::selection::Selection;
use crate::error::ScanError;
use crate::predicate::StoredTest;

impl OpenRowGroup {
    /// The selected rows of a vector group that pass all tests.
    pub(super) fn refine_by_tests<'a>(
        &mut self,
        scan: &SharedTableScan,
        tests: impl Iterator<Item = &'a StoredTest>,
        group: usize,
        selection: Selection,
    ) -> Result<Selection, ScanError> {
        let mut left = selection;
        for test in tests {
            if left.len() == 0 {
                break;
            }
            left = self.refine_by_test(scan, test, group, &left)?;
        }
        Ok(left)
    }

    fn refine_by_test(
        &mut self,
        scan: &SharedTableScan,
        test: &StoredTest,
        group: usize,
        selection: &Selection,
    ) -> Result<Selection, ScanError> {
        let row_group = self.index;
        let corrupt = |column, source| corrupt(scan, row_group, column, source);
        match test {
            StoredTest::Range { column, range } => {
                if self.lies_within(*column, group, range) {
                    return Ok(selection.clone());
                }
                let reader = self.column(scan, *column)?;
                let by_value = ValueTest::Range(range.clone());
                let kept = selection.refine_by_masks(|vector| {
                    if let Some(mask) = reader.mask_of_values(group, vector, &by_value)? {
                        return Ok(mask);
                    }
                    reader.mask(group, vector, false, |segment, vector, mask| {
                        segment.select_range(vector, range.clone(), mask)?;
                        Ok(())
                    })
                });
                kept.map_err(|source| corrupt(*column, source))
            }
            StoredTest::Members { column, set } => {
                let reader = self.column(scan, *column)?;
                let by_value = ValueTest::Members(Arc::clone(set));
                let kept = selection.refine_by_masks(|vector| {
                    if let Some(mask) = reader.mask_of_values(group, vector, &by_value)? {
                        return Ok(mask);
                    }
                    let marked = members(reader, group, vector, set)?;
                    reader.present(group, vector, marked)
                });
                kept.map_err(|source| corrupt(*column, source))
            }
            StoredTest::Compared {
                left,
                comparison,
                right,
            } => {
                self.column(scan, *right)?;
                // Two readers of one list: the right one is taken out meanwhile.
                let Some(mut other) = self.columns[*right].take() else {
                    return Ok(selection.clone());
                };
                let kept = self.column(scan, *left).and_then(|reader| {
                    let kept = compared(reader, *comparison, &mut other, group, selection);
                    kept.map_err(|source| corrupt(*left, source))
                });
                self.columns[*right] = Some(other);
                kept
            }
        }
    }
}

impl OpenRowGroup {
    /// Whether the zone of a group says that all its rows are in the range, and none is NULL.
    fn lies_within(&self, column: usize, group: usize, range: &RangeInclusive<i64>) -> bool {
        let (first, last) = (i128::from(*range.start()), i128::from(*range.end()));
        let within = |bound: &Option<CodecScalar>| {
            let bound = bound.as_ref().and_then(CodecScalar::as_integer);
            bound.is_some_and(|bound| (first..=last).contains(&bound))
        };
        let zone = self.row_group.columns[column].group_zones.get(group);
        zone.is_some_and(|zone| zone.null_count == 0 && within(&zone.min) && within(&zone.max))
    }
}

/// The selected rows of a group in which the columns compare as asked.
fn compared(
    left: &mut ColumnReader,
    comparison: Comparison,
    right: &mut ColumnReader,
    group: usize,
    selection: &Selection,
) -> Result<Selection, Corrupt> {
    selection.refine_by_masks(|vector| {
        let marked = match left.physical_type() {
            PhysicalType::Int16 => both::<i16>(left, comparison, right, group, vector)?,
            PhysicalType::Int32 => both::<i32>(left, comparison, right, group, vector)?,
            _ => both::<i64>(left, comparison, right, group, vector)?,
        };
        let marked = left.present(group, vector, marked)?;
        right.present(group, vector, marked)
    })
}

fn both<T: StoredInteger>(
    left: &mut ColumnReader,
    comparison: Comparison,
    right: &mut ColumnReader,
    group: usize,
    vector: usize,
) -> Result<RowMask, Corrupt> {
    let left = left.integers::<T>(group, vector)?;
    let right = right.integers::<T>(group, vector)?;
    Ok(T::compare(left, comparison, right))
}

fn members(
    reader: &mut ColumnReader,
    group: usize,
    vector: usize,
    set: &KeySet,
) -> Result<RowMask, Corrupt> {
    Ok(match reader.physical_type() {
        PhysicalType::Int16 => i16::select_members(reader.integers(group, vector)?, set),
        PhysicalType::Int32 => i32::select_members(reader.integers(group, vector)?, set),
        _ => i64::select_members(reader.integers(group, vector)?, set),
    })
}
