//! Which codecs are compared.

/// A codec of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ComparedCodec {
    /// As figures name it.
    pub(crate) name: &'static str,
    /// As a device names it.
    pub(crate) typed: &'static str,
    /// Its index in the paper's tables, behind the one without compression; `None` where the paper does not have it.
    pub(crate) paper_index: Option<usize>,
}

/// Without compression, which all are compared with.
pub(crate) const BASE: ComparedCodec = ComparedCodec {
    name: "none",
    typed: "off",
    paper_index: None,
};

/// The paper's three, and two beside them. The paper leaves gzip out for what its processor time did in an earlier study (§2.2).
pub(crate) const COMPARED: [ComparedCodec; 5] = [
    ComparedCodec {
        name: "ZLE",
        typed: "zle",
        paper_index: Some(0),
    },
    ComparedCodec {
        name: "LZJB",
        typed: "lzjb",
        paper_index: Some(1),
    },
    ComparedCodec {
        name: "LZ4",
        typed: "lz4",
        paper_index: Some(2),
    },
    ComparedCodec {
        name: "gzip-6",
        typed: "gzip-6",
        paper_index: None,
    },
    ComparedCodec {
        name: "zstd-3",
        typed: "zstd-3",
        paper_index: None,
    },
];

/// How many of [`COMPARED`], from the first on, the paper has.
pub(crate) const OF_PAPER: usize = 3;
