//! Records: what their bytes become, and the decompressed ones that are kept.

mod cache;
mod coder;
mod dictionaries;
mod learn;
mod measure;

pub(crate) use cache::RecordCache;
pub(crate) use coder::{CoderPool, EncodedRecord, RecordCodec, RecordCoder};
pub(crate) use dictionaries::DictionaryCache;
pub(crate) use learn::{RecordSample, learnt_dictionary, pays, should_learn, with_dictionary};
pub(crate) use measure::{SampledCodec, measured_codec, should_measure};
