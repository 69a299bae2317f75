//! Columns of tuples, decoded where they are: as `quire_format::tuple` and `quire_codec::field` do it, for one place that is known.
//!
//! The caller has seen that a tuple has all its parts of fixed length, and that 16 bytes more can be read behind its end. So what is in the head
//! needs no check, and a value of part 4 the one that it ends within the tuple.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use quire_codec::field::FieldType;
use quire_exec::avm::{Operand, Tuple};
use quire_format::tuple::{SuppressedPlace, TupleType, ValuePlace};

use super::{CHECKED, Emitter, FIXED, NullableValue};
use crate::outline::{AttributeColumn, attribute_of};
use crate::span::SPAN_BYTES;

/// A null-suppressed value: how many bytes it has, and 8 bytes from its first on.
struct Suppressed {
    bytes: Value,
    word: Value,
}

impl Emitter<'_, '_> {
    pub(super) fn attribute(&mut self, operand: Operand) -> NullableValue {
        let attribute = attribute_of(operand);
        let outline = self.outline;
        let Some(column) = outline.attributes.get(&attribute) else {
            let value = self.constant(types::I64, 0);
            return NullableValue { value, null: None };
        };
        let tuple = attribute.tuple;
        match &column.access.place {
            ValuePlace::Fixed {
                offset,
                bytes,
                null_bit,
            } => self.fixed(tuple, column, (*offset, *bytes), *null_bit),
            ValuePlace::Bit { bit, null_bit } => {
                let value = self.bits(tuple, *bit, 1);
                let null = null_bit.map(|bit| self.is_set(tuple, bit));
                NullableValue { value, null }
            }
            ValuePlace::Suppressed(place) => self.suppressed(tuple, column, place),
            ValuePlace::Coded {
                bit,
                width,
                entries,
                other,
            } => self.coded(tuple, column, (*bit, *width, entries), other),
        }
    }

    /// Address and bytes of a tuple.
    fn span(&mut self, tuple: Tuple) -> (Value, Value) {
        let tuples = &self.outline.tuples;
        let number = tuples.iter().position(|(known, _)| *known == tuple);
        let offset = (number.unwrap_or(0) * SPAN_BYTES) as i32;
        let address = self.fetch(types::I64, FIXED, self.spans, offset);
        let bytes = self.fetch(types::I64, FIXED, self.spans, offset + 8);
        (address, bytes)
    }

    /// Some bits of part 1.
    fn bits(&mut self, tuple: Tuple, bit: usize, width: u32) -> Value {
        let (address, _) = self.span(tuple);
        let word = self.fetch(types::I32, FIXED, address, (bit / 8) as i32);
        let word = self.builder.ins().uextend(types::I64, word);
        let shift = self.constant(types::I64, (bit % 8) as i64);
        let word = self.builder.ins().ushr(word, shift);
        let mask = self.constant(types::I64, (1 << width) - 1);
        self.builder.ins().band(word, mask)
    }

    fn is_set(&mut self, tuple: Tuple, bit: usize) -> Value {
        let bits = self.bits(tuple, bit, 1);
        self.builder.ins().ireduce(types::I8, bits)
    }

    /// An uncompressed value.
    fn fixed(
        &mut self,
        tuple: Tuple,
        column: &AttributeColumn,
        (offset, bytes): (usize, usize),
        null_bit: Option<usize>,
    ) -> NullableValue {
        let null = null_bit.map(|bit| self.is_set(tuple, bit));
        let (address, _) = self.span(tuple);
        let offset = offset as i32;
        let of = match bytes {
            1 => types::I8,
            2 => types::I16,
            4 => types::I32,
            _ => types::I64,
        };
        let stored = self.fetch(of, FIXED, address, offset);
        let value = match (bytes, column.access.column_type) {
            (1, _) | (4, TupleType::Float32) => self.builder.ins().uextend(types::I64, stored),
            (2 | 4, _) => self.builder.ins().sextend(types::I64, stored),
            _ => stored,
        };
        let is_wrong = match bytes {
            1 => {
                let one = self.constant(types::I64, 1);
                let ins = self.builder.ins();
                Some(ins.icmp(IntCC::UnsignedGreaterThan, value, one))
            }
            16 => {
                let high = self.fetch(types::I64, FIXED, address, offset + 8);
                Some(self.is_large(value, high))
            }
            _ => None,
        };
        if let Some(is_wrong) = is_wrong {
            self.exit_if_value(is_wrong, null);
        }
        NullableValue { value, null }
    }

