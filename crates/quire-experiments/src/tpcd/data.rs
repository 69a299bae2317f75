//! The rows: `dbgen`'s tables of any scale as CSV files, and the rows of the update functions.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use tpchgen::{csv, generators};

/// The tables, those first that others refer to.
pub(crate) const TABLES: [&str; 8] = [
    "region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem",
];

/// Orders of scale 1 that an update function inserts or deletes (a thousandth of them).
const REFRESHED_ORDERS: f64 = 1_500.0;
/// Of 32 numbers of orders `dbgen` uses the first eight for its tables, the next eight for rows to insert.
const NEW_KEYS_BEHIND: i64 = 8;

/// Where the files are.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    folder: PathBuf,
}

/// Rows of a table, and what its amounts add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) rows: i64,
    pub(crate) cents: i64,
}

/// What the update functions do to a table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Refresh {
    pub(crate) before: Totals,
    pub(crate) inserted: Totals,
    pub(crate) deleted: Totals,
}

impl Totals {
    fn add(&mut self, cents: i64) {
        self.rows += 1;
        self.cents += cents;
    }
}

impl Refresh {
    /// After the rows have been inserted.
    pub(crate) fn after_inserts(&self) -> Totals {
        Totals {
            rows: self.before.rows + self.inserted.rows,
            cents: self.before.cents + self.inserted.cents,
        }
    }

    /// After the others have been deleted, too.
    pub(crate) fn after_deletes(&self) -> Totals {
        let all = self.after_inserts();
        Totals {
            rows: all.rows - self.deleted.rows,
            cents: all.cents - self.deleted.cents,
        }
    }
}

/// The tables that are changed, the position of the amount that is added up, and its name.
pub(crate) const CHANGED: [(&str, usize, &str); 2] = [
    ("orders", 3, "o_totalprice"),
    ("lineitem", 5, "l_extendedprice"),
];

macro_rules! write_rows {
    ($file:expr, $scale:expr, $generator:ident, $csv:ident) => {{
        let rows = generators::$generator::new($scale, 1, 1);
        write_lines($file, csv::$csv::header(), rows.iter().map(csv::$csv::new))
    }};
}

impl Files {
    /// The tables of `scale` in `folder`. Files that are there are taken as they are.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(crate) fn generate(folder: &Path, scale: f64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let files = Self {
            folder: folder.to_owned(),
        };
        for table in TABLES {
            let path = files.path(table);
            if path.exists() {
                continue;
            }
            let unfinished = path.with_extension("unfinished");
            let file = BufWriter::new(File::create(&unfinished)?);
            write_table(file, table, scale)?;
            fs::rename(&unfinished, &path)?;
        }
        Ok(files)
    }

    /// The file of a table, or of `new_orders`, `new_lineitem` and `old_orders`.
    pub(crate) fn path(&self, table: &str) -> PathBuf {
        self.folder.join(format!("{table}.csv"))
    }

    /// Rows for the update functions: the last orders and their lines once more, under numbers that are free, to insert, and the numbers of
    /// the first orders, to delete. What becomes of [`CHANGED`].
    ///
    /// # Errors
    /// When files cannot be read or written, or are no tables.
    pub(crate) fn write_refresh(&self, scale: f64) -> io::Result<[Refresh; 2]> {
        let count = (REFRESHED_ORDERS * scale).round().max(1.0) as usize;
        let mut keys = Vec::new();
        for line in self.lines("orders")? {
            keys.push(key_of(&line?)?);
        }
        let old = keys.get(..count).unwrap_or(&keys);
        let last_old = old.last().copied().unwrap_or(0);
        let first_new = keys.iter().nth_back(old.len().saturating_sub(1));
        let first_new = first_new.copied().unwrap_or(i64::MAX);
        let mut file = BufWriter::new(File::create(self.path("old_orders"))?);
        writeln!(file, "old_orderkey")?;
        for key in old {
            writeln!(file, "{key}")?;
        }
        file.flush()?;
        let [orders, lineitem] = CHANGED;
        Ok([
            self.refresh(orders, last_old, first_new)?,
            self.refresh(lineitem, last_old, first_new)?,
        ])
    }

    fn refresh(
        &self,
        (table, amount, _): (&str, usize, &str),
        last_old: i64,
        first_new: i64,
    ) -> io::Result<Refresh> {
        let mut refresh = Refresh::default();
        let mut file = self.create(table, &format!("new_{table}"))?;
        for line in self.lines(table)? {
            let line = line?;
            let (key, cents) = (key_of(&line)?, cents_of(&line, amount)?);
            refresh.before.add(cents);
            if key <= last_old {
                refresh.deleted.add(cents);
            }
            if key >= first_new {
                refresh.inserted.add(cents);
                write_renumbered(&mut file, &line, key)?;
            }
        }
        file.flush()?;
        Ok(refresh)
    }

    /// A file of rows of a table, with its first line.
    fn create(&self, table: &str, name: &str) -> io::Result<BufWriter<File>> {
        let mut header = String::new();
        BufReader::new(File::open(self.path(table))?).read_line(&mut header)?;
        let mut file = BufWriter::new(File::create(self.path(name))?);
        file.write_all(header.as_bytes())?;
        Ok(file)
    }

    /// The rows of a table.
    fn lines(&self, table: &str) -> io::Result<impl Iterator<Item = io::Result<String>>> {
        let file = BufReader::new(File::open(self.path(table))?);
        Ok(file.lines().skip(1))
    }
}

