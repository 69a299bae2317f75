//! What the server says of itself and of clients that it turns away: one line each, with the time in UTC, the address, the user and
//! the database.
//!
//! Lines go to a thread of their own through a queue, so that nobody waits for whoever reads them. What clients say of themselves is
//! escaped and cut, and there are only so many lines a second: nobody can fill a disk with them, or forge one.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use quire_text::temporal;

use crate::wire::StartupRequest;

/// Lines that wait for being written.
const QUEUED: usize = 1024;
/// Lines of one second.
const LINES_PER_SECOND: u32 = 100;
/// Characters of a name, or of a reason.
const CHARACTERS_MAX: usize = 200;
/// How long the end of the server waits for its last lines.
const LAST_LINES_WAIT: Duration = Duration::from_secs(1);
const MICROSECONDS_PER_SECOND: i64 = 1_000_000;

/// Who is at the other end, as far as that is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Who {
    pub(crate) address: Option<SocketAddr>,
    pub(crate) user: String,
    pub(crate) database: String,
}

impl Who {
    /// Takes the names of a first packet, if it is one that begins a session.
    pub(crate) fn introduce(&mut self, packet: &[u8]) {
        if let Ok(StartupRequest::Startup(packet)) = StartupRequest::read(packet) {
            let user = packet.parameter("user").unwrap_or_default();
            self.database = packet.parameter("database").unwrap_or(user).to_owned();
            self.user = user.to_owned();
        }
    }
}

/// The lines of a server.
pub(crate) struct ServerLog {
    /// None for a server that writes no lines, or no more.
    writer: Mutex<Option<LogSink>>,
    budget: Mutex<Budget>,
}

/// Where lines go, and what is heard when all have been written.
struct LogSink {
    lines: SyncSender<String>,
    written: Receiver<()>,
}

/// How many lines this second has had.
struct Budget {
    began: Instant,
    lines: u32,
    left_out: u64,
}

impl ServerLog {
    /// Writes to standard error, or nothing at all.
    pub(crate) fn new(is_on: bool) -> io::Result<Self> {
        let output = is_on.then(|| Box::new(io::stderr()) as Box<dyn Write + Send>);
        Self::to(output)
    }

    fn to(output: Option<Box<dyn Write + Send>>) -> io::Result<Self> {
        let writer = output.map(LogSink::start).transpose()?;
        let budget = Budget {
            began: Instant::now(),
            lines: 0,
            left_out: 0,
        };
        Ok(Self {
            writer: Mutex::new(writer),
            budget: Mutex::new(budget),
        })
    }

    /// What the server has to say of itself.
    pub(crate) fn note(&self, event: &str) {
        self.write(event, "", None);
    }

    /// What became of a client, and why.
    pub(crate) fn note_client(&self, event: &str, reason: &str, who: &Who) {
        self.write(event, reason, Some(who));
    }

    fn write(&self, event: &str, reason: &str, who: Option<&Who>) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(LogSink { lines, .. }) = writer.as_ref() else {
            return;
        };
        let Some(left_out) = self.take_turn() else {
            return;
        };
        let now = SystemTime::now();
        if left_out > 0 {
            let text = format!("{left_out} lines were left out");
            let _ = lines.try_send(line(now, &text, "", None));
        }
        // A line for which there is no room is lost.
        let _ = lines.try_send(line(now, event, reason, who));
    }

    /// Writes what is left, and nothing from now on.
    pub(crate) fn close(&self) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(LogSink { lines, written }) = writer.take() {
            drop(lines);
            // Whoever reads the lines may not read any more.
            let _ = written.recv_timeout(LAST_LINES_WAIT);
        }
    }

    /// Whether there may be one more line now; and how many there were not before it.
    fn take_turn(&self) -> Option<u64> {
        let mut budget = self.budget.lock().unwrap_or_else(PoisonError::into_inner);
        if budget.began.elapsed() >= Duration::from_secs(1) {
            (budget.began, budget.lines) = (Instant::now(), 0);
        }
        if budget.lines >= LINES_PER_SECOND {
            budget.left_out += 1;
            return None;
        }
        budget.lines += 1;
        Some(std::mem::take(&mut budget.left_out))
    }
}

impl LogSink {
    fn start(mut output: Box<dyn Write + Send>) -> io::Result<Self> {
        let (end, written) = sync_channel(1);
        let (lines, receiver) = sync_channel::<String>(QUEUED);
        let write = move || {
            for line in receiver {
                // There is nowhere to say that it cannot be written.
                let _ = output.write_all(line.as_bytes());
            }
            let _ = output.flush();
            let _ = end.send(());
        };
        let name = "quire-log".to_owned();
        thread::Builder::new().name(name).spawn(write)?;
        Ok(Self { lines, written })
    }
}

fn line(time: SystemTime, event: &str, reason: &str, who: Option<&Who>) -> String {
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
    if let Some(who) = who {
        let (user, database) = (escaped(&who.user), escaped(&who.database));
        let address = who.address.map(|address| address.to_string());
        let address = address.as_deref().unwrap_or("unknown");
        // Writing to a text does not fail.
        let _ = write!(
            line,
            "; address={address} user=\"{user}\" database=\"{database}\""
        );
    }
    line.push('\n');
    line
}

/// The text without what could end the line or a quote, cut where it is long.
fn escaped(text: &str) -> String {
    let is_plain = |letter: char| {
        let is_shown = letter.is_ascii_graphic() || letter == ' ' || letter.is_alphanumeric();
        is_shown && !matches!(letter, '"' | '\\')
    };
    let mut escaped = String::new();
    for letter in text.chars().take(CHARACTERS_MAX) {
        match letter {
            letter if is_plain(letter) => escaped.push(letter),
            letter => escaped.extend(letter.escape_default()),
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
        let who = Who {
            address: Some("127.0.0.1:4711".parse().unwrap()),
            user: "ada\n\"x\\".to_owned(),
            database: "shop".to_owned(),
        };
        let time = UNIX_EPOCH + Duration::from_millis(1_709_251_200_250);
        assert_eq!(
            line(time, "login refused", "wrong password", Some(&who)),
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
        log.budget.lock().unwrap().began -= Duration::from_secs(2);
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
