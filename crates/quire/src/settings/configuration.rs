//! Settings: what `SET` and `SHOW` know, and how they reach the planner.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use datafusion::common::config::{ExtensionOptions, SpillCompression};
use datafusion::prelude::SessionConfig;
use quire_error::Error;
use quire_exec::costs::CostModel;
use quire_functions::QuireOptions;
use quire_kv::{mvcc::Isolation, mvcc::TransactionOptions};

use super::costs::{COSTS, CostSettings};
use super::formats;
use super::kept;
use super::of_database::DatabaseSettings;
use super::transactions::TransactionSettings;
use crate::memory::Shares;
use crate::options::DatabaseOptions;

/// Name of the one catalog, as in `quire.public.t`.
pub(crate) const CATALOG_NAME: &str = "quire";
/// Name of the one schema.
pub(crate) const SCHEMA_NAME: &str = "public";

/// Build sides of joins up to this size are not partitioned but shared between threads.
const SHARED_BUILD_BYTES: usize = 64 << 20;
const SHARED_BUILD_ROWS: usize = 2 << 20;

/// The setting that chooses the machine for queries, and what it may be.
const ENGINE: &str = "quire.engine";
const ENGINES: [&str; 3] = ["auto", "tuple", "batch"];

/// The setting that says what scans decode at once, and what it may be.
const DECOMPRESSION: &str = "quire.decompression";
const DECOMPRESSIONS: [&str; 3] = ["cache", "memory", "pool"];

/// The setting that is a number of bytes.
const READ_AHEAD: &str = "quire.read_ahead_bytes";

/// The setting that says where the session is.
const TIME_ZONE: &str = "quire.time_zone";

/// What `DateStyle` says for the planner's functions.
const DATE_ORDER: &str = "quire.date_order";

/// What the names of our own switches begin with.
const OWN_PREFIX: &str = "quire.";

/// Names of ours for settings of the planner.
const ALIASES: [(&str, &str); 4] = [
    ("engine", ENGINE),
    ("threads", "datafusion.execution.target_partitions"),
    ("timezone", TIME_ZONE),
    ("batch_rows", "datafusion.execution.batch_size"),
];

/// Names that a client gave when it connected.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) user: String,
    pub(crate) database: String,
    /// The user may do what the role of this name may; otherwise everything.
    pub(crate) is_role: bool,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            user: "quire".to_owned(),
            database: "quire".to_owned(),
            is_role: false,
        }
    }
}

/// The settings of one connection.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionSettings {
    config: SessionConfig,
    kept: BTreeMap<&'static str, String>,
    transactions: TransactionSettings,
    costs: CostSettings,
    of_database: DatabaseSettings,
    /// Who uses the connection, and what the user calls the database.
    identity: Identity,
    /// What tells the settings of the planner apart.
    planner_fingerprint: u64,
    /// The same without costs, on which plans depend and planners do not.
    options_fingerprint: u64,
    /// Whether statements are compiled.
    has_statement_path: bool,
}

impl ConnectionSettings {
    pub(crate) fn new(options: &DatabaseOptions, of_database: DatabaseSettings) -> Self {
        Self {
            of_database,
            config: default_config(options),
            kept: kept::defaults(),
            transactions: TransactionSettings::default(),
            costs: CostSettings::default(),
            identity: Identity::default(),
            planner_fingerprint: 0,
            options_fingerprint: 0,
            has_statement_path: true,
        }
    }

    pub(crate) fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// Those that all connections share.
    pub(crate) fn of_database(&self) -> &DatabaseSettings {
        &self.of_database
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn set_identity(&mut self, identity: Identity) {
        self.identity = identity;
    }

    /// Changes a setting; `value` is its text.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let name = name.to_lowercase();
        kept::check_changeable(&name)?;
        kept::check_of_tables(&name, value)?;
        if let Some(kept) = self.kept.get_mut(name.as_str()) {
            *kept = match kept::is_switch(&name) {
                true if boolean_text(&name, value)? == "true" => "on".to_owned(),
                true => "off".to_owned(),
                false => formats::accepted(&name, value)?,
            };
            if name == "datestyle"
                && let Some((_, order)) = kept.rsplit_once(' ')
            {
                self.config.options_mut().set(DATE_ORDER, order)?;
                self.note_planner_settings();
            }
            return Ok(());
        }
        if self.transactions.set(&name, value)? || self.of_database.set(&name, value)? {
            return Ok(());
        }
        if name == COSTS {
            self.costs = CostSettings::new(value)?;
            // Plans are chosen by them.
            self.note_planner_settings();
            return Ok(());
        }
        let key = planner_key(&name)?;
        let zone = match key {
            TIME_ZONE => formats::time_zone(value)?,
            _ => String::new(),
        };
        let value = match key {
            ENGINE => word(&name, value, &ENGINES, "Say auto, tuple or batch.")?,
            DECOMPRESSION => word(&name, value, &DECOMPRESSIONS, "Say cache, memory or pool.")?,
            TIME_ZONE => zone.as_str(),
            READ_AHEAD => value,
            _ if key.starts_with(OWN_PREFIX) => boolean_text(&name, value)?,
            _ => value,
        };
        self.config.options_mut().set(key, value).map_err(|error| {
            Error::new(
                "22023",
                format!("invalid value for setting \"{name}\": \"{value}\""),
            )
            .with_detail(Error::from(error).message().to_owned())
        })?;
        self.note_planner_settings();
        Ok(())
    }