    /// Stops if a value is wrong, and not if it is NULL.
    fn exit_if_value(&mut self, is_wrong: Value, null: Option<Value>) {
        let Some(null) = null else {
            self.exit_if(is_wrong);
            return;
        };
        let zero = self.constant(types::I8, 0);
        let is_value = self.builder.ins().icmp(IntCC::Equal, null, zero);
        let is_wrong = self.builder.ins().band(is_wrong, is_value);
        self.exit_if(is_wrong);
    }

    /// The entry of a length byte in its decoding table.
    fn entry(&mut self, tuple: Tuple, place: &SuppressedPlace, number: usize) -> Value {
        let (address, _) = self.span(tuple);
        let code = self.fetch(types::I8, FIXED, address, (place.codes + number) as i32);
        let code = self.builder.ins().uextend(types::I64, code);
        let table = self.outline.tables.get(&(tuple, number));
        let table = table.map_or(0, |table| table.as_ptr() as i64);
        let table = self.constant(types::I64, table);
        let three = self.constant(types::I64, 3);
        let offset = self.builder.ins().ishl(code, three);
        let entry = self.builder.ins().iadd(table, offset);
        self.fetch(types::I64, FIXED, entry, 0)
    }

    /// Eight bits of an entry.
    fn end(&mut self, entry: Value, within: u8) -> Value {
        let shift = self.constant(types::I64, 8 * i64::from(within & 7));
        let shifted = self.builder.ins().ushr(entry, shift);
        let mask = self.constant(types::I64, 0xFF);
        self.builder.ins().band(shifted, mask)
    }

    /// Finds a value of part 4, and stops for the interpreter if its length bytes mean nothing or it is not within the tuple.
    fn find(
        &mut self,
        tuple: Tuple,
        column: &AttributeColumn,
        place: &SuppressedPlace,
    ) -> Suppressed {
        let mut before = self.constant(types::I64, 0);
        let mut all = before;
        let mut own = before;
        for number in 0..column.length_bytes {
            own = self.entry(tuple, place, number);
            all = match number {
                0 => own,
                _ => self.builder.ins().bor(all, own),
            };
            if number + 1 < column.length_bytes {
                let total = self.end(own, 7);
                before = match number {
                    0 => total,
                    _ => self.builder.ins().iadd(before, total),
                };
            }
        }
        let within = place.steps.within;
        let end = self.end(own, within);
        let offset = match within {
            0 => self.constant(types::I64, 0),
            _ => self.end(own, within - 1),
        };
        let bytes = self.builder.ins().isub(end, offset);
        let (address, tuple_bytes) = self.span(tuple);
        let head = self.constant(types::I64, column.access.head_bytes as i64);
        let room = self.builder.ins().isub(tuple_bytes, head);
        let last = self.builder.ins().iadd(before, end);
        let is_cut = self
            .builder
            .ins()
            .icmp(IntCC::UnsignedGreaterThan, last, room);
        let zero = self.constant(types::I64, 0);
        let is_corrupt = self.builder.ins().icmp(IntCC::SignedLessThan, all, zero);
        let is_wrong = self.builder.ins().bor(is_cut, is_corrupt);
        self.exit_if(is_wrong);
        let start = self.builder.ins().iadd(before, offset);
        let start = self.builder.ins().iadd(address, start);
        let word = self.fetch(types::I64, CHECKED, start, column.access.head_bytes as i32);
        Suppressed { bytes, word }
    }