fn write_table(file: BufWriter<File>, table: &str, scale: f64) -> io::Result<()> {
    match table {
        "lineitem" => write_rows!(file, scale, LineItemGenerator, LineItemCsv),
        "orders" => write_rows!(file, scale, OrderGenerator, OrderCsv),
        "partsupp" => write_rows!(file, scale, PartSuppGenerator, PartSuppCsv),
        "customer" => write_rows!(file, scale, CustomerGenerator, CustomerCsv),
        "part" => write_rows!(file, scale, PartGenerator, PartCsv),
        "supplier" => write_rows!(file, scale, SupplierGenerator, SupplierCsv),
        "nation" => write_rows!(file, scale, NationGenerator, NationCsv),
        _ => write_rows!(file, scale, RegionGenerator, RegionCsv),
    }
}

fn write_lines(
    mut file: BufWriter<File>,
    header: &str,
    rows: impl Iterator<Item = impl Display>,
) -> io::Result<()> {
    writeln!(file, "{header}")?;
    for row in rows {
        writeln!(file, "{row}")?;
    }
    file.flush()
}

fn no_row(line: &str) -> io::Error {
    let message = format!("{line:?} is no row of a table; remove the files and start again");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn key_of(line: &str) -> io::Result<i64> {
    let key = line.split(',').next().and_then(|key| key.parse().ok());
    key.ok_or_else(|| no_row(line))
}

/// An amount with two digits behind the point. No field before it is quoted.
fn cents_of(line: &str, column: usize) -> io::Result<i64> {
    let field = line.split(',').nth(column).ok_or_else(|| no_row(line))?;
    let digits = match field.split_once('.') {
        Some((whole, cents)) if cents.len() == 2 => format!("{whole}{cents}"),
        Some((whole, tenths)) if tenths.len() == 1 => format!("{whole}{tenths}0"),
        Some(_) => return Err(no_row(line)),
        None => format!("{field}00"),
    };
    digits.parse().map_err(|_| no_row(line))
}

fn write_renumbered(file: &mut impl Write, line: &str, key: i64) -> io::Result<()> {
    let rest = line.split_once(',').map_or("", |(_, rest)| rest);
    writeln!(file, "{},{rest}", key + NEW_KEYS_BEHIND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_to_the_cent() {
        for (text, cents) in [
            ("7,1.05", 105),
            ("7,12", 1_200),
            ("7,0.5", 50),
            ("7,-3.21", -321),
        ] {
            assert_eq!(cents_of(text, 1).ok(), Some(cents));
        }
        assert!(cents_of("7", 1).is_err() && cents_of("7,x", 1).is_err());
    }

    #[test]
    fn new_orders_have_numbers_that_no_order_has() {
        let folder =
            std::env::temp_dir().join(format!("quire-experiments-data-{}", std::process::id()));
        let files = Files::generate(&folder, 0.001).expect("tables");
        let refresh = files.write_refresh(0.001).expect("rows");
        let keys = |table: &str| -> Vec<i64> {
            let lines = files.lines(table).expect("a file");
            lines
                .map(|line| key_of(&line.expect("a line")).expect("a key"))
                .collect()
        };
        let (all, new, old) = (keys("orders"), keys("new_orders"), keys("old_orders"));
        assert_eq!((all.len(), new.len(), old.len()), (1_500, 2, 2));
        assert!(new.iter().all(|key| !all.contains(key)));
        assert!(old.iter().all(|key| all.contains(key)));
        assert_eq!(refresh[1].inserted.rows, keys("new_lineitem").len() as i64);
        assert_eq!(refresh[1].before.rows, keys("lineitem").len() as i64);
        let lines = keys("lineitem");
        let lines = lines.iter().filter(|key| old.contains(key)).count();
        assert_eq!(refresh[1].deleted.rows, lines as i64);
        assert_eq!(refresh[0].after_deletes().rows, 1_500);
        fs::remove_dir_all(folder).expect("the folder");
    }
}
