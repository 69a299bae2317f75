//! The block codecs keep their laws, read and write the documented bytes, and survive wrong ones.
#![allow(clippy::unwrap_used)]

mod corrupt;
mod dictionaries;
mod gains;
mod golden;
mod laws;
mod naive;
mod pages;
mod random;
