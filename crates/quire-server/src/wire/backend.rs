//! What the server says.

use std::sync::Arc;

use quire_text::temporal::TimeZoneRules;

use crate::failure::{ServerFailure, Severity};
use crate::types::{PgType, WireFormat};

/// A column, as `RowDescription` tells it.
#[derive(Debug, Clone)]
pub(crate) struct Described<'a> {
    pub(crate) name: &'a str,
    pub(crate) pg_type: &'a PgType,
    pub(crate) format: WireFormat,
}

/// Messages that wait to be sent.
#[derive(Debug, Default)]
pub(crate) struct MessageBuffer {
    pub(crate) bytes: Vec<u8>,
    /// Where the session is, for instants that are written as text.
    pub(crate) zone: Arc<TimeZoneRules>,
}

impl MessageBuffer {
    /// Writes a message; `body` appends what is behind the length.
    pub(crate) fn message(&mut self, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.push(kind);
        let start = self.bytes.len();
        self.bytes.extend([0; 4]);
        body(&mut self.bytes);
        self.set_length(start);
    }

    fn set_length(&mut self, start: usize) {
        // No message is larger than what a client may ask for in one row; what does not fit in 31 bits is cut off with the
        // connection, for its client cannot read it either.
        let length = i32::try_from(self.bytes.len() - start).unwrap_or(i32::MAX);
        if let Some(place) = self.bytes.get_mut(start..start + 4) {
            place.copy_from_slice(&length.to_be_bytes());
        }
    }

    fn empty_message(&mut self, kind: u8) {
        self.bytes.extend([kind, 0, 0, 0, 4]);
    }

    pub(crate) fn parse_complete(&mut self) {
        self.empty_message(b'1');
    }

    pub(crate) fn bind_complete(&mut self) {
        self.empty_message(b'2');
    }

    pub(crate) fn close_complete(&mut self) {
        self.empty_message(b'3');
    }

    pub(crate) fn no_data(&mut self) {
        self.empty_message(b'n');
    }

    pub(crate) fn empty_query(&mut self) {
        self.empty_message(b'I');
    }

    pub(crate) fn portal_suspended(&mut self) {
        self.empty_message(b's');
    }

    pub(crate) fn authentication_ok(&mut self) {
        self.message(b'R', |body| body.extend(0_u32.to_be_bytes()));
    }

    /// How a client may prove who it is.
    pub(crate) fn authentication_sasl(&mut self, mechanisms: &[&str]) {
        self.message(b'R', |body| {
            body.extend(10_u32.to_be_bytes());
            mechanisms.iter().for_each(|name| string(body, name));
            body.push(0);
        });
    }

    /// What it is answered: there is more to say, or it was the last.
    pub(crate) fn authentication_step(&mut self, is_last: bool, data: &[u8]) {
        self.message(b'R', |body| {
            body.extend(if is_last { 12_u32 } else { 11 }.to_be_bytes());
            body.extend(data);
        });
    }

    pub(crate) fn parameter_status(&mut self, name: &str, value: &str) {
        self.message(b'S', |body| {
            string(body, name);
            string(body, value);
        });
    }

    pub(crate) fn backend_key(&mut self, process_id: i32, secret: &[u8]) {
        self.message(b'K', |body| {
            body.extend(process_id.to_be_bytes());
            body.extend(secret);
        });
    }

    /// The newest minor version that is known, and the options that are not.
    pub(crate) fn negotiate_version(&mut self, minor: u16, unknown: &[&str]) {
        self.message(b'v', |body| {
            body.extend((3 << 16 | u32::from(minor)).to_be_bytes());
            body.extend((unknown.len() as u32).to_be_bytes());
            unknown.iter().for_each(|name| string(body, name));
        });
    }

    /// `status` is I, T or E.
    pub(crate) fn ready(&mut self, status: u8) {
        self.message(b'Z', |body| body.push(status));
    }

    pub(crate) fn command_complete(&mut self, tag: &str) {
        self.message(b'C', |body| string(body, tag));
    }

