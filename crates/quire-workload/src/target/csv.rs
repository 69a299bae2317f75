//! What rows does a CSV file of [`Target::load`](crate::Target::load) have?

use std::io::{self, BufRead, Read};

/// A record may not be longer: the file may be anything.
const RECORD_BYTES_MAX: u64 = 64 << 20;

/// Fields of a row; NULL is `None`.
pub(super) type CsvFields = Vec<Option<String>>;

/// Reads rows of a CSV file without a header.
pub(super) struct CsvRecords<R> {
    input: R,
    /// Rows that were read.
    rows: u64,
}

impl<R: BufRead> CsvRecords<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, rows: 0 }
    }

    /// The next row, `None` at the end.
    pub(super) fn next_row(&mut self) -> io::Result<Option<CsvFields>> {
        let record = self.record()?;
        if record.is_empty() {
            return Ok(None);
        }
        self.rows += 1;
        let record = std::str::from_utf8(&record).map_err(|_| self.wrong("is no UTF-8"))?;
        let record = record.strip_suffix('\n').unwrap_or(record);
        let record = record.strip_suffix('\r').unwrap_or(record);
        fields(record).map(Some).map_err(|what| self.wrong(what))
    }

    /// A record with its line break. It goes on in the next line as long as a quote is open, that is, the number of quotes is odd.
    fn record(&mut self) -> io::Result<Vec<u8>> {
        let mut record = Vec::new();
        loop {
            let before = record.len();
            let mut limited = (&mut self.input).take(RECORD_BYTES_MAX - before as u64);
            limited.read_until(b'\n', &mut record)?;
            let open = record.iter().filter(|&&byte| byte == b'"').count() % 2 == 1;
            if record.len() as u64 == RECORD_BYTES_MAX {
                return Err(self.wrong("is too long"));
            }
            if record.len() == before && open {
                return Err(self.wrong("ends within quotes"));
            }
            if record.len() == before || !open {
                return Ok(record);
            }
        }
    }

    fn wrong(&self, what: &str) -> io::Error {
        let message = format!("row {} of the CSV file {what}", self.rows.max(1));
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

/// The fields of a record without its line break.
fn fields(record: &str) -> Result<CsvFields, &'static str> {
    let mut fields = Vec::new();
    let mut rest = record;
    loop {
        let (field, behind) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (text, behind) = quoted_text(quoted)?;
                (Some(text), behind)
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                let text = &rest[..end];
                ((!text.is_empty()).then(|| text.to_owned()), &rest[end..])
            }
        };
        fields.push(field);
        match behind.strip_prefix(',') {
            Some(behind) => rest = behind,
            None if behind.is_empty() => return Ok(fields),
            None => return Err("has something behind a closing quote"),
        }
    }
}

/// The text up to the closing quote, and what is behind that.
fn quoted_text(quoted: &str) -> Result<(String, &str), &'static str> {
    let mut text = String::new();
    let mut rest = quoted;
    loop {
        let (before, behind) = rest.split_once('"').ok_or("ends within quotes")?;
        text.push_str(before);
        match behind.strip_prefix('"') {
            Some(behind) => {
                text.push('"');
                rest = behind;
            }
            None => return Ok((text, behind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CsvRecords;

    fn rows(csv: &str) -> std::io::Result<Vec<Vec<Option<String>>>> {
        let mut reader = CsvRecords::new(csv.as_bytes());
        std::iter::from_fn(|| reader.next_row().transpose()).collect()
    }

    #[test]
    fn quotes_commas_line_breaks_and_nulls() {
        let read = rows("1,\"\",,\"a,\"\"b\"\"\nc\"\n-2,x,\"\r\n\",\n").unwrap();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            read,
            [
                vec![text("1"), text(""), None, text("a,\"b\"\nc")],
                vec![text("-2"), text("x"), text("\r\n"), None],
            ]
        );
        assert_eq!(rows("").unwrap(), Vec::<Vec<_>>::new());
        assert_eq!(rows("1").unwrap(), [[text("1")]]);
    }

    #[test]
    fn other_files_are_errors_that_name_the_row() {
        let message = |csv: &str| rows(csv).unwrap_err().to_string();
        assert_eq!(
            message("1\n\"a\"b\n"),
            "row 2 of the CSV file has something behind a closing quote"
        );
        assert_eq!(message("\"a"), "row 1 of the CSV file ends within quotes");
    }
}
