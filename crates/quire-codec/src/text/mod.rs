//! The payload of a column of byte strings.