    pub(crate) fn parameter_description(&mut self, oids: impl ExactSizeIterator<Item = u32>) {
        self.message(b't', |body| {
            body.extend((oids.len() as u16).to_be_bytes());
            oids.for_each(|oid| body.extend(oid.to_be_bytes()));
        });
    }

    pub(crate) fn row_description<'a>(
        &mut self,
        columns: impl ExactSizeIterator<Item = Described<'a>>,
    ) {
        self.message(b'T', |body| {
            body.extend((columns.len() as u16).to_be_bytes());
            for column in columns {
                string(body, column.name);
                // It is no column of a table that clients could look up.
                body.extend([0; 6]);
                body.extend(column.pg_type.oid().to_be_bytes());
                body.extend(column.pg_type.size_bytes().to_be_bytes());
                body.extend(column.pg_type.modifier().to_be_bytes());
                body.extend(column.format.code().to_be_bytes());
            }
        });
    }

    /// Rows come or go, in text or binary in all columns: `G` in, `H` out.
    pub(crate) fn copy_response(&mut self, kind: u8, is_binary: bool, column_count: usize) {
        self.message(kind, |body| {
            body.push(u8::from(is_binary));
            body.extend((column_count as u16).to_be_bytes());
            for _ in 0..column_count {
                body.extend(u16::from(is_binary).to_be_bytes());
            }
        });
    }

    pub(crate) fn copy_data(&mut self, bytes: &[u8]) {
        self.message(b'd', |body| body.extend_from_slice(bytes));
    }

    pub(crate) fn copy_done(&mut self) {
        self.empty_message(b'c');
    }

    pub(crate) fn notice(&mut self, failure: &ServerFailure) {
        self.report(b'N', failure);
    }

    pub(crate) fn error(&mut self, failure: &ServerFailure) {
        self.report(b'E', failure);
    }

    fn report(&mut self, kind: u8, failure: &ServerFailure) {
        let severity = match failure.severity {
            Severity::Notice => "NOTICE",
            Severity::Warning => "WARNING",
            Severity::Error => "ERROR",
            Severity::Fatal => "FATAL",
        };
        let position = failure.position.map(|position| position.to_string());
        let fields = [
            (b'S', Some(severity)),
            (b'V', Some(severity)),
            (b'C', Some(failure.sqlstate.as_ref())),
            (b'M', Some(failure.message.as_str())),
            (b'D', failure.detail.as_deref()),
            (b'H', failure.hint.as_deref()),
            (b'P', position.as_deref()),
        ];
        self.message(kind, |body| {
            for (field, text) in fields {
                if let Some(text) = text {
                    body.push(field);
                    string(body, text);
                }
            }
            body.push(0);
        });
    }
}

/// A string and its zero byte; one within the text would end it.
fn string(body: &mut Vec<u8>, text: &str) {
    body.extend(text.bytes().filter(|byte| *byte != 0));
    body.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_their_lengths() {
        let mut output = MessageBuffer::default();
        output.ready(b'I');
        output.command_complete("SELECT 1");
        output.parse_complete();
        assert_eq!(
            output.bytes,
            b"Z\0\0\0\x05IC\0\0\0\x0dSELECT 1\x001\0\0\0\x04"
        );
    }

    #[test]
    fn an_error_has_its_fields() {
        let mut output = MessageBuffer::default();
        let mut failure = ServerFailure::error("42601", "no\0");
        failure.position = Some(8);
        output.error(&failure);
        assert_eq!(
            output.bytes,
            b"E\0\0\0\x21SERROR\0VERROR\0C42601\0Mno\0P8\0\0"
        );
    }

    #[test]
    fn the_version_is_negotiated() {
        let mut output = MessageBuffer::default();
        output.negotiate_version(2, &["_pq_.x"]);
        assert_eq!(output.bytes, b"v\0\0\0\x13\0\x03\0\x02\0\0\0\x01_pq_.x\0");
    }
}
