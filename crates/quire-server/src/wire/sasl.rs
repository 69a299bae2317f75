//! The first answer of a client that is to prove who it is.

use super::reader::MessageReader;
use crate::malformed::Malformed;

/// `p`, when it is the first one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SaslInitial<'a> {
    pub(crate) mechanism: &'a str,
    pub(crate) data: Option<&'a [u8]>,
}

impl<'a> SaslInitial<'a> {
    pub(crate) fn read(body: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = MessageReader::new(body);
        let initial = Self {
            mechanism: reader.string()?,
            data: reader.value()?,
        };
        reader.end()?;
        Ok(initial)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_first_answer_is_read() {
        let whole = b"SCRAM-SHA-256\0\0\0\0\x02n,";
        let initial = SaslInitial::read(whole).unwrap();
        assert_eq!(
            (initial.mechanism, initial.data),
            ("SCRAM-SHA-256", Some(&b"n,"[..]))
        );
        for length in 0..whole.len() {
            assert!(SaslInitial::read(&whole[..length]).is_err(), "{length}");
        }
        assert!(SaslInitial::read(b"SCRAM-SHA-256\0\0\0\0\x01n,").is_err());
        assert_eq!(
            SaslInitial::read(b"x\0\xff\xff\xff\xff").unwrap().data,
            None
        );
    }
}
