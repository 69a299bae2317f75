//! Booleans.
