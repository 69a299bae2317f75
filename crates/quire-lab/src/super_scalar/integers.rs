//! The integers of each width as words: the routine that packs codes of each number of bits.

use super::bit_pack;
use super::word::{Integer, UnsignedWord, sealed};

macro_rules! integer {
    ($type:ty, $bits:ty, $id:literal) => {
        impl sealed::SealedWord for $type {}
        impl Integer for $type {
            type Bits = $bits;
            const TYPE_ID: u8 = $id;
            #[inline]
            fn bits(self) -> $bits {
                self as $bits
            }
            #[inline]
            fn from_bits(bits: $bits) -> Self {
                bits as $type
            }
            #[inline]
            fn as_bits(values: &[Self]) -> &[$bits] {
                bytemuck::cast_slice(values)
            }
            #[inline]
            fn as_bits_mut(values: &mut [Self]) -> &mut [$bits] {
                bytemuck::cast_slice_mut(values)
            }
        }
    };
}
integer!(i8, u8, 1);
integer!(u8, u8, 2);
integer!(i16, u16, 3);
integer!(u16, u16, 4);
integer!(i32, u32, 5);
integer!(u32, u32, 6);
integer!(i64, u64, 7);
integer!(u64, u64, 8);

macro_rules! word {
    ($type:ty: $($width:literal)*) => {
        impl UnsignedWord for $type {
            const BITS: usize = <$type>::BITS as usize;
            const BYTES: usize = size_of::<$type>();
            #[inline]
            fn wide(self) -> u64 {
                u64::from(self)
            }
            #[inline]
            fn truncate(bits: u64) -> Self {
                bits as $type
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn flip_sign(self) -> Self {
                self ^ (1 << (<$type>::BITS - 1))
            }
            #[inline]
            fn index(self) -> usize {
                self.wide().min(1 << 31) as usize
            }
            #[inline]
            fn read(bytes: &[u8]) -> Self {
                bytes
                    .try_into()
                    .map(<$type>::from_le_bytes)
                    .unwrap_or_default()
            }
            #[inline]
            fn append(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn pack(width: usize, codes: &[Self], packed: &mut [u8]) {
                match width {
                    $($width => bit_pack::pack::<$type, $width>(codes, packed),)*
                    wider => debug_assert!(false, "no code of this type has {wider} bits"),
                }
            }
            #[inline]
            fn unpack(width: usize, packed: &[u8], codes: &mut [Self]) {
                match width {
                    $($width => bit_pack::unpack::<$type, $width>(packed, codes),)*
                    wider => debug_assert!(false, "no code of this type has {wider} bits"),
                }
            }
        }
    };
}
word!(u8: 0 1 2 3 4 5 6 7 8);
word!(u16: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
word!(u32:
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
);
word!(u64:
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33
    34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    64
);
