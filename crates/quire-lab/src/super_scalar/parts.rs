//! The sections of a segment.

use super::dictionary::SuperScalarDictionary;
use super::layout::{Sections, SuperScalarHeader};
use super::word::Integer;
use std::sync::Arc;

/// The sections of a segment whose header was checked. What they contain is not trusted.
#[derive(Clone, Debug)]
pub(super) struct SegmentSections<'a, T: Integer> {
    pub(super) header: SuperScalarHeader,
    pub(super) sections: Sections,
    pub(super) entries: &'a [u8],
    pub(super) totals: &'a [u8],
    pub(super) codes: &'a [u8],
    pub(super) exceptions: &'a [u8],
    pub(super) dictionary: Option<Arc<SuperScalarDictionary<T>>>,
}
