//! A trained code: intervals, and the code of each.

use super::intervals::{Intervals, SYMBOL_BYTES_MAX};

/// Bits of the longest code.
pub(super) const CODE_BITS_MAX: u32 = 24;
/// First bits of a code that are looked up at once.
const LOOKUP_BITS: u32 = 12;

/// An interval as it is written and read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    /// The bytes of the symbol, zeros after them.
    pub(super) text: [u8; SYMBOL_BYTES_MAX],
    /// The code in the highest of [`CODE_BITS_MAX`] bits.
    pub(super) code: u32,
    pub(super) code_bits: u8,
    pub(super) symbol_bytes: u8,
}

/// A code for byte strings that keeps their order: encoded keys compare, byte by byte, as the strings do.
///
/// ```
/// use quire_codec::ordered::OrderedCode;
///
/// let names: Vec<String> = (0..500).map(|i| format!("Customer#{i:09}")).collect();
/// let code = OrderedCode::train(names.iter().map(|name| name.as_bytes()), 256);
/// let key = |name: &str| {
///     let mut key = Vec::new();
///     code.encode(name.as_bytes(), &mut key);
///     key
/// };
/// assert!(key("Customer#000000017") < key("Customer#000000018"));
/// assert!(key("Customer") < key("Customer#000000017") && key("Zoe") > key("Customer#000000017"));
/// assert!(key("Customer#000000017").len() < 9);
/// assert!(code.prefix_range(b"Customer#0000000").contains(&key("Customer#000000017")));
///
/// let read = OrderedCode::from_bytes(&code.to_bytes())?;
/// let mut name = Vec::new();
/// read.decode(&key("Customer#000000017"), &mut name)?;
/// assert_eq!(name, b"Customer#000000017");
/// # Ok::<(), quire_codec::Corrupt>(())
/// ```
#[derive(Clone, Debug)]
pub struct OrderedCode {
    pub(super) intervals: Intervals,
    pub(super) leaves: Vec<Leaf>,
    /// For each beginning of a code, the last interval whose code is no greater; one more for the end.
    by_code: Vec<u16>,
}

impl OrderedCode {
    /// Gives out codes of lengths that [`check`] accepts, one for each interval.
    pub(super) fn new(intervals: Intervals, lengths: &[u8]) -> Self {
        let mut code = first_code(lengths);
        let mut leaves = Vec::with_capacity(lengths.len());
        for (symbol, &code_bits) in intervals.symbols().iter().zip(lengths) {
            leaves.push(Leaf {
                text: symbol.bytes(),
                code,
                code_bits,
                symbol_bytes: symbol.length,
            });
            code += width(code_bits);
        }
        let by_code = by_code(&leaves);
        Self {
            intervals,
            leaves,
            by_code,
        }
    }

    /// Bytes of memory that the tables take.
    pub fn table_bytes(&self) -> usize {
        self.leaves.len() * (size_of::<Leaf>() + 24) + 2 * ((1 << 16) + (1 << LOOKUP_BITS))
    }

    /// The interval of the code that these bits start with; none below the first.
    #[inline]
    pub(super) fn leaf_of_code(&self, bits: u32) -> Option<&Leaf> {
        let beginning = (bits >> (CODE_BITS_MAX - LOOKUP_BITS)) as usize;
        let first = usize::from(*self.by_code.get(beginning)?);
        let last = usize::from(*self.by_code.get(beginning + 1)?);
        let later = self.leaves.get(first + 1..=last)?;
        let leaf = self
            .leaves
            .get(first + later.partition_point(|leaf| leaf.code <= bits))?;
        (leaf.code <= bits).then_some(leaf)
    }
}

/// Codes of [`CODE_BITS_MAX`] bits that start with a code of `length` bits.
fn width(length: u8) -> u32 {
    1 << (CODE_BITS_MAX - u32::from(length))
}

/// Codes are given out in ascending order up to the last there is: the first is what is left.
fn first_code(lengths: &[u8]) -> u32 {
    lengths
        .iter()
        .fold(1 << CODE_BITS_MAX, |left: u32, &length| {
            left.saturating_sub(width(length))
        })
}

/// Whether codes of these lengths can be given out in ascending order, none being the beginning of another and none
/// consisting of zeros.
pub(super) fn check(lengths: &[u8]) -> Result<(), &'static str> {
    let known = 1..=CODE_BITS_MAX as u8;
    if !lengths.iter().all(|length| known.contains(length)) {
        return Err("ordered code has a code that is not of 1 to 24 bits");
    }
    let mut code = first_code(lengths);
    if code == 0 {
        return Err("ordered code has more codes than there are");
    }
    for &length in lengths {
        if !code.is_multiple_of(width(length)) {
            return Err("ordered code has a code that starts within another");
        }
        code += width(length);
    }
    Ok(())
}

fn by_code(leaves: &[Leaf]) -> Vec<u16> {
    let mut interval = 0;
    let mut table = Vec::with_capacity((1 << LOOKUP_BITS) + 1);
    for beginning in 0..=1u32 << LOOKUP_BITS {
        let bits = beginning << (CODE_BITS_MAX - LOOKUP_BITS);
        while leaves
            .get(interval + 1)
            .is_some_and(|leaf| leaf.code <= bits)
        {
            interval += 1;
        }
        table.push(interval as u16);
    }
    table
}
