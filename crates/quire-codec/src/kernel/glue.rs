//! High and low parts of numbers put together, a vector at a time.

use super::dispatch;

dispatch! {
    /// Adds the low part to each high part; the two have no bit in common.
    pub(crate) fn add_low_i32(low: &[i32; 1024], high: &mut [i32; 1024])
        = |low: &[i32; 1024], high: &mut [i32; 1024]| {
            for (high, low) in high.iter_mut().zip(low) {
                *high |= low;
            }
        }
}
dispatch! {
    /// As for the narrower type.
    pub(crate) fn add_low_i64(low: &[i64; 1024], high: &mut [i64; 1024])
        = |low: &[i64; 1024], high: &mut [i64; 1024]| {
            for (high, low) in high.iter_mut().zip(low) {
                *high |= low;
            }
        }
}
