//! How `quire dataset` and `quire mount` are called.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to do with the data sets of a volume.
///
/// `NAME` is a path such as `shop/archive`: properties that `shop/archive` lacks are those of `shop`.
#[derive(Debug, Subcommand)]
pub enum DataSetAction {
    /// Make a data set, and the volume when it is missing
    Create {
        /// The volume: one file
        volume: PathBuf,
        /// Name of the data set
        name: String,
        /// A property, as in compression=zstd-3; may be given several times
        #[arg(short = 'o', long = "option", value_name = "PROPERTY=VALUE")]
        properties: Vec<String>,
    },
    /// Show all data sets and snapshots with their sizes and ratios
    List {
        /// The volume
        volume: PathBuf,
    },
    /// Show the properties of a data set, and where they come from
    Get {
        /// The volume
        volume: PathBuf,
        /// Name of the data set
        name: String,
    },
    /// Change properties; they hold for what is written from now on
    Set {
        /// The volume
        volume: PathBuf,
        /// Name of the data set
        name: String,
        /// Properties, as in recordsize=16k; `inherit` removes one
        #[arg(value_name = "PROPERTY=VALUE", required = true)]
        properties: Vec<String>,
    },
    /// Keep the present state of a data set
    Snapshot {
        /// The volume
        volume: PathBuf,
        /// Data set and snapshot, as in shop@monday
        #[arg(value_name = "NAME@SNAPSHOT")]
        name: String,
    },
    /// Make a data set that begins with a snapshot and takes no space for it
    Clone {
        /// The volume
        volume: PathBuf,
        /// Data set and snapshot, as in shop@monday
        #[arg(value_name = "NAME@SNAPSHOT")]
        snapshot: String,
        /// Name of the new data set
        name: String,
        /// A property, as in compression=zstd-3; may be given several times
        #[arg(short = 'o', long = "option", value_name = "PROPERTY=VALUE")]
        properties: Vec<String>,
    },
    /// Give a data set, with those below it, or a snapshot another name
    Rename {
        /// The volume
        volume: PathBuf,
        /// The name that it has
        from: String,
        /// The name that it gets
        to: String,
    },
    /// Let a clone have the snapshots that it shares with its origin, which becomes a clone of it
    Promote {
        /// The volume
        volume: PathBuf,
        /// Name of the clone
        name: String,
    },
    /// Undo all changes since the newest snapshot
    Rollback {
        /// The volume
        volume: PathBuf,
        /// The newest snapshot, as in shop@monday
        #[arg(value_name = "NAME@SNAPSHOT")]
        name: String,
    },
    /// Remove a data set or a snapshot
    Destroy {
        /// The volume
        volume: PathBuf,
        /// Data set, or data set and snapshot
        #[arg(value_name = "NAME[@SNAPSHOT]")]
        name: String,
    },
}

/// What to mount where.
#[derive(Debug, Args)]
pub struct MountArguments {
    /// The volume; `quire dataset create` makes one
    pub volume: PathBuf,

    /// An empty folder
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Which data set, or snapshot, as in shop@monday [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub dataset: Option<String>,

    /// Let other users in than the one who mounts, as the permissions of the files say
    #[arg(long)]
    pub allow_other: bool,

    /// Refuse all changes
    #[arg(long)]
    pub readonly: bool,

    /// Let the kernel collect small writes: faster, but a full disk or quota is reported at fsync or close only
    #[arg(long)]
    pub writeback: bool,

    /// Return as soon as the folder can be used, and go on serving it until it is unmounted
    #[arg(long)]
    pub background: bool,
}
