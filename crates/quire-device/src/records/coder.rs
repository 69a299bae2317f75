//! From the bytes of a record to the payload of its page, and back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use quire_codec::Corrupt;
use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, MinimumGain, open};
use quire_format::data_set::{RecordPointer, SectorRounding};

use crate::error::DeviceStorageError;

/// A record as it is stored.
#[derive(Debug)]
pub(crate) struct EncodedRecord {
    pub(crate) codec: BlockCodecId,
    /// What the codec made.
    pub(crate) stored_bytes: u32,
    /// That, and zeros to the end of a sector.
    pub(crate) payload: Vec<u8>,
}

/// The codecs of one thread.
#[derive(Default)]
pub(crate) struct RecordCoder {
    codecs: HashMap<(BlockCodecId, i32), Box<dyn BlockCodec>>,
    room: Vec<u8>,
}

impl RecordCoder {
    /// A codec, made when it is used for the first time.
    pub(crate) fn codec(
        &mut self,
        codec: BlockCodecId,
        level: i32,
    ) -> Result<&mut Box<dyn BlockCodec>, DeviceStorageError> {
        use std::collections::hash_map::Entry;
        Ok(match self.codecs.entry((codec, level)) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(vacant) => {
                let options = BlockOptions {
                    level: Some(level),
                    dictionary: None,
                };
                let opened = open(codec, &options);
                vacant.insert(opened.map_err(|error| DeviceStorageError::Codec(error.to_string()))?)
            }
        })
    }

    /// Compresses a record if that saves `gain`, and a sector. The record has 1 byte to 1 MiB.
    pub(crate) fn encode(
        &mut self,
        raw: &[u8],
        (codec, level): (BlockCodecId, i32),
        gain: MinimumGain,
        sectors: SectorRounding,
    ) -> Result<EncodedRecord, DeviceStorageError> {
        let mut compressed = None;
        if codec != BlockCodecId::None {
            let limit = gain.limit(raw.len());
            let mut room = std::mem::take(&mut self.room);
            room.resize(limit.max(room.len()), 0);
            compressed = self
                .codec(codec, level)?
                .compress(raw, &mut room, limit)
                .filter(|bytes| sectors.rounded(*bytes) < sectors.rounded(raw.len()))
                .map(|bytes| padded(&room[..bytes], codec, sectors));
            self.room = room;
        }
        Ok(compressed.unwrap_or_else(|| padded(raw, BlockCodecId::None, sectors)))
    }

    /// The record of a payload.
    pub(crate) fn decode(
        &mut self,
        pointer: &RecordPointer,
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
        let codec = self.codec(pointer.codec, pointer.codec.default_level())?;
        let decompressed = match Arc::get_mut(&mut raw) {
            Some(room) => codec.decompress(stored, room),
            None => Err(Corrupt::new("memory of a record is shared", 0)),
        };
        Ok(decompressed.map(|()| raw))
    }
}

fn padded(bytes: &[u8], codec: BlockCodecId, sectors: SectorRounding) -> EncodedRecord {
    let mut payload = Vec::with_capacity(sectors.rounded(bytes.len()));
    payload.extend_from_slice(bytes);
    payload.resize(sectors.rounded(bytes.len()), 0);
    EncodedRecord {
        codec,
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
        };
        let mut coder = RecordCoder::default();
        coder.decode(&pointer, &encoded.payload).unwrap()
    }

    #[test]
    fn a_record_is_compressed_if_that_saves_enough_and_a_sector() {
        // 4,096 bytes of which ZLE keeps 3,584 and their tokens: more than seven eighths.
        let mut raw: Vec<u8> = (0..4096).map(|number| (number % 251) as u8 + 1).collect();
        raw[3584..].fill(0);
        let mut coder = RecordCoder::default();
        let zle = (BlockCodecId::Zle, 1);
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
            let how = (codec, codec.default_level());
            let encoded = coder.encode(&raw, how, MinimumGain::EIGHTH, SectorRounding::Bytes512);
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
