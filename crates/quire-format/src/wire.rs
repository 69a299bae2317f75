//! The small vocabulary of the metadata pages: variable-length integers and length-prefixed bytes.
//!
//! | item | bytes |
//! |---|---|
//! | varint | unsigned LEB128: 7 bits a byte, low bits first, top bit set on all but the last byte; at most 19 bytes (128 bits) |
//! | signed | zigzag (0, -1, 1, -2 … become 0, 1, 2, 3 …) as a varint |
//! | bytes | length as varint, then the bytes |
//! | text | bytes that are UTF-8 |
//! | list | count as varint, then the items |
//!
//! The reader trusts nothing: it never reads past its input, and a count is accepted only when the
//! bytes that remain could hold that many items, so no allocation exceeds a small multiple of the
//! input's length.

use std::borrow::Cow;

use quire_codec::Corrupt;

/// Appends items to a growing page.
#[derive(Debug, Default)]
pub(crate) struct WireItemWriter {
    bytes: Vec<u8>,
}

impl WireItemWriter {
    pub(crate) fn new(version: u8) -> Self {
        WireItemWriter {
            bytes: vec![version],
        }
    }

    /// The same in the memory of a vector whose content nobody needs.
    pub(crate) fn in_memory_of(mut bytes: Vec<u8>, version: u8) -> Self {
        bytes.clear();
        bytes.push(version);
        WireItemWriter { bytes }
    }

    /// One that writes behind what `bytes` has.
    pub(crate) fn behind(bytes: Vec<u8>) -> Self {
        WireItemWriter { bytes }
    }

