//! Which transform? Measured on a sample; where the sizes say little, the paper's rule decides.
//!
//! The rule (§III-1, §III-2 and the findings of §IV-A2): codecs that only search for repeated strings gain from
//! bringing equal bytes together, so RLT comes before XOR; codecs with entropy coding gain from making bytes
//! zero, so XOR comes before RLT. For both, CLT is best and XOR+RLT second. XOR+CLT is named and not measured there; among
//! equals it follows CLT, which takes less time.

use super::{Transform, TransformError, TransformPageShape, to_storage};

/// What a block codec does after, or instead of, searching for repeated strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodecFamily {
    /// Repeated strings only: LZ4, LZJB, ZLE.
    LzOnly,
    /// Repeated strings and entropy coding: zlib, zstd.
    LzEntropy,
}

impl CodecFamily {
    /// The transforms in the order of the paper's findings for this family, best first.
    pub const fn preference(self) -> [Transform; Transform::ALL.len()] {
        use Transform::{Clt, R2c, Rlt, Rows, Xor, XorClt, XorRlt};
        match self {
            Self::LzOnly => [Clt, XorClt, XorRlt, Rlt, Xor, R2c, Rows],
            Self::LzEntropy => [Clt, XorClt, XorRlt, Xor, Rlt, R2c, Rows],
        }
    }
}

/// Rows stay rows unless a transform saves one part in so many of their compressed size.
const GAIN_PARTS: usize = 64;

/// Sizes within one part in so many of the smallest are equal as far as a sample can tell.
const TIE_PARTS: usize = 128;

/// The chosen transform, and what it was chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransformChoice {
    /// The transform to use for pages like those of the sample.
    pub transform: Transform,
    /// Compressed bytes of the whole sample under each transform, in the order of [`Transform::ALL`].
    pub compressed_bytes: [usize; Transform::ALL.len()],
}

/// The size of `transform` among those of [`Transform::ALL`].
fn size_of(sizes: &[usize; Transform::ALL.len()], transform: Transform) -> usize {
    let mut all = Transform::ALL.into_iter().zip(sizes);
    all.find(|(one, _)| *one == transform)
        .map_or(usize::MAX, |(_, size)| *size)
}

/// Chooses the transform for pages like those of the sample, given what a codec of `family` makes of an image.
/// The same sample and codec give the same choice.
///
/// # Errors
///
/// A shape does not fit its page.
pub fn choose(
    sample: &[(TransformPageShape<'_>, &[u8])],
    family: CodecFamily,
    mut compressed_bytes: impl FnMut(&[u8]) -> usize,
) -> Result<TransformChoice, TransformError> {
    let mut sizes = [0usize; Transform::ALL.len()];
    let mut image = Vec::new();
    for &(shape, page) in sample {
        image.resize(page.len(), 0);
        for (transform, size) in Transform::ALL.into_iter().zip(&mut sizes) {
            to_storage(transform, shape, page, &mut image)?;
            *size = size.saturating_add(compressed_bytes(&image));
        }
    }
    // A transform that does nothing to these columns is another one by a longer name.
    let distinguishes = |transform| {
        sample
            .iter()
            .any(|(shape, _)| shape.layout.distinguishes(transform))
    };
    Ok(TransformChoice {
        transform: choose_by_sizes(&sizes, family, distinguishes),
        compressed_bytes: sizes,
    })
}

/// The same for a sample that somebody else has compressed: `sizes` are the bytes of all of it under each transform, in the order of
/// [`Transform::ALL`]. `distinguishes` tells whether a transform does to these columns what no simpler one does
/// ([`TransformRowLayout::distinguishes`](super::TransformRowLayout::distinguishes)).
///
/// ```
/// use quire_codec::transform::{CodecFamily, Transform, choose_by_sizes};
///
/// // RLT and XOR are as good as each other, CLT does nothing that RLT does not.
/// let sizes = [1000, 990, 700, 700, 701, 900, 900];
/// let choose = |family| choose_by_sizes(&sizes, family, |transform| transform != Transform::Clt);
/// assert_eq!(choose(CodecFamily::LzOnly), Transform::Rlt);
/// assert_eq!(choose(CodecFamily::LzEntropy), Transform::Xor);
/// ```
pub fn choose_by_sizes(
    sizes: &[usize; Transform::ALL.len()],
    family: CodecFamily,
    distinguishes: impl Fn(Transform) -> bool,
) -> Transform {
    let rows = size_of(sizes, Transform::Rows);
    let smallest = sizes.iter().copied().min().unwrap_or(rows);
    if rows - smallest < rows.div_ceil(GAIN_PARTS).max(1) {
        return Transform::Rows;
    }
    let near = |transform| size_of(sizes, transform) - smallest <= smallest / TIE_PARTS;
    family
        .preference()
        .into_iter()
        .find(|&transform| near(transform) && distinguishes(transform))
        .unwrap_or(Transform::Rows)
}
