//! The opcodes: name, operands, effect, errors, and the function that does it.
//!
//! Names are made as in figures 5 and 6 of paper 1: what is done, whether the result is computed into a register (`C`) or
//! accumulated in the present group (`A`), the type, and the kinds of operands: register (`Z`) or attribute (`A`). A constant (`C` in
//! an assembler's text) is in a register of its own. Types: `I`, `I4`, `I2` integers of 8, 4 and 2 bytes, `F` doubles, `R` reals, `N`
//! decimals, `S` strings, `W` whatever has 8 bytes, `T` tuples. Branches start with `J` (when) or `U` (unless). Operands in registers
//! are not NULL, but for `MOVE`, `JNULL` and `CALL`.

use super::accumulate::{Greatest, Least};
use super::arithmetic::{Add, Divide, Int16, Int32, Int64, Multiply, Remainder, Subtract};
use super::compare::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
use super::instruction::{InstructionFlow, Opcode, branch, next, opcodes};
use super::operand::{
    AggregateSlot, Attribute, Call, Label, Operand, OperandKind, OperandType, Pattern,
    TargetRegister, TextRegister, TextSet, Tuple, Wide, WideSet, WordRegister, WordSet,
};
use super::program::Asides;
use super::registers::{RegisterSet, TextPlace};
use super::trap::Trap;
use super::{accumulate, arithmetic, attribute, average, call, compare, convert, text};