    pub(crate) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.byte(u8::from(value));
    }

    pub(crate) fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub(crate) fn varint_wide(&mut self, mut value: u128) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub(crate) fn signed(&mut self, value: i128) {
        self.varint_wide(((value << 1) ^ (value >> 127)) as u128);
    }

    pub(crate) fn raw(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) {
        self.varint(value.len() as u64);
        self.raw(value);
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Takes items from a page, in order.
#[derive(Debug)]
pub(crate) struct WireItemReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> WireItemReader<'a> {
    /// Starts behind the version byte, which must be `version`.
    pub(crate) fn new(bytes: &'a [u8], version: u8, what: &str) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader { bytes, position: 0 };
        let found = reader.byte()?;
        if found != version {
            return Err(reader.corrupt(format!(
                "{what} has layout version {found}, this program reads version {version}"
            )));
        }
        Ok(reader)
    }

    /// Starts at the first byte; the version is stored around `bytes`.
    pub(crate) fn unversioned(bytes: &'a [u8]) -> Self {
        WireItemReader { bytes, position: 0 }
    }

    /// Bytes taken so far.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.position == self.bytes.len()
    }

    /// An error at the current position.
    pub(crate) fn corrupt(&self, what: impl Into<Cow<'static, str>>) -> Corrupt {
        Corrupt::new(what, self.position)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Corrupt> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn bool(&mut self) -> Result<bool, Corrupt> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.corrupt(format!("{other} where 0 or 1 should be"))),
        }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Corrupt> {
        let found = self
            .bytes
            .get(self.position..)
            .and_then(|rest| rest.first_chunk::<N>());
        let array = *found.ok_or_else(|| self.corrupt("metadata ends in the middle of an item"))?;
        self.position += N;
        Ok(array)
    }

    pub(crate) fn varint_wide(&mut self) -> Result<u128, Corrupt> {
        let mut value = 0_u128;
        for shift in (0..=126).step_by(7) {
            let byte = self.byte()?;
            let bits = u128::from(byte & 0x7f);
            if shift == 126 && bits > 3 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.corrupt("variable-length integer of more than 128 bits"))
    }

    pub(crate) fn varint(&mut self) -> Result<u64, Corrupt> {
        let value = self.varint_wide()?;
        u64::try_from(value).map_err(|_| self.corrupt("integer of more than 64 bits"))
    }

    pub(crate) fn varint_u32(&mut self) -> Result<u32, Corrupt> {
        let value = self.varint_wide()?;
        u32::try_from(value).map_err(|_| self.corrupt("integer of more than 32 bits"))
    }

    pub(crate) fn signed(&mut self) -> Result<i128, Corrupt> {
        let value = self.varint_wide()?;
        Ok((value >> 1) as i128 ^ -((value & 1) as i128))
    }

    pub(crate) fn signed_i64(&mut self) -> Result<i64, Corrupt> {
        let value = self.signed()?;
        i64::try_from(value).map_err(|_| self.corrupt("integer of more than 64 bits"))
    }

    /// Number of items that follow, each of at least `item_bytes_min` bytes (not 0).
    pub(crate) fn count(&mut self, item_bytes_min: usize) -> Result<usize, Corrupt> {
        let count = self.varint()?;
        let most = (self.bytes.len() - self.position) / item_bytes_min;
        match usize::try_from(count) {
            Ok(count) if count <= most => Ok(count),
            _ => Err(self.corrupt(format!("count of {count} items, where {most} could follow"))),
        }
    }

    /// Reads a count and that many items of at least `item_bytes_min` bytes.
    pub(crate) fn list<T>(
        &mut self,
        item_bytes_min: usize,
        item: impl Fn(&mut Self) -> Result<T, Corrupt>,
    ) -> Result<Vec<T>, Corrupt> {
        let count = self.count(item_bytes_min)?;
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Corrupt> {
        let length = self.count(1)?;
        let end = self.position + length;
        let found = self.bytes.get(self.position..end);
        let found = found.ok_or_else(|| self.corrupt("metadata ends in the middle of a string"))?;
        self.position = end;
        Ok(found)
    }

    pub(crate) fn text(&mut self) -> Result<String, Corrupt> {
        let bytes = self.bytes()?;
        let text = std::str::from_utf8(bytes).map_err(|_| self.corrupt("name is not UTF-8"))?;
        Ok(text.to_owned())
    }

    /// Ends the page: nothing may follow.
    pub(crate) fn finish(self) -> Result<(), Corrupt> {
        if self.position != self.bytes.len() {
            return Err(self.corrupt("bytes follow the end of the metadata"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn integers_of_every_width_round_trip() {
        let mut values = vec![0_i128, i128::MAX, i128::MIN];
        values.extend((0..127).flat_map(|bit| [1_i128 << bit, -(1_i128 << bit), (1 << bit) - 1]));
        let mut writer = WireItemWriter::new(7);
        for &value in &values {
            writer.signed(value);
            writer.varint_wide(value as u128);
        }
        let page = writer.finish();
        let mut reader = WireItemReader::new(&page, 7, "test").unwrap();
        for &value in &values {
            assert_eq!(reader.signed().unwrap(), value);
            assert_eq!(reader.varint_wide().unwrap(), value as u128);
        }
        reader.finish().unwrap();
    }

    #[test]
    fn hostile_bytes_are_errors() {
        assert!(WireItemReader::new(&[], 1, "test").is_err());
        assert!(WireItemReader::new(&[2], 1, "test").is_err());
        let reader = |bytes| WireItemReader { bytes, position: 0 };
        assert!(
            reader(&[0xff; 40]).varint_wide().is_err(),
            "endless integer"
        );
        assert!(reader(&[0x80]).varint().is_err(), "cut integer");
        assert!(
            reader(&[0xff, 0xff, 0xff, 0xff, 0x0f, 1]).count(1).is_err(),
            "absurd count"
        );
        assert!(reader(&[3, b'a', b'b']).bytes().is_err(), "cut string");
        assert!(reader(&[1, 0xff]).text().is_err(), "not UTF-8");
        assert!(reader(&[0]).finish().is_err(), "rest");
    }
}
