//! The sections of a segment.

use super::dictionary::Dictionary;
use super::layout::{Header, Sections};
use super::word::Integer;
use std::sync::Arc;

/// The sections of a segment whose header was checked. What they contain is not trusted.
#[derive(Clone, Debug)]
pub(super) struct Parts<'a, T: Integer> {
    pub(super) header: Header,
    pub(super) sections: Sections,
    pub(super) entries: &'a [u8],
    pub(super) totals: &'a [u8],
    pub(super) codes: &'a [u8],
    pub(super) exceptions: &'a [u8],
    pub(super) dictionary: Option<Arc<Dictionary<T>>>,
}
