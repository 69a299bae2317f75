//! The ways in which the values of a leaf can lie in its image.

use quire_codec::transform::Transform;

/// How the values of a leaf lie in its image. The numbers are stored and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PageTransform {
    /// As rows (0), or by columns as the paper has them (1 to 5, 8).
    Columns(Transform),
    /// By columns, numbers in as many bits as their range needs (6).
    Packed,
    /// The same, and strings of few different bytes in as many bits as their alphabets need (7).
    PackedText,
}

impl PageTransform {
    /// As rows.
    pub const ROWS: Self = Self::Columns(Transform::Rows);

    /// Every transform: those of [`Transform::ALL`] in its order, and then those that take longer.
    pub const ALL: [Self; 9] = [
        Self::ROWS,
        Self::Columns(Transform::R2c),
        Self::Columns(Transform::Rlt),
        Self::Columns(Transform::Clt),
        Self::Columns(Transform::Xor),
        Self::Columns(Transform::XorRlt),
        Self::Columns(Transform::XorClt),
        Self::Packed,
        Self::PackedText,
    ];

    /// The stored number.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Columns(transform) => transform as u8,
            Self::Packed => 6,
            Self::PackedText => 7,
        }
    }

    /// The transform a stored number stands for.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.number() == number)
    }

    /// Name, as written in SQL (`storage_format = 'xor_rlt'`).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Columns(transform) => transform.name(),
            Self::Packed => "packed",
            Self::PackedText => "packed_text",
        }
    }

    /// The transform of that name, in any letter case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|one| one.name().eq_ignore_ascii_case(name))
    }

    /// Whether an image has packed columns in front of what its block codec compresses.
    #[must_use]
    pub(super) const fn is_packed(self) -> bool {
        matches!(self, Self::Packed | Self::PackedText)
    }
}
