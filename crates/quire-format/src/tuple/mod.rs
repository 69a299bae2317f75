//! The tuple of a row: five parts, compressed field by field (paper 1 §3.3.1).
//!
//! | part | bytes | holds |
//! |---|---|---|
//! | 1 | the bits in use, rounded up | codes of fixed width, the first in the lowest bits, without gaps: dictionary codes, booleans, marks of NULL |
//! | 2 | one for each length byte | the length codes of part 4, as [`quire_codec::field`] packs them |
//! | 3 | the sum of its fields | what is not compressed, little endian and not aligned; of strings that are not compressed, the length in 4 bytes |
//! | 4 | as part 2 says | null-suppressed values, and null-suppressed lengths of strings |
//! | 5 | as the lengths say | the strings, without gaps; behind them those that padded columns have no room for, each with its length in 4 bytes before it |
//!
//! The parts follow each other. Within a part, columns keep their order, but part 4 has another where that saves a
//! length byte. Parts 1 to 3 have the same size in all tuples of a table, and an empty part takes no bytes: a table that
//! compresses nothing has parts 3 and 5, and part 1 when it has nullable columns.
//!
//! # What a column takes
//!
//! | type | as it is | null-suppressed (bits of length code; one more if nullable) | NULL |
//! |---|---|---|---|
//! | `Bool` | 1 byte: 0 or 1 | a bit of part 1 | a bit of part 1 |
//! | `Int16` | 2 | 1 to 2 (1) | a bit of part 1; compressed, no bytes |
//! | `Int32`, `Date` | 4 | 1 to 4 (2) | the same |
//! | `Int64`, `Timestamp` | 8 | 1 to 8 (3) | the same |
//! | `Int128` of up to 4, 9, 18 digits | 8 | as `Int16`, `Int32`, `Int64` | the same |
//! | `Int128` of more digits | 16 | 1 to 16 (4) | the same |
//! | `Float32` | 4 | as it is | a bit of part 1 |
//! | `Float64` | 8 | 4 or 8 (1) | as `Int16` |
//! | `Text`, `Bytes` | 4 and the string | 1 to 4 (2) and the string | the same; no string |
//! | `Text`, padded to n bytes | n: the string and blanks | | a bit of part 1 |
//! | any, with a dictionary | | its bits, in part 1 | code 0 |
//! | `Text`, with a table of string codes | | a bit of part 1; 1 to 4 (2), and the string or, if the bit is set, its codes | the same; no string |
//! | any but `Bool` and `Float32`, with an open dictionary | | its bits, in part 1; without a code as above, nullable | code 0, and as above |
//!
//! The place in part 3 of a value that is NULL holds zeros, which are not read.
//!
//! A padded field has FF and zeros if its string is behind part 5: where it is longer, begins with FF or ends with a blank.
//!
//! String codes ([`quire_codec::text::StringCodes`]: those of an FSST table, or of a Huffman code) are stored where they are fewer than
//! the bytes of the string, and read as [`TupleValue::Coded`]: a string is decoded, and its codes checked, by whoever wants its bytes. A
//! string that begins with FF, which no UTF-8 does, is stored as it is.
//!
//! # Tables that change
//!
//! A tuple has no version. After `ALTER TABLE ADD COLUMN` ([`TupleLayout::extended`]) a new tuple has the five parts of the
//! columns that were there, then the five parts of the added ones. Where the first end follows from the tuple itself,
//! and how long a tuple is, the page knows. So an old tuple is recognized by its end, and reads as the value that is given
//! for rows older than the column. Old tuples stay as they are, tables that are never altered pay nothing, and a
//! tuple is understood wherever it is: in a page, in the log, in the version chain of a transaction. A number of the
//! layout in each tuple would cost a byte of every row for ever; one in the page would do so only for the page, but every
//! copy of a tuple outside it would need one, and the first write after the change would rewrite the page.
//! A column that is dropped stays in the layout until the table is rewritten.

mod access;
mod column;
mod decode;
mod dictionary;
mod encode;
mod layout;
mod padded;
mod section;
mod value;

pub use access::{ColumnAccess, SuppressedPlace, ValuePlace};
pub use column::{LayoutError, TupleColumn, TupleCompression};
pub use dictionary::{CODE_BITS_MAX, DictionaryError, TupleDictionary};
pub use layout::TupleLayout;
pub use value::{TupleType, TupleValue, ValueError};