    /// For statements that are compiled: a number that is the same where all that their meaning depends on is. Nothing when they are
    /// not to be compiled.
    pub(crate) fn statement_settings_now(&self) -> Option<u64> {
        self.has_statement_path.then_some(self.planner_fingerprint)
    }

    /// A number that is the same where all settings of the planner are.
    pub(crate) fn planner_fingerprint(&self) -> u64 {
        self.planner_fingerprint
    }

    /// A number that is the same where all options of the planner are, whatever the costs.
    pub(crate) fn options_fingerprint(&self) -> u64 {
        self.options_fingerprint
    }

    fn note_planner_settings(&mut self) {
        let options = self.config.options();
        let ours = options.extensions.get::<QuireOptions>();
        self.has_statement_path = ours.is_some_and(|ours| ours.statement_path);
        let mut hasher = DefaultHasher::new();
        for entry in options.entries() {
            entry.key.hash(&mut hasher);
            entry.value.hash(&mut hasher);
        }
        self.options_fingerprint = hasher.finish();
        for cost in self.costs.costs().shown() {
            cost.ns.to_bits().hash(&mut hasher);
        }
        self.planner_fingerprint = hasher.finish();
    }

    /// The text of a setting's value.
    pub(crate) fn show(&self, name: &str) -> Result<String, Error> {
        let name = name.to_lowercase();
        if let Some(kept) = self.kept.get(name.as_str()) {
            return Ok(kept.clone());
        }
        if let Some(value) = self.transactions.show(&name) {
            return Ok(value);
        }
        if let Some(value) = self.of_database.show(&name) {
            return Ok(value);
        }
        if name == COSTS {
            return Ok(self.costs.text().to_owned());
        }
        let key = planner_key(&name)?;
        if let Some(own) = key.strip_prefix(OWN_PREFIX) {
            let entry = self.own_entries().into_iter().find(|(name, _)| name == own);
            return entry.map(|(_, value)| value).ok_or_else(|| unknown(&name));
        }
        let entry = self
            .config
            .options()
            .entries()
            .into_iter()
            .find(|entry| entry.key == key);
        entry
            .map(|entry| entry.value.unwrap_or_default())
            .ok_or_else(|| unknown(&name))
    }

    /// What work costs.
    pub(crate) fn costs(&self) -> &CostModel {
        self.costs.costs()
    }

    /// The switches of a connection.
    pub(crate) fn planner_options(&self) -> QuireOptions {
        let extensions = &self.config.options().extensions;
        extensions
            .get::<QuireOptions>()
            .cloned()
            .unwrap_or_default()
    }

    /// How long a statement may take that begins now.
    pub(crate) fn statement_limit(&self) -> Option<Duration> {
        self.transactions.statement_limit()
    }

    /// How transactions run that begin now.
    pub(crate) fn transaction_options(&self, isolation: Isolation) -> TransactionOptions {
        self.transactions.options(isolation)
    }

    /// The isolation of transactions that name none.
    pub(crate) fn default_isolation(&self) -> Isolation {
        self.transactions.isolation
    }

    pub(crate) fn set_default_isolation(&mut self, isolation: Isolation) {
        self.transactions.isolation = isolation;
    }

    /// Our own switches, by name without prefix.
    fn own_entries(&self) -> Vec<(String, String)> {
        let options = self.config.options();
        let Some(ours) = options.extensions.get::<QuireOptions>() else {
            return Vec::new();
        };
        let entries = ours.entries().into_iter();
        entries
            .map(|entry| (entry.key, entry.value.unwrap_or_default()))
            .collect()
    }

    /// Every setting with its value, by name.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        let kept = self
            .kept
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()));
        let aliases = ALIASES
            .iter()
            .filter_map(|(name, _)| Some(((*name).to_owned(), self.show(name).ok()?)));
        let ours = self
            .own_entries()
            .into_iter()
            .map(|(name, value)| (format!("{OWN_PREFIX}{name}"), value))
            .filter(|(name, _)| name != TIME_ZONE && name != DATE_ORDER);
        let transactions = TransactionSettings::NAMES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), self.transactions.show(name)?)));
        let of_database = DatabaseSettings::NAMES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), self.of_database.show(name)?)));
        let mut all: Vec<_> = kept
            .chain(aliases)
            .chain(ours)
            .chain(transactions)
            .chain(of_database)
            .chain([(COSTS.to_owned(), self.costs.text().to_owned())])
            .collect();
        all.sort();
        all
    }
}

