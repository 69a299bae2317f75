//! Reading the body of one message.

use crate::malformed::Malformed;

const SHORT: Malformed = Malformed("it ends too early");

/// What is left of a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageReader<'a> {
    rest: &'a [u8],
}

impl<'a> MessageReader<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self { rest: body }
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(SHORT)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(SHORT)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn i16(&mut self) -> Result<i16, Malformed> {
        self.array().map(i16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_be_bytes)
    }

    /// A string that ends with a zero byte.
    pub(super) fn string(&mut self) -> Result<&'a str, Malformed> {
        let end = self.rest.iter().position(|byte| *byte == 0);
        let text = self.bytes(end.ok_or(Malformed("a string does not end"))?)?;
        self.u8()?;
        std::str::from_utf8(text).map_err(|_| Malformed("a string is not UTF-8"))
    }

    /// A value: its length, or -1 for NULL, and its bytes.
    pub(super) fn value(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        match self.i32()? {
            -1 => Ok(None),
            length => {
                let length =
                    usize::try_from(length).map_err(|_| Malformed("a length is negative"))?;
                self.bytes(length).map(Some)
            }
        }
    }

    /// A count of elements of at least so many bytes each; the message must have room for them.
    pub(super) fn count(&mut self, element_bytes: usize) -> Result<usize, Malformed> {
        let count = usize::from(self.u16()?);
        if count * element_bytes > self.rest.len() {
            return Err(SHORT);
        }
        Ok(count)
    }

    /// All that is left.
    pub(super) fn remaining(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Nothing must be left.
    pub(super) fn end(&self) -> Result<(), Malformed> {
        match self.rest {
            [] => Ok(()),
            _ => Err(Malformed("there are bytes behind its end")),
        }
    }
}
