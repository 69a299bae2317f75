//! From the bytes of a record to the payload of its page, and back.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use quire_codec::Corrupt;
use quire_codec::block::{
    BlockCodec, BlockCodecId, BlockOptions, MinimumGain, ZstdDictionary, open,
};
use quire_format::data_set::{RecordPointer, SectorRounding};
use quire_store::PageId;

use crate::error::DeviceStorageError;

/// Codecs with a dictionary that one coder keeps: each has tables of up to some MiB.
const WITH_DICTIONARY_MAX: usize = 4;

/// How records are compressed.
#[derive(Clone, Debug)]
pub(crate) struct RecordCodec {
    pub(crate) codec: BlockCodecId,
    pub(crate) level: i32,
    /// Its name is the number of its page.
    pub(crate) dictionary: Option<ZstdDictionary>,
}

impl RecordCodec {
    pub(crate) fn new(codec: BlockCodecId, level: i32) -> Self {
        Self {
            codec,
            level,
            dictionary: None,
        }
    }

    pub(crate) fn with_dictionary(&self, dictionary: Option<ZstdDictionary>) -> Self {
        Self {
            dictionary,
            ..self.clone()
        }
    }

    /// Page of the dictionary.
    pub(crate) fn dictionary_page(&self) -> Option<PageId> {
        let dictionary = self.dictionary.as_ref()?;
        PageId::new(dictionary.id())
    }

    fn open(&self) -> Result<Box<dyn BlockCodec>, DeviceStorageError> {
        let options = BlockOptions {
            level: Some(self.level),
            dictionary: self.dictionary.clone(),
        };
        open(self.codec, &options).map_err(|error| DeviceStorageError::Codec(error.to_string()))
    }
}

/// A record as it is stored.
#[derive(Debug)]
pub(crate) struct EncodedRecord {
    pub(crate) codec: BlockCodecId,
    /// Page of its dictionary.
    pub(crate) dictionary: Option<PageId>,
    /// What the codec made.
    pub(crate) stored_bytes: u32,
    /// That, and zeros to the end of a sector.
    pub(crate) payload: Vec<u8>,
}

/// The codecs of one thread.
#[derive(Default)]
pub(crate) struct RecordCoder {
    codecs: HashMap<(BlockCodecId, i32), Box<dyn BlockCodec>>,
    /// By name of the dictionary and level; the one that was used last is at the end.
    with_dictionary: VecDeque<((u64, i32), Box<dyn BlockCodec>)>,
    output: Vec<u8>,
}

impl RecordCoder {
    /// A codec, made when it is used for the first time.
    pub(crate) fn codec(
        &mut self,
        how: &RecordCodec,
    ) -> Result<&mut dyn BlockCodec, DeviceStorageError> {
        use std::collections::hash_map::Entry;
        let Some(dictionary) = &how.dictionary else {
            let codec = match self.codecs.entry((how.codec, how.level)) {
                Entry::Occupied(found) => found.into_mut(),
                Entry::Vacant(vacant) => vacant.insert(how.open()?),
            };
            return Ok(codec.as_mut());
        };
        let key = (dictionary.id(), how.level);
        let kept = &mut self.with_dictionary;
        let used = match kept.iter().rposition(|(other, _)| *other == key) {
            Some(at) => kept.remove(at),
            None => None,
        };
        let used = match used {
            Some(used) => used,
            None => (key, how.open()?),
        };
        if kept.len() >= WITH_DICTIONARY_MAX {
            kept.pop_front();
        }
        kept.push_back(used);
        let at = kept.len() - 1;
        Ok(kept[at].1.as_mut())
    }

    /// Compresses a record if that saves `gain`, and a sector. The record has 1 byte to 1 MiB.
    pub(crate) fn encode(
        &mut self,
        raw: &[u8],
        how: &RecordCodec,
        gain: MinimumGain,
        sectors: SectorRounding,
    ) -> Result<EncodedRecord, DeviceStorageError> {
        let mut compressed = None;
        if how.codec != BlockCodecId::None {
            let limit = gain.limit(raw.len());
            let mut output = std::mem::take(&mut self.output);
            output.resize(limit.max(output.len()), 0);
            compressed = self
                .codec(how)?
                .compress(raw, &mut output, limit)
                .filter(|bytes| sectors.rounded(*bytes) < sectors.rounded(raw.len()))
                .map(|bytes| EncodedRecord {
                    codec: how.codec,
                    dictionary: how.dictionary_page(),
                    ..padded(&output[..bytes], sectors)
                });
            self.output = output;
        }
        Ok(compressed.unwrap_or_else(|| padded(raw, sectors)))
    }