fn planner_key(name: &str) -> Result<&str, Error> {
    if let Some((_, key)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
        return Ok(key);
    }
    // The planner's zone is that of the type of instants; the order of dates is set by `DateStyle`.
    if ["datafusion.execution.time_zone", DATE_ORDER].contains(&name) {
        return Err(unknown(name));
    }
    if name.starts_with(OWN_PREFIX) || name.starts_with("datafusion.") {
        return Ok(name);
    }
    Err(unknown(name))
}

fn unknown(name: &str) -> Error {
    Error::new("42704", format!("unrecognized setting \"{name}\""))
        .with_hint("SHOW ALL lists the settings.")
}

/// The value of a setting that is one of some words.
fn word(
    name: &str,
    value: &str,
    words: &[&'static str],
    hint: &str,
) -> Result<&'static str, Error> {
    let wanted = value.to_lowercase();
    let known = words.iter().copied().find(|word| *word == wanted);
    known.ok_or_else(|| {
        let text = format!("invalid value for setting \"{name}\": \"{value}\"");
        Error::new("22023", text).with_hint(hint)
    })
}

fn boolean_text<'a>(name: &str, value: &str) -> Result<&'a str, Error> {
    match value.to_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Ok("true"),
        "off" | "false" | "no" | "0" => Ok("false"),
        _ => Err(Error::new(
            "22023",
            format!("setting \"{name}\" must be on or off"),
        )),
    }
}

fn default_config(options: &DatabaseOptions) -> SessionConfig {
    let shares = Shares::of(options);
    let mut config = SessionConfig::new()
        .with_target_partitions(shares.partitions)
        .with_batch_size(shares.batch_rows)
        .with_sort_spill_reservation_bytes(shares.merge_bytes)
        .with_create_default_catalog_and_schema(false)
        .with_default_catalog_and_schema(CATALOG_NAME, SCHEMA_NAME)
        .with_option_extension(QuireOptions::default());
    let planner = config.options_mut();
    planner.sql_parser.parse_float_as_decimal = true;
    planner.sql_parser.default_null_ordering = "nulls_max".to_owned();
    planner.sql_parser.collect_spans = true;
    // `array_agg` and LIMIT take rows in the order of the subquery that gives them.
    planner.sql_parser.enable_subquery_sort_elimination = false;
    planner.execution.time_zone = Some("+00:00".to_owned());
    // Columns of spilled rows compress to a part of what they would write and read.
    planner.execution.spill_compression = SpillCompression::Lz4Frame;
    planner.optimizer.hash_join_single_partition_threshold = SHARED_BUILD_BYTES;
    planner.optimizer.hash_join_single_partition_threshold_rows = SHARED_BUILD_ROWS;
    config
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn settings_are_set_and_shown() {
        let mut settings = ConnectionSettings::new(
            &DatabaseOptions {
                threads: 3,
                ..Default::default()
            },
            DatabaseSettings::default(),
        );
        assert_eq!(settings.show("threads").unwrap(), "3");
        settings.set("THREADS", "1").unwrap();
        assert_eq!(settings.show("threads").unwrap(), "1");
        settings.set("quire.join_order", "off").unwrap();
        assert_eq!(settings.show("quire.join_order").unwrap(), "false");
        settings.set("quire.read_ahead_bytes", "0").unwrap();
        assert_eq!(settings.show("quire.read_ahead_bytes").unwrap(), "0");
        settings.set("quire.decompression", "Memory").unwrap();
        assert_eq!(settings.show("quire.decompression").unwrap(), "memory");
        settings.set("quire.decompression", "POOL").unwrap();
        assert_eq!(settings.show("quire.decompression").unwrap(), "pool");
        settings.set("application_name", "psql").unwrap();
        assert_eq!(settings.show("application_name").unwrap(), "psql");
        assert!(settings.all().len() > 10);
    }

    #[test]
    fn wrong_names_and_values_are_errors() {
        let mut settings =
            ConnectionSettings::new(&DatabaseOptions::default(), DatabaseSettings::default());
        assert_eq!(
            settings.set("nonsense", "1").unwrap_err().sqlstate(),
            "42704"
        );
        assert_eq!(settings.show("nonsense").unwrap_err().sqlstate(), "42704");
        for fixed in ["server_version", "LC_CTYPE", "integer_datetimes"] {
            assert_eq!(settings.set(fixed, "1").unwrap_err().sqlstate(), "55P02");
        }
        for word in ["quire.engine", "quire.decompression"] {
            let refused = settings.set(word, "disk").unwrap_err();
            assert_eq!(refused.sqlstate(), "22023");
        }
        assert_eq!(
            settings.set("threads", "many").unwrap_err().sqlstate(),
            "22023"
        );
        assert_eq!(
            settings
                .set("quire.join_order", "maybe")
                .unwrap_err()
                .sqlstate(),
            "22023"
        );
    }
}
