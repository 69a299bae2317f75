//! What clients say once a connection is open.

use super::reader::MessageReader;
use crate::malformed::Malformed;
use crate::types::WireFormat;

/// A message of a client; it borrows from the bytes that were received.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frontend<'a> {
    /// `Q`: statements, to be run one after the other.
    Query(&'a str),
    /// `P`: a statement to prepare, its name, and the types of its first parameters; 0 leaves one open.
    Parse {
        name: &'a str,
        sql: &'a str,
        parameter_oids: Vec<u32>,
    },
    /// `B`
    Bind(Bind<'a>),
    /// `D`
    Describe(DescribeTarget<'a>),
    /// `E`: rows of a portal, at most so many; 0 is all.
    Execute { portal: &'a str, row_count_max: u32 },
    /// `C`
    Close(DescribeTarget<'a>),
    /// `H`: send what there is.
    Flush,
    /// `S`: the end of a transaction's messages.
    Sync,
    /// `X`
    Terminate,
    /// `p`: an answer to a question about the password.
    Password(&'a [u8]),
    /// `d`
    CopyData(&'a [u8]),
    /// `c`
    CopyDone,
    /// `f`: the client gives up; why.
    CopyFail(&'a str),
    /// `F`, which nobody uses.
    FunctionCall,
}

/// `B`: values for the parameters of a statement make a portal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bind<'a> {
    pub(crate) portal: &'a str,
    pub(crate) statement: &'a str,
    pub(crate) parameter_formats: Vec<WireFormat>,
    /// `None` is NULL.
    pub(crate) parameters: Vec<Option<&'a [u8]>>,
    pub(crate) result_formats: Vec<WireFormat>,
}

/// What is described or closed, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DescribeTarget<'a> {
    Statement(&'a str),
    Portal(&'a str),
}

impl<'a> Frontend<'a> {
    /// Reads the body of a message of this type.
    pub(crate) fn read(kind: u8, body: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = MessageReader::new(body);
        let message = match kind {
            b'Q' => Self::Query(reader.string()?),
            b'P' => Self::Parse {
                name: reader.string()?,
                sql: reader.string()?,
                parameter_oids: {
                    let count = reader.count(4)?;
                    (0..count).map(|_| reader.u32()).collect::<Result<_, _>>()?
                },
            },
            b'B' => Self::Bind(Bind::read(&mut reader)?),
            b'D' => Self::Describe(target(&mut reader)?),
            b'E' => Self::Execute {
                portal: reader.string()?,
                // A negative number means all rows, as it does in PostgreSQL.
                row_count_max: u32::try_from(reader.i32()?).unwrap_or(0),
            },
            b'C' => Self::Close(target(&mut reader)?),
            b'H' => Self::Flush,
            b'S' => Self::Sync,
            b'X' => Self::Terminate,
            b'p' => Self::Password(reader.remaining()),
            b'd' => Self::CopyData(reader.remaining()),
            b'c' => Self::CopyDone,
            b'f' => Self::CopyFail(reader.string()?),
            b'F' => {
                reader.remaining();
                Self::FunctionCall
            }
            _ => return Err(Malformed("its type is unknown")),
        };
        reader.end()?;
        Ok(message)
    }

    /// Whether there are messages of this type.
    pub(crate) fn is_known(kind: u8) -> bool {
        b"QPBDECHSXpdcfF".contains(&kind)
    }
}

fn target<'a>(reader: &mut MessageReader<'a>) -> Result<DescribeTarget<'a>, Malformed> {
    let kind = reader.u8()?;
    let name = reader.string()?;
    match kind {
        b'S' => Ok(DescribeTarget::Statement(name)),
        b'P' => Ok(DescribeTarget::Portal(name)),
        _ => Err(Malformed("it names neither a statement nor a portal")),
    }
}

impl<'a> Bind<'a> {
    fn read(reader: &mut MessageReader<'a>) -> Result<Self, Malformed> {
        let (portal, statement) = (reader.string()?, reader.string()?);
        let parameter_formats = formats(reader)?;
        let count = reader.count(4)?;
        let parameters = (0..count)
            .map(|_| reader.value())
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            portal,
            statement,
            parameter_formats,
            parameters,
            result_formats: formats(reader)?,
        })
    }
}

fn formats(reader: &mut MessageReader<'_>) -> Result<Vec<WireFormat>, Malformed> {
    let count = reader.count(2)?;
    (0..count)
        .map(|_| WireFormat::of_code(reader.i16()?))
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A `B` as the protocol's documentation lays it out.
    const BIND: &[u8] = b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\x01\0\x01";

    #[test]
    fn messages_are_read() {
        assert_eq!(
            Frontend::read(b'Q', b"select 1\0").unwrap(),
            Frontend::Query("select 1")
        );
        let parse = Frontend::read(b'P', b"s\0select $1\0\0\x01\0\0\0\x17").unwrap();
        let expected = Frontend::Parse {
            name: "s",
            sql: "select $1",
            parameter_oids: vec![23],
        };
        assert_eq!(parse, expected);
        let expected = Frontend::Bind(Bind {
            portal: "p",
            statement: "s",
            parameter_formats: vec![WireFormat::Binary],
            parameters: vec![Some(b"ab"), None],
            result_formats: vec![WireFormat::Binary],
        });
        assert_eq!(Frontend::read(b'B', BIND).unwrap(), expected);
        let close = Frontend::read(b'C', b"Pname\0").unwrap();
        assert_eq!(close, Frontend::Close(DescribeTarget::Portal("name")));
        let execute = Frontend::read(b'E', b"\0\0\0\0\x05").unwrap();
        let expected = Frontend::Execute {
            portal: "",
            row_count_max: 5,
        };
        assert_eq!(execute, expected);
    }

    #[test]
    fn a_message_ends_where_its_length_says() {
        for length in 0..BIND.len() {
            assert!(Frontend::read(b'B', &BIND[..length]).is_err(), "{length}");
        }
        assert!(Frontend::read(b'B', &[BIND, b"x"].concat()).is_err());
        assert!(Frontend::read(b'S', b"x").is_err());
        assert!(Frontend::read(b'Q', b"select 1").is_err());
        assert!(Frontend::read(b'Q', b"\xff\0").is_err());
        assert!(Frontend::read(b'z', b"").is_err());
    }

    #[test]
    fn counts_that_the_bytes_do_not_back_are_refused() {
        assert!(Frontend::read(b'P', b"\0\0\xff\xff\0\0\0\x17").is_err());
        assert!(Frontend::read(b'B', b"\0\0\xff\xff\0\0").is_err());
        assert!(Frontend::read(b'B', b"\0\0\0\0\0\x01\x7f\xff\xff\xffab").is_err());
        assert!(Frontend::read(b'B', b"\0\0\0\0\0\x01\xff\xff\xff\xfeab\0\0").is_err());
    }

    #[test]
    fn no_bytes_are_a_reason_to_panic() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..200_000 {
            let mut body = BIND.to_vec();
            for _ in 0..random() % 4 {
                let at = random() as usize % body.len();
                body[at] = random() as u8;
            }
            body.truncate(random() as usize % (body.len() + 1));
            let kind = b"QPBDECHSXpdcfF"[random() as usize % 14];
            let _ = Frontend::read(kind, &body);
        }
    }
}
