//! Records: what their bytes become, and the decompressed ones that are kept.

mod cache;
mod coder;
mod measure;

pub(crate) use cache::RecordCache;
pub(crate) use coder::{CoderPool, EncodedRecord, RecordCoder};
pub(crate) use measure::{SAMPLED_RECORDS, measured_codec, should_measure};