opcodes! {
    steps {
        /// Sum of two integers of 8 bytes. Errors: 22003 outside the type.
        ADD_C_I_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int64<Add>, _, _, _>;
        /// Sum of two integers of 8 bytes; NULL if the attribute is. Errors: 22003 outside the type.
        ADD_C_I_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int64<Add>, _, _, _>;
        /// Sum of two integers of 8 bytes; NULL if the attribute is. Errors: 22003 outside the type.
        ADD_C_I_ZA (left: WordRegister, right: Attribute, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int64<Add>, _, _, _>;
        /// Sum of two integers of 4 bytes. Errors: 22003 outside the type.
        ADD_C_I4_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int32<Add>, _, _, _>;
        /// Sum of two integers of 4 bytes; NULL if the attribute is. Errors: 22003 outside the type.
        ADD_C_I4_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int32<Add>, _, _, _>;
        /// Sum of two integers of 4 bytes; NULL if the attribute is. Errors: 22003 outside the type.
        ADD_C_I4_ZA (left: WordRegister, right: Attribute, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int32<Add>, _, _, _>;
        /// Sum of two integers of 2 bytes. Errors: 22003 outside the type.
        ADD_C_I2_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int16<Add>, _, _, _>;
        /// Sum of two doubles.
        ADD_C_F_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>) => arithmetic::compute::<f64, Add, _, _, _>;
        /// Sum of two doubles; NULL if the attribute is.
        ADD_C_F_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<f64, Add, _, _, _>;
        /// Sum of two doubles; NULL if the attribute is.
        ADD_C_F_ZA (left: WordRegister, right: Attribute, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<f64, Add, _, _, _>;
        /// Sum of two reals.
        ADD_C_R_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>) => arithmetic::compute::<f32, Add, _, _, _>;
        /// Sum of two decimals of one scale. Errors: 22003 outside 16 bytes.
        ADD_C_N_ZZ (left: Wide, right: Wide, target: TargetRegister<Wide>)
            => arithmetic::compute::<i128, Add, _, _, _>;
        /// Sum of two decimals of one scale; NULL if the attribute is. Errors: 22003 outside 16 bytes.
        ADD_C_N_AZ (left: Attribute, right: Wide, target: TargetRegister<Wide>)
            => arithmetic::compute::<i128, Add, _, _, _>;
        /// Sum of two decimals of one scale; NULL if the attribute is. Errors: 22003 outside 16 bytes.
        ADD_C_N_ZA (left: Wide, right: Attribute, target: TargetRegister<Wide>)
            => arithmetic::compute::<i128, Add, _, _, _>;
        /// Difference of two integers of 8 bytes. Errors: 22003 outside the type.
        SUB_C_I_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int64<Subtract>, _, _, _>;
        /// Difference of two integers of 8 bytes; NULL if the attribute is. Errors: 22003 outside the type.
        SUB_C_I_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int64<Subtract>, _, _, _>;
        /// Difference of two integers of 8 bytes; NULL if the attribute is. Errors: 22003 outside the type.
        SUB_C_I_ZA (left: WordRegister, right: Attribute, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int64<Subtract>, _, _, _>;
        /// Difference of two integers of 4 bytes. Errors: 22003 outside the type.
        SUB_C_I4_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int32<Subtract>, _, _, _>;
        /// Difference of two integers of 4 bytes; NULL if the attribute is. Errors: 22003 outside the type.
        SUB_C_I4_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int32<Subtract>, _, _, _>;
        /// Difference of two integers of 4 bytes; NULL if the attribute is. Errors: 22003 outside the type.
        SUB_C_I4_ZA (left: WordRegister, right: Attribute, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int32<Subtract>, _, _, _>;
        /// Difference of two integers of 2 bytes. Errors: 22003 outside the type.
        SUB_C_I2_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int16<Subtract>, _, _, _>;
        /// Difference of two doubles.
        SUB_C_F_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>) => arithmetic::compute::<f64, Subtract, _, _, _>;
        /// Difference of two doubles; NULL if the attribute is.
        SUB_C_F_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<f64, Subtract, _, _, _>;
        /// Difference of two doubles; NULL if the attribute is.
        SUB_C_F_ZA (left: WordRegister, right: Attribute, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<f64, Subtract, _, _, _>;
        /// Difference of two reals.
        SUB_C_R_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>) => arithmetic::compute::<f32, Subtract, _, _, _>;
        /// Difference of two decimals of one scale. Errors: 22003 outside 16 bytes.
        SUB_C_N_ZZ (left: Wide, right: Wide, target: TargetRegister<Wide>)
            => arithmetic::compute::<i128, Subtract, _, _, _>;
        /// Difference of two decimals of one scale; NULL if the attribute is. Errors: 22003 outside 16 bytes.
        SUB_C_N_AZ (left: Attribute, right: Wide, target: TargetRegister<Wide>)
            => arithmetic::compute::<i128, Subtract, _, _, _>;
        /// Difference of two decimals of one scale; NULL if the attribute is. Errors: 22003 outside 16 bytes.
        SUB_C_N_ZA (left: Wide, right: Attribute, target: TargetRegister<Wide>)
            => arithmetic::compute::<i128, Subtract, _, _, _>;
        /// Product of two integers of 8 bytes. Errors: 22003 outside the type.
        MUL_C_I_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int64<Multiply>, _, _, _>;
        /// Product of two integers of 8 bytes; NULL if the attribute is. Errors: 22003 outside the type.
        MUL_C_I_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int64<Multiply>, _, _, _>;
        /// Product of two integers of 8 bytes; NULL if the attribute is. Errors: 22003 outside the type.
        MUL_C_I_ZA (left: WordRegister, right: Attribute, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int64<Multiply>, _, _, _>;
        /// Product of two integers of 4 bytes. Errors: 22003 outside the type.
        MUL_C_I4_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int32<Multiply>, _, _, _>;
        /// Product of two integers of 4 bytes; NULL if the attribute is. Errors: 22003 outside the type.
        MUL_C_I4_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int32<Multiply>, _, _, _>;
        /// Product of two integers of 4 bytes; NULL if the attribute is. Errors: 22003 outside the type.
        MUL_C_I4_ZA (left: WordRegister, right: Attribute, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int32<Multiply>, _, _, _>;
        /// Product of two integers of 2 bytes. Errors: 22003 outside the type.
        MUL_C_I2_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int16<Multiply>, _, _, _>;
        /// Product of two doubles.
        MUL_C_F_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<f64, Multiply, _, _, _>;
        /// Product of two doubles; NULL if the attribute is.
        MUL_C_F_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<f64, Multiply, _, _, _>;
        /// Product of two doubles; NULL if the attribute is.
        MUL_C_F_ZA (left: WordRegister, right: Attribute, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<f64, Multiply, _, _, _>;
        /// Product of two reals.
        MUL_C_R_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>) => arithmetic::compute::<f32, Multiply, _, _, _>;
        /// Product of two decimals of one scale. Errors: 22003 outside 16 bytes.
        MUL_C_N_ZZ (left: Wide, right: Wide, target: TargetRegister<Wide>)
            => arithmetic::compute::<i128, Multiply, _, _, _>;
        /// Product of two decimals of one scale; NULL if the attribute is. Errors: 22003 outside 16 bytes.
        MUL_C_N_AZ (left: Attribute, right: Wide, target: TargetRegister<Wide>)
            => arithmetic::compute::<i128, Multiply, _, _, _>;
        /// Product of two decimals of one scale; NULL if the attribute is. Errors: 22003 outside 16 bytes.
        MUL_C_N_ZA (left: Wide, right: Attribute, target: TargetRegister<Wide>)
            => arithmetic::compute::<i128, Multiply, _, _, _>;
        /// Quotient, towards zero, of two integers of 8 bytes. Errors: 22012 by zero; 22003 outside the type.
        DIV_C_I_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int64<Divide>, _, _, _>;
        /// Quotient, towards zero, of two integers of 4 bytes. Errors: 22012 by zero; 22003 outside the type.
        DIV_C_I4_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int32<Divide>, _, _, _>;
        /// Quotient, towards zero, of two integers of 2 bytes. Errors: 22012 by zero; 22003 outside the type.
        DIV_C_I2_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int16<Divide>, _, _, _>;
        /// Quotient, towards zero, of two doubles. Errors: 22012 by zero.
        DIV_C_F_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<f64, Divide, _, _, _>;
        /// Quotient, towards zero, of two reals. Errors: 22012 by zero.
        DIV_C_R_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<f32, Divide, _, _, _>;
        /// Quotient, towards zero, of two decimals of one scale. Errors: 22012 by zero; 22003 outside 16 bytes.
        DIV_C_N_ZZ (left: Wide, right: Wide, target: TargetRegister<Wide>)
            => arithmetic::compute::<i128, Divide, _, _, _>;
        /// Remainder, with the sign of the left one, of two integers of 8 bytes. Errors: 22012 by zero; 22003
        /// outside the type.
        REM_C_I_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int64<Remainder>, _, _, _>;
        /// Remainder, with the sign of the left one, of two integers of 4 bytes. Errors: 22012 by zero; 22003
        /// outside the type.
        REM_C_I4_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int32<Remainder>, _, _, _>;
        /// Remainder, with the sign of the left one, of two integers of 2 bytes. Errors: 22012 by zero; 22003
        /// outside the type.
        REM_C_I2_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<i64, Int16<Remainder>, _, _, _>;
        /// Remainder, with the sign of the left one, of two doubles.
        REM_C_F_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<f64, Remainder, _, _, _>;
        /// Remainder, with the sign of the left one, of two reals.
        REM_C_R_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => arithmetic::compute::<f32, Remainder, _, _, _>;
        /// Remainder, with the sign of the left one, of two decimals of one scale. Errors: 22012 by zero; 22003
        /// outside 16 bytes.
        REM_C_N_ZZ (left: Wide, right: Wide, target: TargetRegister<Wide>)
            => arithmetic::compute::<i128, Remainder, _, _, _>;
        /// Minus a decimal.
        NEG_C_N_Z (value: Wide, target: TargetRegister<Wide>) => arithmetic::negate_decimal;
        /// Minus a double.
        NEG_C_F_Z (value: WordRegister, target: TargetRegister<WordRegister>) => arithmetic::negate_float::<f64>;
        /// Minus a real.
        NEG_C_R_Z (value: WordRegister, target: TargetRegister<WordRegister>) => arithmetic::negate_float::<f32>;
        /// The same decimal. Errors: 22003 if it has more than 38 digits.
        DIG_C_N_Z (value: Wide, target: TargetRegister<Wide>) => arithmetic::check_digits;
        /// The same decimal. Errors: 22003 if its absolute value is not below the limit.
        LIM_C_N_ZZ (value: Wide, limit: Wide, target: TargetRegister<Wide>) => arithmetic::check_limit;
        /// The nearest double of an integer.
        CNV_IF_Z (value: WordRegister, target: TargetRegister<WordRegister>) => convert::integer_to_double;
        /// The double of a real.
        CNV_RF_Z (value: WordRegister, target: TargetRegister<WordRegister>) => convert::real_to_double;
        /// The decimal of an integer, with no digits behind its point.
        CNV_IN_Z (value: WordRegister, target: TargetRegister<Wide>) => convert::integer_to_decimal;
        /// The digits of an integer.
        CNV_IS_Z (value: WordRegister, target: TargetRegister<TextRegister>) => convert::integer_to_text;
        /// One string behind the other. Errors: 54000 if the strings of a row take more than 4 GiB.
        CAT_C_S_ZZ (left: TextRegister, right: TextRegister, target: TargetRegister<TextRegister>) => text::concatenate;
        /// Whether `left = right` of two integers, dates, times or booleans.
        EQU_C_I_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<i64, Equal, _, _>;
        /// Whether `left = right` of two integers, dates, times or booleans; NULL if the attribute is.
        EQU_C_I_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<i64, Equal, _, _>;
        /// Whether `left = right` of two doubles.
        EQU_C_F_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f64, Equal, _, _>;
        /// Whether `left = right` of two doubles; NULL if the attribute is.
        EQU_C_F_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f64, Equal, _, _>;
        /// Whether `left = right` of two reals.
        EQU_C_R_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f32, Equal, _, _>;
        /// Whether `left = right` of two decimals of one scale.
        EQU_C_N_ZZ (left: Wide, right: Wide, target: TargetRegister<WordRegister>)
            => compare::compare::<i128, Equal, _, _>;
        /// Whether `left = right` of two decimals of one scale; NULL if the attribute is.
        EQU_C_N_AZ (left: Attribute, right: Wide, target: TargetRegister<WordRegister>)
            => compare::compare::<i128, Equal, _, _>;
        /// Whether `left = right` of two strings.
        EQU_C_S_ZZ (left: TextRegister, right: TextRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<TextPlace, Equal, _, _>;
        /// Whether `left = right` of two strings; NULL if the attribute is.
        EQU_C_S_AZ (left: Attribute, right: TextRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<TextPlace, Equal, _, _>;
        /// Whether `left <> right` of two integers, dates, times or booleans.
        NEQ_C_I_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<i64, NotEqual, _, _>;
        /// Whether `left <> right` of two integers, dates, times or booleans; NULL if the attribute is.
        NEQ_C_I_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<i64, NotEqual, _, _>;
        /// Whether `left <> right` of two doubles.
        NEQ_C_F_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f64, NotEqual, _, _>;
        /// Whether `left <> right` of two doubles; NULL if the attribute is.
        NEQ_C_F_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f64, NotEqual, _, _>;
        /// Whether `left <> right` of two reals.
        NEQ_C_R_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f32, NotEqual, _, _>;
        /// Whether `left <> right` of two decimals of one scale.
        NEQ_C_N_ZZ (left: Wide, right: Wide, target: TargetRegister<WordRegister>)
            => compare::compare::<i128, NotEqual, _, _>;
        /// Whether `left <> right` of two decimals of one scale; NULL if the attribute is.
        NEQ_C_N_AZ (left: Attribute, right: Wide, target: TargetRegister<WordRegister>)
            => compare::compare::<i128, NotEqual, _, _>;
        /// Whether `left <> right` of two strings.
        NEQ_C_S_ZZ (left: TextRegister, right: TextRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<TextPlace, NotEqual, _, _>;
        /// Whether `left <> right` of two strings; NULL if the attribute is.
        NEQ_C_S_AZ (left: Attribute, right: TextRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<TextPlace, NotEqual, _, _>;
        /// Whether `left < right` of two integers, dates, times or booleans.
        LES_C_I_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<i64, Less, _, _>;
        /// Whether `left < right` of two integers, dates, times or booleans; NULL if the attribute is.
        LES_C_I_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<i64, Less, _, _>;
        /// Whether `left < right` of two doubles.
        LES_C_F_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f64, Less, _, _>;
        /// Whether `left < right` of two doubles; NULL if the attribute is.
        LES_C_F_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f64, Less, _, _>;
        /// Whether `left < right` of two reals.
        LES_C_R_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f32, Less, _, _>;
        /// Whether `left < right` of two decimals of one scale.
        LES_C_N_ZZ (left: Wide, right: Wide, target: TargetRegister<WordRegister>)
            => compare::compare::<i128, Less, _, _>;
        /// Whether `left < right` of two decimals of one scale; NULL if the attribute is.
        LES_C_N_AZ (left: Attribute, right: Wide, target: TargetRegister<WordRegister>)
            => compare::compare::<i128, Less, _, _>;
        /// Whether `left < right` of two strings.
        LES_C_S_ZZ (left: TextRegister, right: TextRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<TextPlace, Less, _, _>;
        /// Whether `left < right` of two strings; NULL if the attribute is.
        LES_C_S_AZ (left: Attribute, right: TextRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<TextPlace, Less, _, _>;
        /// Whether `left <= right` of two integers, dates, times or booleans.
        LEQ_C_I_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<i64, LessOrEqual, _, _>;
        /// Whether `left <= right` of two integers, dates, times or booleans; NULL if the attribute is.
        LEQ_C_I_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<i64, LessOrEqual, _, _>;
        /// Whether `left <= right` of two doubles.
        LEQ_C_F_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f64, LessOrEqual, _, _>;
        /// Whether `left <= right` of two doubles; NULL if the attribute is.
        LEQ_C_F_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f64, LessOrEqual, _, _>;
        /// Whether `left <= right` of two reals.
        LEQ_C_R_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f32, LessOrEqual, _, _>;
        /// Whether `left <= right` of two decimals of one scale.
        LEQ_C_N_ZZ (left: Wide, right: Wide, target: TargetRegister<WordRegister>)
            => compare::compare::<i128, LessOrEqual, _, _>;
        /// Whether `left <= right` of two decimals of one scale; NULL if the attribute is.
        LEQ_C_N_AZ (left: Attribute, right: Wide, target: TargetRegister<WordRegister>)
            => compare::compare::<i128, LessOrEqual, _, _>;
        /// Whether `left <= right` of two strings.
        LEQ_C_S_ZZ (left: TextRegister, right: TextRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<TextPlace, LessOrEqual, _, _>;
        /// Whether `left <= right` of two strings; NULL if the attribute is.
        LEQ_C_S_AZ (left: Attribute, right: TextRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<TextPlace, LessOrEqual, _, _>;
        /// Whether `left > right` of two integers, dates, times or booleans.
        GRT_C_I_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<i64, Greater, _, _>;
        /// Whether `left > right` of two integers, dates, times or booleans; NULL if the attribute is.
        GRT_C_I_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<i64, Greater, _, _>;
        /// Whether `left > right` of two doubles.
        GRT_C_F_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f64, Greater, _, _>;
        /// Whether `left > right` of two doubles; NULL if the attribute is.
        GRT_C_F_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f64, Greater, _, _>;
        /// Whether `left > right` of two reals.
        GRT_C_R_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f32, Greater, _, _>;
        /// Whether `left > right` of two decimals of one scale.
        GRT_C_N_ZZ (left: Wide, right: Wide, target: TargetRegister<WordRegister>)
            => compare::compare::<i128, Greater, _, _>;
        /// Whether `left > right` of two decimals of one scale; NULL if the attribute is.
        GRT_C_N_AZ (left: Attribute, right: Wide, target: TargetRegister<WordRegister>)
            => compare::compare::<i128, Greater, _, _>;
        /// Whether `left > right` of two strings.
        GRT_C_S_ZZ (left: TextRegister, right: TextRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<TextPlace, Greater, _, _>;
        /// Whether `left > right` of two strings; NULL if the attribute is.
        GRT_C_S_AZ (left: Attribute, right: TextRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<TextPlace, Greater, _, _>;
        /// Whether `left >= right` of two integers, dates, times or booleans.
        GEQ_C_I_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<i64, GreaterOrEqual, _, _>;
        /// Whether `left >= right` of two integers, dates, times or booleans; NULL if the attribute is.
        GEQ_C_I_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<i64, GreaterOrEqual, _, _>;
        /// Whether `left >= right` of two doubles.
        GEQ_C_F_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f64, GreaterOrEqual, _, _>;
        /// Whether `left >= right` of two doubles; NULL if the attribute is.
        GEQ_C_F_AZ (left: Attribute, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f64, GreaterOrEqual, _, _>;
        /// Whether `left >= right` of two reals.
        GEQ_C_R_ZZ (left: WordRegister, right: WordRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<f32, GreaterOrEqual, _, _>;
        /// Whether `left >= right` of two decimals of one scale.
        GEQ_C_N_ZZ (left: Wide, right: Wide, target: TargetRegister<WordRegister>)
            => compare::compare::<i128, GreaterOrEqual, _, _>;
        /// Whether `left >= right` of two decimals of one scale; NULL if the attribute is.
        GEQ_C_N_AZ (left: Attribute, right: Wide, target: TargetRegister<WordRegister>)
            => compare::compare::<i128, GreaterOrEqual, _, _>;
        /// Whether `left >= right` of two strings.
        GEQ_C_S_ZZ (left: TextRegister, right: TextRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<TextPlace, GreaterOrEqual, _, _>;
        /// Whether `left >= right` of two strings; NULL if the attribute is.
        GEQ_C_S_AZ (left: Attribute, right: TextRegister, target: TargetRegister<WordRegister>)
            => compare::compare::<TextPlace, GreaterOrEqual, _, _>;
        /// Decodes an integer, boolean, date, time or float.
        LOAD_W_A (value: Attribute, target: TargetRegister<WordRegister>) => attribute::load_word;
        /// Decodes a decimal.
        LOAD_N_A (value: Attribute, target: TargetRegister<Wide>) => attribute::load::<i128, _>;
        /// Finds a string; one that is in no tuple as it is, is copied.
        LOAD_S_A (value: Attribute, target: TargetRegister<TextRegister>) => attribute::load::<TextPlace, _>;
        /// The same number in another register, NULL or not.
        MOVE_W_Z (value: WordRegister, target: TargetRegister<WordRegister>) => convert::move_word;
        /// The same decimal in another register, NULL or not.
        MOVE_N_Z (value: Wide, target: TargetRegister<Wide>) => convert::move_wide;
        /// The same string in another register, NULL or not.
        MOVE_S_Z (value: TextRegister, target: TargetRegister<TextRegister>) => convert::move_text;
        /// The same tuple in another register.
        MOVE_T_Z (value: Tuple, target: TargetRegister<Tuple>) => convert::move_tuple;
        /// NULL.
        NULL_W (target: TargetRegister<WordRegister>) => convert::set_null::<i64, _>;
        /// NULL.
        NULL_N (target: TargetRegister<Wide>) => convert::set_null::<i128, _>;
        /// NULL.
        NULL_S (target: TargetRegister<TextRegister>) => convert::set_null::<TextPlace, _>;
        /// Counts a row.
        CNT_A (slot: AggregateSlot) => accumulate::count;
        /// Adds one of the integers of 8 bytes to a sum.
        SUM_A_I_Z (value: WordRegister, slot: AggregateSlot) => accumulate::sum::<i64, _>;
        /// Adds one of the integers of 8 bytes to a sum, unless it is NULL.
        SUM_A_I_A (value: Attribute, slot: AggregateSlot) => accumulate::sum::<i64, _>;
        /// Adds one of the decimals of one scale to a sum.
        SUM_A_N_Z (value: Wide, slot: AggregateSlot) => accumulate::sum::<i128, _>;
        /// Adds one of the decimals of one scale to a sum, unless it is NULL.
        SUM_A_N_A (value: Attribute, slot: AggregateSlot) => accumulate::sum::<i128, _>;
        /// Adds one of the doubles to a sum.
        SUM_A_F_Z (value: WordRegister, slot: AggregateSlot) => accumulate::sum::<f64, _>;
        /// Adds one of the doubles to a sum, unless it is NULL.
        SUM_A_F_A (value: Attribute, slot: AggregateSlot) => accumulate::sum::<f64, _>;
        /// Adds the product of two decimals to a sum.
        MUL_A_N_ZZ (left: Wide, right: Wide, slot: AggregateSlot) => accumulate::sum_product::<i128, _, _>;
        /// Adds the product of two decimals to a sum, unless it is NULL.
        MUL_A_N_AZ (left: Attribute, right: Wide, slot: AggregateSlot)
            => accumulate::sum_product::<i128, _, _>;
        /// Adds the product of two doubles to a sum.
        MUL_A_F_ZZ (left: WordRegister, right: WordRegister, slot: AggregateSlot) => accumulate::sum_product::<f64, _, _>;
        /// Adds the product of two doubles to a sum, unless it is NULL.
        MUL_A_F_AZ (left: Attribute, right: WordRegister, slot: AggregateSlot)
            => accumulate::sum_product::<f64, _, _>;
        /// Keeps the least of some integers.
        MIN_A_I_Z (value: WordRegister, slot: AggregateSlot) => accumulate::extreme::<i64, Least, _>;
        /// Keeps the least of some decimals of one scale.
        MIN_A_N_Z (value: Wide, slot: AggregateSlot) => accumulate::extreme::<i128, Least, _>;
        /// Keeps the least of some doubles.
        MIN_A_F_Z (value: WordRegister, slot: AggregateSlot) => accumulate::extreme::<f64, Least, _>;
        /// Keeps the least of some reals.
        MIN_A_R_Z (value: WordRegister, slot: AggregateSlot) => accumulate::extreme::<f32, Least, _>;
        /// Keeps the least of some strings.
        MIN_A_S_Z (value: TextRegister, slot: AggregateSlot) => accumulate::extreme_text::<Least>;
        /// Keeps the greatest of some integers.
        MAX_A_I_Z (value: WordRegister, slot: AggregateSlot) => accumulate::extreme::<i64, Greatest, _>;
        /// Keeps the greatest of some decimals of one scale.
        MAX_A_N_Z (value: Wide, slot: AggregateSlot) => accumulate::extreme::<i128, Greatest, _>;
        /// Keeps the greatest of some doubles.
        MAX_A_F_Z (value: WordRegister, slot: AggregateSlot) => accumulate::extreme::<f64, Greatest, _>;
        /// Keeps the greatest of some reals.
        MAX_A_R_Z (value: WordRegister, slot: AggregateSlot) => accumulate::extreme::<f32, Greatest, _>;
        /// Keeps the greatest of some strings.
        MAX_A_S_Z (value: TextRegister, slot: AggregateSlot) => accumulate::extreme_text::<Greatest>;
        /// A count, sum, least or greatest of integers; NULL of nothing. Errors: 22003 if out of range.
        RES_C_I (slot: AggregateSlot, target: TargetRegister<WordRegister>) => accumulate::integer_result;
        /// A sum, least or greatest of decimals; NULL of nothing. Errors: 22003 unless below the limit.
        RES_C_N (slot: AggregateSlot, limit: Wide, target: TargetRegister<Wide>) => accumulate::decimal_result;
        /// The double nearest to the mean of a sum of integers; NULL of nothing.
        AVG_C_I (sum: AggregateSlot, count: AggregateSlot, target: TargetRegister<WordRegister>) => average::of_integers;
        /// The mean, to the nearest, of a sum of decimals times a factor; NULL of nothing. Errors: 22003 unless below the limit.
        AVG_C_N (sum: AggregateSlot, count: AggregateSlot, factor: Wide, limit: Wide, target: TargetRegister<Wide>) => average::of_decimals;
        /// A sum of doubles, the least or greatest of them; NULL of nothing.
        RES_C_F (slot: AggregateSlot, target: TargetRegister<WordRegister>) => accumulate::result::<f64, _>;
        /// The least or greatest of some reals; NULL of nothing.
        RES_C_R (slot: AggregateSlot, target: TargetRegister<WordRegister>) => accumulate::result::<f32, _>;
        /// The least or greatest of some strings; NULL of nothing.
        RES_C_S (slot: AggregateSlot, target: TargetRegister<TextRegister>) => accumulate::text_result;
    }
    branches {
        /// Branches when `left = right`, of two integers, dates, times or booleans.
        JEQU_I_ZZ (left: WordRegister, right: WordRegister) => compare::when::<i64, Equal, _, _>;
        /// Branches unless `left = right`, of two integers, dates, times or booleans: also when the attribute
        /// is NULL.
        UEQU_I_AZ (left: Attribute, right: WordRegister) => compare::unless::<i64, Equal, _, _>;
        /// Branches when `left = right`, of two doubles.
        JEQU_F_ZZ (left: WordRegister, right: WordRegister) => compare::when::<f64, Equal, _, _>;
        /// Branches unless `left = right`, of two doubles: also when the attribute is NULL.
        UEQU_F_AZ (left: Attribute, right: WordRegister) => compare::unless::<f64, Equal, _, _>;
        /// Branches when `left = right`, of two reals.
        JEQU_R_ZZ (left: WordRegister, right: WordRegister) => compare::when::<f32, Equal, _, _>;
        /// Branches unless `left = right`, of two reals: also when the attribute is NULL.
        UEQU_R_AZ (left: Attribute, right: WordRegister) => compare::unless::<f32, Equal, _, _>;
        /// Branches when `left = right`, of two decimals of one scale.
        JEQU_N_ZZ (left: Wide, right: Wide) => compare::when::<i128, Equal, _, _>;
        /// Branches unless `left = right`, of two decimals of one scale: also when the attribute is NULL.
        UEQU_N_AZ (left: Attribute, right: Wide) => compare::unless::<i128, Equal, _, _>;
        /// Branches when `left = right`, of two strings.
        JEQU_S_ZZ (left: TextRegister, right: TextRegister) => compare::when::<TextPlace, Equal, _, _>;
        /// Branches unless `left = right`, of two strings: also when the attribute is NULL.
        UEQU_S_AZ (left: Attribute, right: TextRegister) => compare::unless::<TextPlace, Equal, _, _>;
        /// Branches when `left <> right`, of two integers, dates, times or booleans.
        JNEQ_I_ZZ (left: WordRegister, right: WordRegister) => compare::when::<i64, NotEqual, _, _>;
        /// Branches unless `left <> right`, of two integers, dates, times or booleans: also when the attribute
        /// is NULL.
        UNEQ_I_AZ (left: Attribute, right: WordRegister) => compare::unless::<i64, NotEqual, _, _>;
        /// Branches when `left <> right`, of two doubles.
        JNEQ_F_ZZ (left: WordRegister, right: WordRegister) => compare::when::<f64, NotEqual, _, _>;
        /// Branches unless `left <> right`, of two doubles: also when the attribute is NULL.
        UNEQ_F_AZ (left: Attribute, right: WordRegister) => compare::unless::<f64, NotEqual, _, _>;
        /// Branches when `left <> right`, of two reals.
        JNEQ_R_ZZ (left: WordRegister, right: WordRegister) => compare::when::<f32, NotEqual, _, _>;
        /// Branches unless `left <> right`, of two reals: also when the attribute is NULL.
        UNEQ_R_AZ (left: Attribute, right: WordRegister) => compare::unless::<f32, NotEqual, _, _>;
        /// Branches when `left <> right`, of two decimals of one scale.
        JNEQ_N_ZZ (left: Wide, right: Wide) => compare::when::<i128, NotEqual, _, _>;
        /// Branches unless `left <> right`, of two decimals of one scale: also when the attribute is NULL.
        UNEQ_N_AZ (left: Attribute, right: Wide) => compare::unless::<i128, NotEqual, _, _>;
        /// Branches when `left <> right`, of two strings.
        JNEQ_S_ZZ (left: TextRegister, right: TextRegister) => compare::when::<TextPlace, NotEqual, _, _>;
        /// Branches unless `left <> right`, of two strings: also when the attribute is NULL.
        UNEQ_S_AZ (left: Attribute, right: TextRegister) => compare::unless::<TextPlace, NotEqual, _, _>;
        /// Branches when `left < right`, of two integers, dates, times or booleans.
        JLES_I_ZZ (left: WordRegister, right: WordRegister) => compare::when::<i64, Less, _, _>;
        /// Branches unless `left < right`, of two integers, dates, times or booleans: also when the attribute
        /// is NULL.
        ULES_I_AZ (left: Attribute, right: WordRegister) => compare::unless::<i64, Less, _, _>;
        /// Branches when `left < right`, of two doubles.
        JLES_F_ZZ (left: WordRegister, right: WordRegister) => compare::when::<f64, Less, _, _>;
        /// Branches unless `left < right`, of two doubles: also when the attribute is NULL.
        ULES_F_AZ (left: Attribute, right: WordRegister) => compare::unless::<f64, Less, _, _>;
        /// Branches when `left < right`, of two reals.
        JLES_R_ZZ (left: WordRegister, right: WordRegister) => compare::when::<f32, Less, _, _>;
        /// Branches unless `left < right`, of two reals: also when the attribute is NULL.
        ULES_R_AZ (left: Attribute, right: WordRegister) => compare::unless::<f32, Less, _, _>;
        /// Branches when `left < right`, of two decimals of one scale.
        JLES_N_ZZ (left: Wide, right: Wide) => compare::when::<i128, Less, _, _>;
        /// Branches unless `left < right`, of two decimals of one scale: also when the attribute is NULL.
        ULES_N_AZ (left: Attribute, right: Wide) => compare::unless::<i128, Less, _, _>;
        /// Branches when `left < right`, of two strings.
        JLES_S_ZZ (left: TextRegister, right: TextRegister) => compare::when::<TextPlace, Less, _, _>;
        /// Branches unless `left < right`, of two strings: also when the attribute is NULL.
        ULES_S_AZ (left: Attribute, right: TextRegister) => compare::unless::<TextPlace, Less, _, _>;
        /// Branches when `left <= right`, of two integers, dates, times or booleans.
        JLEQ_I_ZZ (left: WordRegister, right: WordRegister) => compare::when::<i64, LessOrEqual, _, _>;
        /// Branches unless `left <= right`, of two integers, dates, times or booleans: also when the attribute
        /// is NULL.
        ULEQ_I_AZ (left: Attribute, right: WordRegister) => compare::unless::<i64, LessOrEqual, _, _>;
        /// Branches when `left <= right`, of two doubles.
        JLEQ_F_ZZ (left: WordRegister, right: WordRegister) => compare::when::<f64, LessOrEqual, _, _>;
        /// Branches unless `left <= right`, of two doubles: also when the attribute is NULL.
        ULEQ_F_AZ (left: Attribute, right: WordRegister) => compare::unless::<f64, LessOrEqual, _, _>;
        /// Branches when `left <= right`, of two reals.
        JLEQ_R_ZZ (left: WordRegister, right: WordRegister) => compare::when::<f32, LessOrEqual, _, _>;
        /// Branches unless `left <= right`, of two reals: also when the attribute is NULL.
        ULEQ_R_AZ (left: Attribute, right: WordRegister) => compare::unless::<f32, LessOrEqual, _, _>;
        /// Branches when `left <= right`, of two decimals of one scale.
        JLEQ_N_ZZ (left: Wide, right: Wide) => compare::when::<i128, LessOrEqual, _, _>;
        /// Branches unless `left <= right`, of two decimals of one scale: also when the attribute is NULL.
        ULEQ_N_AZ (left: Attribute, right: Wide) => compare::unless::<i128, LessOrEqual, _, _>;
        /// Branches when `left <= right`, of two strings.
        JLEQ_S_ZZ (left: TextRegister, right: TextRegister) => compare::when::<TextPlace, LessOrEqual, _, _>;
        /// Branches unless `left <= right`, of two strings: also when the attribute is NULL.
        ULEQ_S_AZ (left: Attribute, right: TextRegister) => compare::unless::<TextPlace, LessOrEqual, _, _>;
        /// Branches when `left > right`, of two integers, dates, times or booleans.
        JGRT_I_ZZ (left: WordRegister, right: WordRegister) => compare::when::<i64, Greater, _, _>;
        /// Branches unless `left > right`, of two integers, dates, times or booleans: also when the attribute
        /// is NULL.
        UGRT_I_AZ (left: Attribute, right: WordRegister) => compare::unless::<i64, Greater, _, _>;
        /// Branches when `left > right`, of two doubles.
        JGRT_F_ZZ (left: WordRegister, right: WordRegister) => compare::when::<f64, Greater, _, _>;
        /// Branches unless `left > right`, of two doubles: also when the attribute is NULL.
        UGRT_F_AZ (left: Attribute, right: WordRegister) => compare::unless::<f64, Greater, _, _>;
        /// Branches when `left > right`, of two reals.
        JGRT_R_ZZ (left: WordRegister, right: WordRegister) => compare::when::<f32, Greater, _, _>;
        /// Branches unless `left > right`, of two reals: also when the attribute is NULL.
        UGRT_R_AZ (left: Attribute, right: WordRegister) => compare::unless::<f32, Greater, _, _>;
        /// Branches when `left > right`, of two decimals of one scale.
        JGRT_N_ZZ (left: Wide, right: Wide) => compare::when::<i128, Greater, _, _>;
        /// Branches unless `left > right`, of two decimals of one scale: also when the attribute is NULL.
        UGRT_N_AZ (left: Attribute, right: Wide) => compare::unless::<i128, Greater, _, _>;
        /// Branches when `left > right`, of two strings.
        JGRT_S_ZZ (left: TextRegister, right: TextRegister) => compare::when::<TextPlace, Greater, _, _>;
        /// Branches unless `left > right`, of two strings: also when the attribute is NULL.
        UGRT_S_AZ (left: Attribute, right: TextRegister) => compare::unless::<TextPlace, Greater, _, _>;
        /// Branches when `left >= right`, of two integers, dates, times or booleans.
        JGEQ_I_ZZ (left: WordRegister, right: WordRegister) => compare::when::<i64, GreaterOrEqual, _, _>;
        /// Branches unless `left >= right`, of two integers, dates, times or booleans: also when the attribute
        /// is NULL.
        UGEQ_I_AZ (left: Attribute, right: WordRegister) => compare::unless::<i64, GreaterOrEqual, _, _>;
        /// Branches when `left >= right`, of two doubles.
        JGEQ_F_ZZ (left: WordRegister, right: WordRegister) => compare::when::<f64, GreaterOrEqual, _, _>;
        /// Branches unless `left >= right`, of two doubles: also when the attribute is NULL.
        UGEQ_F_AZ (left: Attribute, right: WordRegister) => compare::unless::<f64, GreaterOrEqual, _, _>;
        /// Branches when `left >= right`, of two reals.
        JGEQ_R_ZZ (left: WordRegister, right: WordRegister) => compare::when::<f32, GreaterOrEqual, _, _>;
        /// Branches unless `left >= right`, of two reals: also when the attribute is NULL.
        UGEQ_R_AZ (left: Attribute, right: WordRegister) => compare::unless::<f32, GreaterOrEqual, _, _>;
        /// Branches when `left >= right`, of two decimals of one scale.
        JGEQ_N_ZZ (left: Wide, right: Wide) => compare::when::<i128, GreaterOrEqual, _, _>;
        /// Branches unless `left >= right`, of two decimals of one scale: also when the attribute is NULL.
        UGEQ_N_AZ (left: Attribute, right: Wide) => compare::unless::<i128, GreaterOrEqual, _, _>;
        /// Branches when `left >= right`, of two strings.
        JGEQ_S_ZZ (left: TextRegister, right: TextRegister) => compare::when::<TextPlace, GreaterOrEqual, _, _>;
        /// Branches unless `left >= right`, of two strings: also when the attribute is NULL.
        UGEQ_S_AZ (left: Attribute, right: TextRegister)
            => compare::unless::<TextPlace, GreaterOrEqual, _, _>;
        /// Branches when a boolean is true.
        JTRUE_Z (value: WordRegister) => compare::is_true;
        /// Branches when a boolean is false.
        JFALSE_Z (value: WordRegister) => compare::is_false;
        /// Branches when the value is NULL.
        JNULL_W_Z (value: WordRegister) => compare::is_null_word;
        /// Branches when the value is NULL.
        JNULL_N_Z (value: Wide) => compare::is_null_wide;
        /// Branches when the value is NULL.
        JNULL_S_Z (value: TextRegister) => compare::is_null_text;
        /// Writes `value * factor` if its absolute value is below `limit`; branches otherwise.
        JSCALE_N_ZZZ (value: Wide, factor: Wide, limit: Wide, target: TargetRegister<Wide>)
            => convert::rescale;
    }
    lookups {
        /// Branches when the string is like the pattern.
        JLIKE_S_Z (value: TextRegister, pattern: Pattern) => text::is_like;
        /// Branches when the value is in the set.
        JIN_I_Z (value: WordRegister, set: WordSet) => text::is_word_in;
        /// Branches when the value is in the set.
        JIN_N_Z (value: Wide, set: WideSet) => text::is_wide_in;
        /// Branches when the value is in the set.
        JIN_S_Z (value: TextRegister, set: TextSet) => text::is_text_in;
    }
}
