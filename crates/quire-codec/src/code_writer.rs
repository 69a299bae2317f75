//! Words of a code, end to end, the highest bit of a byte first.

/// Appends words to bytes.
pub(crate) struct CodeWriter<'a> {
    out: &'a mut Vec<u8>,
    /// The bits not written yet, in the highest; zeros behind them.
    bits: u64,
    bit_count: u32,
}

impl<'a> CodeWriter<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            bits: 0,
            bit_count: 0,
        }
    }

    /// Appends the highest `bit_count` ≤ 32 bits of `word`; the others are 0.
    #[inline]
    pub(crate) fn push(&mut self, word: u64, bit_count: u32) {
        self.bits |= word >> self.bit_count;
        self.bit_count += bit_count;
        if self.bit_count >= u32::BITS {
            self.out
                .extend_from_slice(&((self.bits >> 32) as u32).to_be_bytes());
            self.bits <<= u32::BITS;
            self.bit_count -= u32::BITS;
        }
    }

    /// Fills the last byte with zeros.
    pub(crate) fn finish_with_zeros(self) {
        let bytes = self.bits.to_be_bytes();
        let byte_count = self.bit_count.div_ceil(8) as usize;
        self.out.extend(bytes.iter().take(byte_count));
    }

    /// Fills the last byte with ones.
    pub(crate) fn finish_with_ones(mut self) {
        // There are fewer than 32 bits.
        self.bits |= u64::MAX >> self.bit_count;
        self.finish_with_zeros();
    }
}