    /// The record of a payload; `dictionary` is the one that `pointer` names.
    pub(crate) fn decode(
        &mut self,
        pointer: &RecordPointer,
        dictionary: Option<ZstdDictionary>,
        payload: &[u8],
    ) -> Result<Result<Arc<[u8]>, Corrupt>, DeviceStorageError> {
        let stored = payload.get(..pointer.stored_bytes as usize);
        let Some(stored) = stored else {
            let what = format!(
                "a record takes {} bytes, and its page has {}",
                pointer.stored_bytes,
                payload.len()
            );
            return Ok(Err(Corrupt::new(what, payload.len())));
        };
        if pointer.codec == BlockCodecId::None {
            return Ok(Ok(stored.into()));
        }
        // Decompressed in place: the cache shares it without another copy.
        let mut raw: Arc<[u8]> = std::iter::repeat_n(0, pointer.raw_bytes as usize).collect();
        let how = RecordCodec {
            dictionary,
            ..RecordCodec::new(pointer.codec, pointer.codec.default_level())
        };
        let codec = self.codec(&how)?;
        let decompressed = match Arc::get_mut(&mut raw) {
            Some(room) => codec.decompress(stored, room),
            None => Err(Corrupt::new("memory of a record is shared", 0)),
        };
        Ok(decompressed.map(|()| raw))
    }
}

/// Bytes as they are.
fn padded(bytes: &[u8], sectors: SectorRounding) -> EncodedRecord {
    let mut payload = Vec::with_capacity(sectors.rounded(bytes.len()));
    payload.extend_from_slice(bytes);
    payload.resize(sectors.rounded(bytes.len()), 0);
    EncodedRecord {
        codec: BlockCodecId::None,
        dictionary: None,
        stored_bytes: bytes.len() as u32,
        payload,
    }
}

/// Coders that are not in use.
#[derive(Default)]
pub(crate) struct CoderPool {
    idle: Mutex<Vec<RecordCoder>>,
}

impl CoderPool {
    /// Lends a coder. There are as many as have ever been in use at once.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut RecordCoder) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut coder = idle().pop().unwrap_or_default();
        let result = work(&mut coder);
        idle().push(coder);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quire_store::PageId;

    fn decoded(encoded: &EncodedRecord, raw_bytes: usize) -> Result<Arc<[u8]>, Corrupt> {
        let pointer = RecordPointer {
            page: PageId::new(16).unwrap(),
            codec: encoded.codec,
            raw_bytes: raw_bytes as u32,
            stored_bytes: encoded.stored_bytes,
            dictionary: encoded.dictionary,
        };
        let mut coder = RecordCoder::default();
        coder.decode(&pointer, None, &encoded.payload).unwrap()
    }

    #[test]
    fn a_record_is_compressed_if_that_saves_enough_and_a_sector() {
        // 4,096 bytes of which ZLE keeps 3,584 and their tokens: more than seven eighths.
        let mut raw: Vec<u8> = (0..4096).map(|number| (number % 251) as u8 + 1).collect();
        raw[3584..].fill(0);
        let mut coder = RecordCoder::default();
        let zle = &RecordCodec::new(BlockCodecId::Zle, 1);
        let tight = SectorRounding::Tight;
        let whole = coder.encode(&raw, zle, MinimumGain::EIGHTH, tight).unwrap();
        assert_eq!(
            (whole.codec, whole.payload.len()),
            (BlockCodecId::None, 4096)
        );
        let any = coder.encode(&raw, zle, MinimumGain::ANY, tight).unwrap();
        assert_eq!(any.codec, BlockCodecId::Zle);
        assert!((3585..4096).contains(&any.payload.len()));
        // What is saved is less than a sector of 4,096, and more than one of 512 is not.
        for sectors in [SectorRounding::Bytes512, SectorRounding::Bytes4096] {
            let whole = coder.encode(&raw, zle, MinimumGain::ANY, sectors).unwrap();
            assert_eq!(
                (whole.codec, whole.payload.len()),
                (BlockCodecId::None, 4096)
            );
        }
        raw[3000..].fill(0);
        let less = coder
            .encode(&raw, zle, MinimumGain::ANY, SectorRounding::Bytes512)
            .unwrap();
        assert_eq!((less.codec, less.payload.len()), (BlockCodecId::Zle, 3072));
        for encoded in [&any, &less] {
            let again = decoded(encoded, 4096).unwrap();
            assert!(again[..3000] == raw[..3000] && again.len() == 4096);
        }
    }

    #[test]
    fn a_record_of_any_codec_comes_back_and_damage_is_an_error() {
        let raw = b"a record is much like another ".repeat(400);
        for codec in BlockCodecId::ALL {
            let mut coder = RecordCoder::default();
            let how = RecordCodec::new(codec, codec.default_level());
            let encoded = coder.encode(&raw, &how, MinimumGain::EIGHTH, SectorRounding::Bytes512);
            let mut encoded = encoded.unwrap();
            assert_eq!(encoded.payload.len() % 512, 0);
            assert_eq!(decoded(&encoded, raw.len()).unwrap()[..], raw, "{codec}");
            if encoded.codec != BlockCodecId::None {
                assert!(decoded(&encoded, raw.len() + 1).is_err(), "{codec}");
            }
            encoded.payload.truncate(encoded.stored_bytes as usize - 1);
            assert!(decoded(&encoded, raw.len()).is_err(), "{codec}");
        }
    }
}
