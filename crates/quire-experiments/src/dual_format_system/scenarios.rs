//! Which databases are made: how pages lie, where they are, and in which order rows come.

use quire_codec::block::BlockCodecId;
use quire_lab::PACKED_TUPLES;

/// Bytes of a page of the table, and of InnoDB's.
pub(crate) const PAGE_BYTES: u64 = 16_384;

/// How the table stores its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageScenario {
    /// In the figure. The paper's scenarios are called as the transforms are.
    pub(crate) name: &'static str,
    /// As `storage_format` calls it.
    storage_format: &'static str,
    /// Whether numbers take as few bytes as they need, and strings have codes, in memory as well.
    compresses_tuples: bool,
}

impl PageScenario {
    const fn of_paper(name: &'static str, storage_format: &'static str) -> Self {
        Self {
            name,
            storage_format,
            compresses_tuples: false,
        }
    }

    /// Pages as they are in memory.
    pub(crate) const ROWS: Self = Self::of_paper("rows", "none");

    /// Quire's own format, as it has rows by default.
    pub(crate) const PACKED_TUPLES: Self = Self {
        name: PACKED_TUPLES,
        storage_format: "packed",
        compresses_tuples: true,
    };

    /// The six of the paper, and Quire's own.
    pub(crate) const ALL: [Self; 8] = [
        Self::ROWS,
        Self::of_paper("r2c", "r2c"),
        Self::of_paper("rlt", "rlt"),
        Self::of_paper("clt", "clt"),
        Self::of_paper("xor", "xor"),
        Self::of_paper("xor_rlt", "xor_rlt"),
        Self::of_paper("packed", "packed"),
        Self::PACKED_TUPLES,
    ];
}

/// Where a database is, and what compresses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EvaluatedStorage {
    /// Whole pages that no codec has compressed, on a drive that compresses each block of 4 KiB with this one.
    Drive(BlockCodecId),
    /// Images of pages, compressed with this codec and of any length, in a file.
    Images(BlockCodecId),
}

impl EvaluatedStorage {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Drive(codec) => format!("{} drive", codec_name(codec)),
            Self::Images(codec) => format!("Quire's images, {}", codec_name(codec)),
        }
    }
}

/// As the paper writes it.
pub(crate) fn codec_name(codec: BlockCodecId) -> &'static str {
    match codec {
        BlockCodecId::Lz4 => "LZ4",
        other => other.name(),
    }
}

/// The codecs of the paper's figure.
pub(crate) const CODECS: [BlockCodecId; 2] = [BlockCodecId::Lz4, BlockCodecId::Zlib];

/// In which order the keys of the rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyOrder {
    Random,
    Ascending,
}

/// One database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EvaluatedDatabase {
    pub(crate) storage: EvaluatedStorage,
    pub(crate) scenario: PageScenario,
    pub(crate) order: KeyOrder,
}

impl EvaluatedDatabase {
    /// All that figure 11 needs.
    pub(crate) fn all() -> Vec<Self> {
        let mut databases = Vec::new();
        for codec in CODECS {
            for scenario in PageScenario::ALL {
                databases.push(Self::at_random(EvaluatedStorage::Drive(codec), scenario));
            }
        }
        databases.push(Self {
            order: KeyOrder::Ascending,
            ..Self::at_random(
                EvaluatedStorage::Drive(BlockCodecId::Zlib),
                PageScenario::ROWS,
            )
        });
        for codec in CODECS {
            for scenario in [PageScenario::ROWS, PageScenario::PACKED_TUPLES] {
                databases.push(Self::at_random(EvaluatedStorage::Images(codec), scenario));
            }
        }
        databases
    }

    pub(crate) const fn at_random(storage: EvaluatedStorage, scenario: PageScenario) -> Self {
        Self {
            storage,
            scenario,
            order: KeyOrder::Random,
        }
    }

    pub(crate) fn name(&self) -> String {
        let order = match self.order {
            KeyOrder::Random => "",
            KeyOrder::Ascending => ", in order",
        };
        format!("{}, {}{order}", self.storage.name(), self.scenario.name)
    }

    /// What the table is made `WITH`.
    pub(crate) fn table_options(&self) -> String {
        let PageScenario {
            storage_format,
            compresses_tuples,
            ..
        } = self.scenario;
        let compression = if compresses_tuples { "auto" } else { "none" };
        let (page_codec, target) = match self.storage {
            EvaluatedStorage::Drive(_) => (BlockCodecId::None, PAGE_BYTES),
            EvaluatedStorage::Images(codec) => (codec, 0),
        };
        format!(
            "page_size = {PAGE_BYTES}, page_codec = {page_codec}, page_target_bytes = {target}, storage_format = {storage_format}, compression = {compression}"
        )
    }
}
