//! The server log: events of the server and refused or ended connections, one line each, with the time in UTC, the client's address,
//! the user and the database.
//!
//! A dedicated thread writes the lines from a bounded queue, so that a slow reader of standard error never blocks a connection. Text
//! from clients is escaped and truncated, and the number of lines per second is limited: a client can neither forge a line nor fill
//! a disk.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use quire_text::temporal;

use crate::wire::StartupRequest;

/// Capacity of the queue in lines. Lines that do not fit are dropped.
const QUEUE_LINES: usize = 1024;
/// Lines that may be written in one second.
const LINES_PER_SECOND: u32 = 100;
/// Characters of a user, a database or a reason; longer ones are truncated.
const CHARACTERS_MAX: usize = 200;
/// How long [`ServerLog::close`] waits for queued lines to be written.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
const MICROSECONDS_PER_SECOND: i64 = 1_000_000;

/// What is known about the client of a connection, for its lines in the log. Names are empty before the startup packet.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientIdentity {
    pub(crate) address: Option<SocketAddr>,
    pub(crate) user: String,
    pub(crate) database: String,
}

impl ClientIdentity {
    /// Takes user and database from a startup packet; other packets are ignored. The database defaults to the user's name.
    pub(crate) fn set_from_startup(&mut self, packet: &[u8]) {
        if let Ok(StartupRequest::Startup(packet)) = StartupRequest::read(packet) {
            let user = packet.parameter("user").unwrap_or_default();
            self.database = packet.parameter("database").unwrap_or(user).to_owned();
            self.user = user.to_owned();
        }
    }
}

/// The log of a server.
pub(crate) struct ServerLog {
    /// `None` if logging is off or the log is closed.
    sink: Mutex<Option<LogSink>>,
    limit: Mutex<LogRateLimit>,
}

/// The queue to the writer thread.
struct LogSink {
    lines: SyncSender<String>,
    /// Receives one message when the thread has written all lines and ends.
    finished: Receiver<()>,
}

/// Counts the lines of the current second.
struct LogRateLimit {
    window_start: Instant,
    lines: u32,
    /// Lines dropped since the last one that was written.
    dropped: u64,
}

impl ServerLog {
    /// A log to standard error, or one that discards everything.
    pub(crate) fn new(is_on: bool) -> io::Result<Self> {
        let output = is_on.then(|| Box::new(io::stderr()) as Box<dyn Write + Send>);
        Self::to(output)
    }

    fn to(output: Option<Box<dyn Write + Send>>) -> io::Result<Self> {
        let sink = output.map(LogSink::start).transpose()?;
        let limit = LogRateLimit {
            window_start: Instant::now(),
            lines: 0,
            dropped: 0,
        };
        Ok(Self {
            sink: Mutex::new(sink),
            limit: Mutex::new(limit),
        })
    }

    /// Logs an event of the server.
    pub(crate) fn note(&self, event: &str) {
        self.write(event, "", None);
    }

    /// Logs an event of a client and its reason.
    pub(crate) fn note_client(&self, event: &str, reason: &str, client: &ClientIdentity) {
        self.write(event, reason, Some(client));
    }

    fn write(&self, event: &str, reason: &str, client: Option<&ClientIdentity>) {
        // Holding the lock across `try_send` is cheap, because that never blocks, and keeps the lines in order.
        let sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(LogSink { lines, .. }) = sink.as_ref() else {
            return;
        };
        let Some(dropped) = self.admit_line() else {
            return;
        };
        let now = SystemTime::now();
        if dropped > 0 {
            let text = format!("{dropped} lines were left out");
            let _ = lines.try_send(format_line(now, &text, "", None));
        }
        // If the queue is full, the line is lost.
        let _ = lines.try_send(format_line(now, event, reason, client));
    }

    /// Writes the queued lines, waiting at most a second for that. Later lines are discarded.
    pub(crate) fn close(&self) {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(LogSink { lines, finished }) = sink.take() {
            // The writer thread ends when the queue is empty and has no sender.
            drop(lines);
            // Standard error may be a pipe that nobody reads any more, so the wait is bounded.
            let _ = finished.recv_timeout(CLOSE_TIMEOUT);
        }
    }

