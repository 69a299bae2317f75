//! The first packet of a connection, which has a length but no type.

use super::reader::MessageReader;
use crate::malformed::Malformed;

const CANCEL_REQUEST: u32 = 80_877_102;
const SSL_REQUEST: u32 = 80_877_103;
const GSS_ENCRYPTION_REQUEST: u32 = 80_877_104;

/// What a client may begin with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StartupRequest<'a> {
    /// Another connection's statement is to be cancelled.
    Cancel { process_id: i32, secret: &'a [u8] },
    /// It asks for TLS.
    Tls,
    /// It asks for encryption by GSSAPI.
    GssEncryption,
    /// It begins a session.
    Startup(StartupPacket<'a>),
}

/// How a client introduces itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StartupPacket<'a> {
    pub(crate) major: u16,
    pub(crate) minor: u16,
    /// Names and values, in the order given.
    pub(crate) parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> StartupRequest<'a> {
    /// Reads a packet without its length.
    pub(crate) fn read(body: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = MessageReader::new(body);
        let code = reader.u32()?;
        let opening = match code {
            CANCEL_REQUEST => Self::Cancel {
                process_id: reader.i32()?,
                secret: reader.remaining(),
            },
            SSL_REQUEST => Self::Tls,
            GSS_ENCRYPTION_REQUEST => Self::GssEncryption,
            version => Self::Startup(StartupPacket {
                major: (version >> 16) as u16,
                minor: version as u16,
                parameters: match version >> 16 {
                    3 => parameters(&mut reader)?,
                    // Nothing is known of the rest.
                    _ => {
                        reader.remaining();
                        Vec::new()
                    }
                },
            }),
        };
        reader.end()?;
        Ok(opening)
    }
}

fn parameters<'a>(reader: &mut MessageReader<'a>) -> Result<Vec<(&'a str, &'a str)>, Malformed> {
    let mut parameters = Vec::new();
    loop {
        match reader.string()? {
            "" => return Ok(parameters),
            name => parameters.push((name, reader.string()?)),
        }
    }
}

impl StartupPacket<'_> {
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let mut found = self.parameters.iter().filter(|(known, _)| *known == name);
        found.next_back().map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn packets_are_told_apart() {
        let startup = StartupRequest::read(b"\0\x03\0\x02user\0ada\0database\0shop\0\0").unwrap();
        let StartupRequest::Startup(packet) = startup else {
            panic!("{startup:?}")
        };
        assert_eq!((packet.major, packet.minor), (3, 2));
        assert_eq!(packet.parameter("user"), Some("ada"));
        assert_eq!(packet.parameter("options"), None);
        assert_eq!(
            StartupRequest::read(b"\x04\xd2\x16\x2f").unwrap(),
            StartupRequest::Tls
        );
        let expected = StartupRequest::Cancel {
            process_id: 7,
            secret: b"abcd",
        };
        let cancel = StartupRequest::read(b"\x04\xd2\x16\x2e\0\0\0\x07abcd").unwrap();
        assert_eq!(cancel, expected);
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let whole = b"\0\x03\0\0user\0ada\0\0";
        for length in 0..whole.len() {
            assert!(StartupRequest::read(&whole[..length]).is_err(), "{length}");
        }
        assert!(StartupRequest::read(b"\0\x03\0\0user\0ada\0\0x").is_err());
        assert!(StartupRequest::read(b"\x04\xd2\x16\x2fx").is_err());
    }
}