    fn suppressed(
        &mut self,
        tuple: Tuple,
        column: &AttributeColumn,
        place: &SuppressedPlace,
    ) -> NullableValue {
        let found = self.find(tuple, column, place);
        let null = place.steps.field.nullable.then(|| {
            let zero = self.constant(types::I64, 0);
            self.builder.ins().icmp(IntCC::Equal, found.bytes, zero)
        });
        let value = match place.steps.field.field_type {
            FieldType::Double => self.double(&found),
            FieldType::Date { base_days } => {
                let days = self.extended(&found);
                let days = self.builder.ins().ireduce(types::I32, days);
                let base = self.constant(types::I32, base_days.into());
                let days = self.builder.ins().iadd(days, base);
                self.builder.ins().sextend(types::I64, days)
            }
            FieldType::Int128 => {
                let eight = self.constant(types::I64, 8);
                let ins = self.builder.ins();
                let is_large = ins.icmp(IntCC::UnsignedGreaterThan, found.bytes, eight);
                self.exit_if(is_large);
                self.extended(&found)
            }
            _ => self.extended(&found),
        };
        NullableValue { value, null }
    }

    /// The signed integer in the lowest bytes of a word.
    fn extended(&mut self, found: &Suppressed) -> Value {
        // Shifts count modulo 64, so no bytes need no case of their own: NULL is told apart elsewhere.
        let three = self.constant(types::I64, 3);
        let bits = self.builder.ins().ishl(found.bytes, three);
        let unused = self.builder.ins().ineg(bits);
        let shifted = self.builder.ins().ishl(found.word, unused);
        self.builder.ins().sshr(shifted, unused)
    }

    /// The bits of a double of 4 or 8 bytes. What is not a number in 4 bytes is the interpreter's: processors change its fraction.
    fn double(&mut self, found: &Suppressed) -> Value {
        let four = self.constant(types::I64, 4);
        let is_narrow = self.builder.ins().icmp(IntCC::Equal, found.bytes, four);
        let low = self.builder.ins().ireduce(types::I32, found.word);
        let flags = super::bit_flags();
        let narrow = self.builder.ins().bitcast(types::F32, flags, low);
        let is_nan = self.builder.ins().fcmp(FloatCC::Unordered, narrow, narrow);
        let is_wrong = self.builder.ins().band(is_nan, is_narrow);
        self.exit_if(is_wrong);
        let widened = self.builder.ins().fpromote(types::F64, narrow);
        let widened = self.builder.ins().bitcast(types::I64, flags, widened);
        self.builder.ins().select(is_narrow, widened, found.word)
    }

    /// A value of an open dictionary, or elsewhere.
    fn coded(
        &mut self,
        tuple: Tuple,
        column: &AttributeColumn,
        (bit, width, entries): (usize, u32, &[i64]),
        other: &SuppressedPlace,
    ) -> NullableValue {
        let code = self.bits(tuple, bit, width);
        let [has_code, has_none, after] = [(); 3].map(|()| self.builder.create_block());
        let value = self.builder.append_block_param(after, types::I64);
        let null = self.builder.append_block_param(after, types::I8);
        self.builder.ins().brif(code, has_code, &[], has_none, &[]);
        self.builder.switch_to_block(has_code);
        let count = self.constant(types::I64, entries.len() as i64);
        let ins = self.builder.ins();
        let is_unknown = ins.icmp(IntCC::UnsignedGreaterThan, code, count);
        self.exit_if(is_unknown);
        let table = self.constant(types::I64, entries.as_ptr() as i64);
        let three = self.constant(types::I64, 3);
        let offset = self.builder.ins().ishl(code, three);
        let entry = self.builder.ins().iadd(table, offset);
        // Code 1 is the first entry.
        let entry = self.fetch(types::I64, CHECKED, entry, -8);
        let no = self.constant(types::I8, 0);
        let arguments = [BlockArg::Value(entry), BlockArg::Value(no)];
        self.builder.ins().jump(after, &arguments);
        self.builder.switch_to_block(has_none);
        let found = self.suppressed(tuple, column, other);
        let is_null = found.null.unwrap_or(no);
        if !column.access.nullable {
            self.exit_if(is_null);
        }
        let arguments = [BlockArg::Value(found.value), BlockArg::Value(is_null)];
        self.builder.ins().jump(after, &arguments);
        self.builder.switch_to_block(after);
        NullableValue {
            value,
            null: column.access.nullable.then_some(null),
        }
    }
}
