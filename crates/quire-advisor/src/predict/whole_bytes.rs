//! What the whole takes in its file.

/// Bytes of the whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WholeBytes {
    /// Row pages, or segments, and their dictionaries.
    pub(super) data: f64,
    /// All else.
    pub(super) metadata: f64,
}
