//! Fixed width.
