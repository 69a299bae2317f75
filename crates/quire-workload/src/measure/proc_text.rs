//! The texts below `/proc`; see proc(5).

/// `/proc/PID/stat`: what is read of it. Times are in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessStat {
    pub(super) parent: u32,
    pub(super) user: u64,
    pub(super) system: u64,
    /// Of children that have ended and were waited for.
    pub(super) children_user: u64,
    pub(super) children_system: u64,
    /// Since the machine started. It tells a process from a later one with the same number.
    pub(super) started: u64,
}

impl ProcessStat {
    /// `None` if the text is something else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        // The name of the program, in parentheses, may itself have spaces and parentheses.
        let (_, behind_name) = text.rsplit_once(')')?;
        let fields: Vec<&str> = behind_name.split_ascii_whitespace().collect();
        // The field behind the name is the third of proc(5), the state.
        let number = |field: usize| -> Option<u64> { fields.get(field - 3)?.parse().ok() };
        // cutime and cstime are signed, and never below 0.
        Some(Self {
            parent: u32::try_from(number(4)?).ok()?,
            user: number(14)?,
            system: number(15)?,
            children_user: number(16)?,
            children_system: number(17)?,
            started: number(22)?,
        })
    }
}

/// `/proc/PID/io`: bytes from and to storage, not from and to caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProcessIo {
    pub(super) read_bytes: u64,
    /// Bytes that were made dirty; those of a file that was deleted before it was written count, too.
    pub(super) written_bytes: u64,
}

impl ProcessIo {
    /// `None` if the text is something else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let number = |name: &str| -> Option<u64> {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            let (_, value) = lines.find(|(key, _)| *key == name)?;
            value.trim().parse().ok()
        };
        Some(Self {
            read_bytes: number("read_bytes")?,
            written_bytes: number("write_bytes")?,
        })
    }
}

/// `/proc/stat`: all processors together. Times are in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MachineStat {
    pub(super) busy: u64,
    /// Busy, idle, or waiting for a device.
    pub(super) all: u64,
    pub(super) processors: usize,
}

impl MachineStat {
    /// `None` if the text is something else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (name, times) = lines.next()?.split_once(' ')?;
        if name != "cpu" {
            return None;
        }
        // user nice system idle iowait irq softirq steal; the time of guests behind them is part of user and nice.
        let times = times.split_ascii_whitespace().take(8);
        let times: Option<Vec<u64>> = times.map(|time| time.parse().ok()).collect();
        let times = times?;
        let idle = times
            .get(3)?
            .saturating_add(times.get(4).copied().unwrap_or(0));
        let all = times
            .iter()
            .fold(0u64, |sum, time| sum.saturating_add(*time));
        let processors = lines.take_while(|line| line.starts_with("cpu")).count();
        Some(Self {
            busy: all.saturating_sub(idle),
            all,
            processors: processors.max(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_past_any_name() {
        // Fields 1 to 24 of proc(5), numbered by themselves where a number may stand.
        let text = "1234 (a) b (c) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24\n";
        let expected = ProcessStat {
            parent: 4,
            user: 14,
            system: 15,
            children_user: 16,
            children_system: 17,
            started: 22,
        };
        assert_eq!(ProcessStat::parse(text), Some(expected));
    }

    #[test]
    fn a_process_whose_text_is_cut_is_none() {
        let text = "1 (x) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22";
        assert!(ProcessStat::parse(text).is_some());
        let started = text.len() - "22".len();
        assert!((0..started).all(|length| ProcessStat::parse(&text[..length]).is_none()));
        assert_eq!(ProcessStat::parse("1 (x) S -1 5"), None);
    }

    #[test]
    fn bytes_are_those_of_storage() {
        let text = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n";
        let expected = ProcessIo {
            read_bytes: 5,
            written_bytes: 6,
        };
        assert_eq!(ProcessIo::parse(text), Some(expected));
        assert_eq!(ProcessIo::parse("read_bytes: 5\n"), None);
    }

    #[test]
    fn a_machine_is_busy_when_it_neither_idles_nor_waits() {
        let text = "cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 1 1 1\ncpu1 1 1 1\nintr 5\n";
        let expected = MachineStat {
            busy: 1 + 2 + 4 + 32 + 64 + 128,
            all: 255,
            processors: 2,
        };
        assert_eq!(MachineStat::parse(text), Some(expected));
        assert_eq!(MachineStat::parse("cpu0 1 2 3 4 5"), None);
        assert_eq!(MachineStat::parse(""), None);
    }
}