    /// Counts one more line. Returns the number of lines dropped since the last one, or `None` if this one is to be dropped too.
    fn admit_line(&self) -> Option<u64> {
        let mut limit = self.limit.lock().unwrap_or_else(PoisonError::into_inner);
        if limit.window_start.elapsed() >= Duration::from_secs(1) {
            (limit.window_start, limit.lines) = (Instant::now(), 0);
        }
        if limit.lines >= LINES_PER_SECOND {
            limit.dropped += 1;
            return None;
        }
        limit.lines += 1;
        Some(std::mem::take(&mut limit.dropped))
    }
}

impl LogSink {
    fn start(mut output: Box<dyn Write + Send>) -> io::Result<Self> {
        let (end, finished) = sync_channel(1);
        let (lines, receiver) = sync_channel::<String>(QUEUE_LINES);
        let write = move || {
            for line in receiver {
                // A failure to write the log cannot be reported anywhere.
                let _ = output.write_all(line.as_bytes());
            }
            let _ = output.flush();
            let _ = end.send(());
        };
        let name = "quire-log".to_owned();
        thread::Builder::new().name(name).spawn(write)?;
        Ok(Self { lines, finished })
    }
}

fn format_line(
    time: SystemTime,
    event: &str,
    reason: &str,
    client: Option<&ClientIdentity>,
) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let microseconds = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    let mut line = String::new();
    temporal::write_timestamp(microseconds, MICROSECONDS_PER_SECOND, Some(0), &mut line);
    line.push_str(" quire: ");
    line.push_str(event);
    if !reason.is_empty() {
        line.push_str(": ");
        line.push_str(&escaped(reason));
    }
    if let Some(client) = client {
        let (user, database) = (escaped(&client.user), escaped(&client.database));
        let address = client.address.map(|address| address.to_string());
        let address = address.as_deref().unwrap_or("unknown");
        // Writing to a `String` cannot fail.
        let _ = write!(
            line,
            "; address={address} user=\"{user}\" database=\"{database}\""
        );
    }
    line.push('\n');
    line
}

/// Escapes whatever could end the line or a quoted name, and truncates the text to [`CHARACTERS_MAX`] characters.
fn escaped(text: &str) -> String {
    let is_plain = |character: char| {
        let is_printable =
            character.is_ascii_graphic() || character == ' ' || character.is_alphanumeric();
        is_printable && !matches!(character, '"' | '\\')
    };
    let mut escaped = String::new();
    for character in text.chars().take(CHARACTERS_MAX) {
        match character {
            plain if is_plain(plain) => escaped.push(plain),
            special => escaped.extend(special.escape_default()),
        }
    }
    if text.chars().nth(CHARACTERS_MAX).is_some() {
        escaped.push('…');
    }
    escaped
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_says_when_who_and_why() {
        let client = ClientIdentity {
            address: Some("127.0.0.1:4711".parse().unwrap()),
            user: "ada\n\"x\\".to_owned(),
            database: "shop".to_owned(),
        };
        let time = UNIX_EPOCH + Duration::from_millis(1_709_251_200_250);
        assert_eq!(
            format_line(time, "login refused", "wrong password", Some(&client)),
            "2024-03-01 00:00:00.25+00 quire: login refused: wrong password; \
             address=127.0.0.1:4711 user=\"ada\\n\\\"x\\\\\" database=\"shop\"\n"
        );
        let long = escaped(&"é".repeat(1000));
        assert_eq!(long.chars().count(), CHARACTERS_MAX + 1);
    }

    #[test]
    fn a_second_has_only_so_many_lines() {
        let kept = Kept::default();
        let log = ServerLog::to(Some(Box::new(kept.clone()))).unwrap();
        for _ in 0..10 * LINES_PER_SECOND {
            log.note("x");
        }
        log.limit.lock().unwrap().window_start -= Duration::from_secs(2);
        log.note("last");
        log.close();
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        assert!(
            text.lines().count() <= 3 * LINES_PER_SECOND as usize,
            "{text}"
        );
        assert!(text.contains(" lines were left out\n"), "{text}");
        assert!(text.ends_with(" quire: last\n"), "{text}");
    }

    #[test]
    fn a_silent_log_says_nothing() {
        ServerLog::new(false).unwrap().note("x");
    }
}
