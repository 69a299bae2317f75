//! Numbers as text, in words of eight characters whose first is the lowest byte.
//!
//! Text stands at the end of its words, as many characters as numbers of that kind can have, and is then moved
//! to the front by a shift, all in one: what the mask keeps is the text, the rest becomes the prefix.

use super::dispatch;

const EIGHT_ZEROS: u64 = 0x3030_3030_3030_3030;
const TEN_TO_8: u64 = 100_000_000;

/// Where text at the end of two words goes: `shift` < 64 bits down, and then only what `keep` has set; the other
/// bits are those of `prefix`. Lower word first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextPlacement {
    pub shift: u32,
    pub keep: [u64; 2],
    pub prefix: [u64; 2],
}

impl TextPlacement {
    /// Places text that is all in the second word: the first is then not written.
    #[inline(always)]
    fn place_short(&self, text: u64) -> u64 {
        text >> self.shift & self.keep[0] | self.prefix[0]
    }

    #[inline(always)]
    fn place(&self, low: u64, high: u64) -> [u64; 2] {
        // A shift by 64 bits in two steps, since one could not be that wide.
        let from_high = (high << 1) << (63 - self.shift);
        [
            (low >> self.shift | from_high) & self.keep[0] | self.prefix[0],
            high >> self.shift & self.keep[1] | self.prefix[1],
        ]
    }
}

/// The eight digits of a number below 10⁸, each a byte of 0 to 9, the first digit lowest.
#[inline(always)]
pub(crate) fn digits_of_8(number: u64) -> u64 {
    // Two numbers below 10⁴ in 32 bits each, then four below 100 in 16, then eight digits in 8. The products
    // are quotients by 10⁴, 100 and 10 in fixed point, exact for numbers so small.
    let thousands = (number * 3_518_437_209) >> 45;
    let halves = thousands | (number - thousands * 10_000) << 32;
    let hundreds = (halves * 10_486) >> 20 & 0x0000_007f_0000_007f;
    let quarters = hundreds | (halves - hundreds * 100) << 16;
    let tens = (quarters * 103) >> 10 & 0x000f_000f_000f_000f;
    tens | (quarters - tens * 10) << 8
}

#[inline(always)]
fn decimal(number: u64) -> u64 {
    digits_of_8(number) | EIGHT_ZEROS
}

/// Eight hexadecimal digits of a number below 2³²; `gap` lies between the characters after 9 and those of
/// digits.
#[inline(always)]
fn hexadecimal(number: u64, gap: u64) -> u64 {
    let halves = (number >> 16 | number << 32) & 0x0000_ffff_0000_ffff;
    let quarters = (halves >> 8 | halves << 16) & 0x00ff_00ff_00ff_00ff;
    let digits = (quarters >> 4 | quarters << 8) & 0x0f0f_0f0f_0f0f_0f0f;
    let above_nine = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    digits + EIGHT_ZEROS + above_nine * gap
}

#[inline(always)]
fn decimals_short(numbers: &[u64], placement: &TextPlacement, low: &mut [u64]) {
    let placement = *placement;
    for (number, low) in numbers.iter().zip(low) {
        *low = placement.place_short(decimal(*number));
    }
}

#[inline(always)]
fn decimals_long(numbers: &[u64], placement: &TextPlacement, low: &mut [u64], high: &mut [u64]) {
    let placement = *placement;
    for ((number, low), high) in numbers.iter().zip(low.iter_mut()).zip(high.iter_mut()) {
        *low = number / TEN_TO_8;
        *high = number % TEN_TO_8;
    }
    for (low, high) in low.iter_mut().zip(high).take(numbers.len()) {
        [*low, *high] = placement.place(decimal(*low), decimal(*high));
    }
}

#[inline(always)]
fn hexadecimals_short(numbers: &[u64], gap: u64, placement: &TextPlacement, low: &mut [u64]) {
    let placement = *placement;
    for (number, low) in numbers.iter().zip(low) {
        *low = placement.place_short(hexadecimal(*number, gap));
    }
}

#[inline(always)]
fn hexadecimals_long(
    numbers: &[u64],
    gap: u64,
    placement: &TextPlacement,
    low: &mut [u64],
    high: &mut [u64],
) {
    let placement = *placement;
    for ((number, low), high) in numbers.iter().zip(low).zip(high) {
        let text = [number >> 32, number & 0xffff_ffff].map(|half| hexadecimal(half, gap));
        [*low, *high] = placement.place(text[0], text[1]);
    }
}

/// Numbers below 10⁸ without leading zeros, after `prefix_bytes` of prefix.
#[inline(always)]
fn naturals_short(
    numbers: &[u64],
    prefix_bytes: u32,
    prefix: u64,
    low: &mut [u64],
    lengths: &mut [u8],
) {
    for ((number, low), length) in numbers.iter().zip(low).zip(lengths) {
        let mut digits = 1;
        let mut power = 10;
        for _ in 1..8 {
            digits += u64::from(*number >= power);
            power *= 10;
        }
        let text = decimal(*number) >> (64 - 8 * digits);
        *low = text << (8 * prefix_bytes) | prefix;
        *length = (u64::from(prefix_bytes) + digits) as u8;
    }
}

dispatch! {
    /// Digits of numbers below 10⁸, placed from the end of one word.
    pub(crate) fn place_decimals_short(numbers: &[u64], placement: &TextPlacement, low: &mut [u64])
        = decimals_short
}
dispatch! {
    /// Digits of numbers below 10¹⁶, placed from the end of two words.
    pub(crate) fn place_decimals_long(
        numbers: &[u64],
        placement: &TextPlacement,
        low: &mut [u64],
        high: &mut [u64],
    ) = decimals_long
}
dispatch! {
    /// Hexadecimal digits of numbers below 2³², placed from the end of one word.
    pub(crate) fn place_hexadecimals_short(
        numbers: &[u64],
        gap: u64,
        placement: &TextPlacement,
        low: &mut [u64],
    ) = hexadecimals_short
}
dispatch! {
    /// Hexadecimal digits of any numbers, placed from the end of two words.
    pub(crate) fn place_hexadecimals_long(
        numbers: &[u64],
        gap: u64,
        placement: &TextPlacement,
        low: &mut [u64],
        high: &mut [u64],
    ) = hexadecimals_long
}
dispatch! {
    /// Numbers below 10⁸ without leading zeros after a prefix; together they must fit a word.
    pub(crate) fn place_naturals_short(
        numbers: &[u64],
        prefix_bytes: u32,
        prefix: u64,
        low: &mut [u64],
        lengths: &mut [u8],
    ) = naturals_short
}
