//! Dictionary look-up of a whole vector.

use super::dispatch;

/// Writes `dictionary[code]` for each code. False, and nothing useful written, when a code is out of range.
#[inline(always)]
fn gather<T: Copy>(dictionary: &[T], codes: &[i32; 1024], out: &mut [T; 1024]) -> bool {
    let highest = codes
        .iter()
        .fold(0, |highest, &code| highest.max(code as u32));
    if highest as usize >= dictionary.len() {
        return false;
    }
    for (value, &code) in out.iter_mut().zip(codes) {
        // SAFETY: `code as u32 <= highest < dictionary.len()` by the check above.
        *value = unsafe { *dictionary.get_unchecked(code as u32 as usize) };
    }
    true
}

dispatch! {
    pub(crate) fn gather_i16(dictionary: &[i16], codes: &[i32; 1024], out: &mut [i16; 1024]) -> bool
        = gather::<i16>
}
dispatch! {
    pub(crate) fn gather_i32(dictionary: &[i32], codes: &[i32; 1024], out: &mut [i32; 1024]) -> bool
        = gather::<i32>
}
dispatch! {
    pub(crate) fn gather_i64(dictionary: &[i64], codes: &[i32; 1024], out: &mut [i64; 1024]) -> bool
        = gather::<i64>
}
dispatch! {
    pub(crate) fn gather_i128(dictionary: &[i128], codes: &[i32; 1024], out: &mut [i128; 1024]) -> bool
        = gather::<i128>
}
