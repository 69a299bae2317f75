//! The Python package of the Quire database.
#![forbid(unsafe_code)]
