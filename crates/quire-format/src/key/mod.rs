//! Keys whose bytes compare as their values do.
//!
//! The columns of a key follow each other. Bytes are compared as numbers from 0 to 255, the first that differs decides, and
//! a key that ends is before one that goes on. What is in a column, ascending:
//!
//! | type | bytes | in their order |
//! |---|---|---|
//! | `Bool` | 1 | 01 false, 02 true |
//! | integers, `Date`, `Timestamp`, decimals | 1 | 11 to 30: -32 to -1; 31 to EE: 0 to 189 |
//! | | 2 to 17 | 01 to 10: negative, and 16 to 1 more bytes; EF to FE: positive, and 1 to 16 more bytes. These are the low bytes of the number in two's complement, highest first, without those that all numbers of the class share |
//! | `Float32`, `Float64` | 4, 8 | the number highest byte first; of negative numbers all bits inverted, of others the sign bit |
//! | `Text`, `Bytes` | each byte, and the end | 01 is the end; 02 01, 02 02, 02 03 are the bytes 00, 01, 02; FE 01, FE 02 are FE, FF; all other bytes are themselves |
//! | NULL | 1; of floats 2 | 00 first or FF last; of floats 00 00 or FF FF |
//!
//! Descending, all bits of a value are inverted. Those of NULL are not, so that `NULLS FIRST` is first in both orders. No value of
//! any type, inverted or not, starts as NULL does, so NULL costs nothing where it is not, and UTF-8 has no byte that takes two
//! but the characters U+0000 to U+0002.
//!
//! All numbers of up to 16 bytes have one form. So a column can grow from `SMALLINT` to `DECIMAL` and its keys stay.
//!
//! No value's bytes are the beginning of another's of the same column, so a column ends by itself, whatever follows. One
//! exception: an ascending string in the last column has no end mark, since the key's end is one; unless NULL may be before
//! it, which an empty string without mark would precede.
//!
//! A column of strings can have a code that keeps their order ([`KeyCode`]): what it makes of a string then stands in the key in place of
//! the string. It is part of the layout, not of the key. Ranges and prefixes are those of the strings.
//!
//! Strings compare by their bytes. In floats, -0.0 is 0.0, and all NaNs are one NaN above all numbers, as in PostgreSQL:
//! a key gives back 0.0 and the positive quiet NaN ([`KeyColumn::is_exact`]).

mod code;
mod decode;
mod layout;
mod number;
mod text;

pub use code::KeyCode;
pub use layout::{KeyColumn, KeyLayout, successor};
