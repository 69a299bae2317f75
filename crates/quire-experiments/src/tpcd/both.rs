//! Pairs: what is compressed, and what is not.

/// A pair of values: compressed, uncompressed.
pub(crate) type Both<T> = [T; 2];

/// What the two are called.
pub(crate) const NAMES: Both<&str> = ["compressed", "uncompressed"];

/// The first for 0, else the second.
pub(crate) fn pick<T: Copy>(both: &Both<T>, at: usize) -> T {
    let [compressed, plain] = *both;
    match at {
        0 => compressed,
        _ => plain,
    }
}
