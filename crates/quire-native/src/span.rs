//! Where a tuple is, as machine code finds it.

/// Where a tuple is.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Span {
    pub(crate) start: *const u8,
    pub(crate) bytes: u64,
}

/// Bytes of a span.
pub(crate) const SPAN_BYTES: usize = size_of::<Span>();
