//! `numeric` in the server's binary form: digits of base 10,000 (PostgreSQL's `numeric_send`).

/// 10,000 is 10 to this power.
const DIGIT_DECIMALS: i32 = 4;
const NEGATIVE: u16 = 0x4000;
const NOT_A_NUMBER: u16 = 0xc000;
const INFINITY: u16 = 0xd000;
const MINUS_INFINITY: u16 = 0xf000;

/// What a decimal cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumericProblem {
    NotANumber,
    Infinity,
    /// More digits than the column has.
    TooLarge,
    /// Bytes that are no `numeric`.
    WrongBytes,
}

/// The number in units of 10^-scale, with at most `precision` digits, exactly.
pub(super) fn decimal(bytes: &[u8], precision: u8, scale: u8) -> Result<i128, NumericProblem> {
    let mut words = bytes
        .chunks_exact(2)
        .map(|word| u16::from_be_bytes([word[0], word[1]]));
    let mut next = || words.next().ok_or(NumericProblem::WrongBytes);
    let (digit_count, weight, sign, _shown_scale) = (next()?, next()? as i16, next()?, next()?);
    match sign {
        0 | NEGATIVE => {}
        NOT_A_NUMBER => return Err(NumericProblem::NotANumber),
        INFINITY | MINUS_INFINITY => return Err(NumericProblem::Infinity),
        _ => return Err(NumericProblem::WrongBytes),
    }
    if bytes.len() != 8 + 2 * usize::from(digit_count) {
        return Err(NumericProblem::WrongBytes);
    }
    let mut sum = 0i128;
    for (place, digit) in (0i32..).zip(words) {
        if digit >= 10_000 {
            return Err(NumericProblem::WrongBytes);
        }
        let exponent = (i32::from(weight) - place) * DIGIT_DECIMALS + i32::from(scale);
        let units = shifted(i128::from(digit), exponent).ok_or(NumericProblem::TooLarge)?;
        sum = sum.checked_add(units).ok_or(NumericProblem::TooLarge)?;
    }
    if sum >= 10i128.pow(u32::from(precision.min(38))) {
        return Err(NumericProblem::TooLarge);
    }
    Ok(if sign == NEGATIVE { -sum } else { sum })
}

/// `digit` times a power of ten, if that is a whole number of 128 bits.
fn shifted(digit: i128, exponent: i32) -> Option<i128> {
    if digit == 0 {
        return Some(0);
    }
    let power = 10i128.checked_pow(exponent.unsigned_abs())?;
    if exponent >= 0 {
        digit.checked_mul(power)
    } else {
        (digit % power == 0).then(|| digit / power)
    }
}

#[cfg(test)]
mod tests {
    use super::{NumericProblem, decimal};

    fn bytes(words: &[i32]) -> Vec<u8> {
        words
            .iter()
            .flat_map(|&word| (word as u16).to_be_bytes())
            .collect()
    }

    // By the rules of numeric_send: count of digits, weight of the first, sign, decimals shown, digits. 12.34 is 12 and 0.3400.
    #[test]
    fn digits_are_summed_by_weight() {
        assert_eq!(decimal(&bytes(&[0, 0, 0, 2]), 10, 2), Ok(0));
        assert_eq!(decimal(&bytes(&[2, 0, 0, 2, 12, 3400]), 10, 2), Ok(1234));
        assert_eq!(
            decimal(&bytes(&[2, 0, 0x4000, 2, 12, 3400]), 10, 4),
            Ok(-123_400)
        );
        assert_eq!(decimal(&bytes(&[1, 1, 0, 0, 5]), 10, 0), Ok(50_000));
        assert_eq!(decimal(&bytes(&[1, -2, 0, 8, 7]), 10, 8), Ok(7));
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        assert_eq!(
            decimal(&bytes(&[0, 0, 0xc000, 0]), 10, 2),
            Err(NumericProblem::NotANumber)
        );
        assert_eq!(
            decimal(&bytes(&[0, 0, 0xd000, 0]), 10, 2),
            Err(NumericProblem::Infinity)
        );
        assert_eq!(
            decimal(&bytes(&[0, 0, 0xf000, 0]), 10, 2),
            Err(NumericProblem::Infinity)
        );
        assert_eq!(
            decimal(&bytes(&[2, 0, 0, 4, 12, 3456]), 10, 2),
            Err(NumericProblem::TooLarge)
        );
        assert_eq!(
            decimal(&bytes(&[1, 100, 0, 0, 5]), 38, 0),
            Err(NumericProblem::TooLarge)
        );
        assert_eq!(
            decimal(&bytes(&[1, 0x7fff, 0, 0, 5]), 38, 0),
            Err(NumericProblem::TooLarge)
        );
        assert_eq!(
            decimal(&bytes(&[1, 0, 0, 0, 10_000]), 10, 0),
            Err(NumericProblem::WrongBytes)
        );
        assert_eq!(
            decimal(&bytes(&[2, 0, 0, 0, 1]), 10, 0),
            Err(NumericProblem::WrongBytes)
        );
        assert_eq!(decimal(&[0, 1, 0], 10, 0), Err(NumericProblem::WrongBytes));
        assert_eq!(
            decimal(&[0, 0, 0, 0, 0, 0, 0, 0, 1], 10, 0),
            Err(NumericProblem::WrongBytes)
        );
    }
}
