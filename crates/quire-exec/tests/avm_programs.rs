//! Programs as text: the paper's figures run, the disassembler's output is a program again, and wrong programs are refused.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use quire_exec::avm::{
    AssembleError, OPCODES, ProgramError, RegisterSet, TrapReason, Tuple, TuplePlace, TupleSource,
    WordRegister, assemble,
};
use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType};
use quire_tables::row_table::TupleValue;

/// Figure 5 of paper 1: `shipdate <= 1998-02-09`.
const FIGURE_5: &str = "
.tuple 14 11
    LEQ_C_D_AC 10 14 '1998-02-09' 13
    AVM_STOP";

/// Figure 6 of paper 1: `sum(extended_price * (1 - discount) * (1 + tax))`; register 4 has the price, 5 the discount, 6 the tax.
const FIGURE_6: &str = "
.input w4
.input w5
.input w6
.slots 11
    SUB_C_F_CZ 1.0 5 7
    ADD_C_F_CZ 1.0 6 8
    MUL_C_F_ZZ 7 8 9
    MUL_A_F_ZZ 4 9 10
    AVM_STOP";

#[test]
fn figure_5_compares_a_date_of_a_compressed_tuple() {
    for compression in [TupleCompression::None, TupleCompression::NullSuppressed] {
        let mut columns = vec![
            TupleColumn {
                column_type: TupleType::Int32,
                nullable: false,
                compression: compression.clone(),
            };
            10
        ];
        columns.push(TupleColumn {
            column_type: TupleType::Date { base_days: 9_000 },
            nullable: true,
            compression,
        });
        let layout = Arc::new(TupleLayout::new(&columns).unwrap());
        let program = assemble(FIGURE_5).unwrap();
        let mut registers = RegisterSet::new();
        let buffer = registers.add_buffer();
        registers.set_source(Tuple(14), TupleSource::Temporary(Arc::clone(&layout)));
        let loaded = program.load(&mut registers).unwrap();
        // 1998-02-09 is 10,266 days after 1970-01-01: 28 years of 365 days, 7 leap days, 31 days of January, 8 more.
        let last = 28 * 365 + 7 + 31 + 8;
        for (shipdate, expected) in [
            (TupleValue::Integer(last - 1), Some(1)),
            (TupleValue::Integer(last), Some(1)),
            (TupleValue::Integer(last + 1), Some(0)),
            (TupleValue::Null, None),
        ] {
            let mut row = [TupleValue::Integer(3); 11];
            row[10] = shipdate;
            let bytes = registers.buffer_mut(buffer).unwrap();
            bytes.clear();
            layout.encode(&row, bytes).unwrap();
            let place = TuplePlace {
                buffer,
                start: 0,
                key_bytes: 0,
                tuple_bytes: bytes.len() as u32,
            };
            registers.set_tuple(Tuple(14), place);
            assert!(program.run(loaded, &mut registers).unwrap());
            let result = (!registers.is_null_word(WordRegister(13)))
                .then(|| registers.word(WordRegister(13)));
            assert_eq!(result, expected, "{shipdate:?}");
        }
    }
}

#[test]
fn figure_6_adds_up_charges() {
    let program = assemble(FIGURE_6).unwrap();
    let mut registers = RegisterSet::new();
    let loaded = program.load(&mut registers).unwrap();
    registers.begin_group(&program);
    let rows = [(1000.0, 0.05, 0.02), (250.5, 0.0, 0.08), (1.0, 0.1, 0.0)];
    let mut expected = 0.0;
    for (price, discount, tax) in rows {
        for (register, value) in [(4, price), (5, discount), (6, tax)] {
            registers.set_double(WordRegister(register), value);
        }
        assert!(program.run(loaded, &mut registers).unwrap());
        expected += price * ((1.0 - discount) * (1.0 + tax));
    }
    let result = assemble(".slots 11\nRES_C_F #10 w0\nSTOP").unwrap();
    let loaded = result.load(&mut registers).unwrap();
    result.run(loaded, &mut registers).unwrap();
    assert_eq!(
        f64::from_bits(registers.word(WordRegister(0)) as u64),
        expected
    );
}

#[test]
fn what_the_disassembler_shows_is_the_program() {
    let program = assemble(
        ".tuple t0 4
         .input w1
         .input n2
         .input s3
         .slots 2
             ULEQ_I_AZ t0.3 w1 out
             LOAD_N_A t0.2 n4
             MUL_C_N_ZZ n4 n2 n5
             SUM_A_N_Z n5 #1
             JEQU_S_ZZ s3 s3 end
             CAT_C_S_ZZ s3 s3 s6
         end: STOP
         out: REJECT",
    )
    .unwrap();
    let shown = program.to_string();
    let announced = ".tuple t0 4\n.input w1\n.input n2\n.input s3\n.slots 2\n";
    let without_numbers: String = shown
        .lines()
        .map(|line| {
            line.trim_start()
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .to_owned()
                + "\n"
        })
        .collect();
    let again = assemble(&(announced.to_owned() + &without_numbers)).unwrap();
    assert_eq!(again.draft().instructions, program.draft().instructions);
    assert!(shown.contains("ULEQ_I_AZ    t0.3 w1 @7"), "{shown}");
}

#[test]
fn wrong_programs_are_refused() {
    let reason = |text: &str| match assemble(text) {
        Err(AssembleError::Program(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(reason("NULL_W 0"), ProgramError::RunsOver(1)));
    assert!(matches!(reason(""), ProgramError::RunsOver(0)));
    assert!(matches!(
        reason("start: JUMP start"),
        ProgramError::Branch { at: 0, to: 0, .. }
    ));
    assert!(matches!(
        reason("JUMP @9\nSTOP"),
        ProgramError::Branch { to: 9, .. }
    ));
    assert!(matches!(
        reason("MOVE_W_Z 1 2\nSTOP"),
        ProgramError::Unwritten { at: 0, .. }
    ));
    // Written on one of two ways only.
    let one_way = ".input w0\nJTRUE_Z w0 end\nNULL_W w1\nend: MOVE_W_Z w1 w2\nSTOP";
    assert!(matches!(
        reason(one_way),
        ProgramError::Unwritten { at: 2, .. }
    ));
    let both_ways = ".input w0\nJTRUE_Z w0 other\nNULL_W w1\nJUMP end\nother: NULL_W w1\nend: MOVE_W_Z w1 w2\nSTOP";
    assemble(both_ways).unwrap();
    let writes_constant = ".input w0\nADD_C_I_ZC w0 7 w1\nNULL_W w255\nSTOP";
    assert!(matches!(
        reason(writes_constant),
        ProgramError::Constant { at: 1, .. }
    ));
    assert!(matches!(
        reason(".tuple t0 4\nLOAD_W_A t0.4 w1\nSTOP"),
        ProgramError::Nothing { .. }
    ));
    assert!(matches!(
        reason(".slots 1\nCNT_A #1\nSTOP"),
        ProgramError::Nothing { .. }
    ));
    assert!(matches!(
        reason(".input s0\nJLIKE_S_Z s0 %0 end\nend: STOP"),
        ProgramError::Nothing { .. }
    ));
    assert!(matches!(
        reason("CALL %0\nSTOP"),
        ProgramError::Nothing { .. }
    ));
}

#[test]
fn wrong_lines_are_named() {
    let problem = |text: &str| match assemble(text) {
        Err(AssembleError::Line { line, problem }) => (line, problem),
        other => panic!("{other:?}"),
    };
    assert_eq!(problem("STOP\nFLY 1").0, 2);
    assert_eq!(problem("NULL_W").0, 1);
    assert_eq!(problem("NULL_W 256").0, 1);
    assert_eq!(problem("NULL_W 1 2").0, 1);
    assert_eq!(problem("JUMP nowhere\nSTOP").0, 1);
    assert_eq!(problem(".tuple t1 2\nLEQ_C_D_AC 1 1 'yesterday' 3").0, 2);
    assert_eq!(problem("NULL_W 'w").0, 1);
}

/// An attribute of another type than the opcode's is an error, not a number.
#[test]
fn an_attribute_of_another_type_is_an_error() {
    let columns = [TupleColumn {
        column_type: TupleType::Text,
        nullable: false,
        compression: TupleCompression::None,
    }];
    let layout = Arc::new(TupleLayout::new(&columns).unwrap());
    let program = assemble(".tuple t0 1\nLOAD_W_A t0.0 w0\nSTOP").unwrap();
    let mut registers = RegisterSet::new();
    let buffer = registers.add_buffer();
    registers.set_source(Tuple(0), TupleSource::Temporary(Arc::clone(&layout)));
    let loaded = program.load(&mut registers).unwrap();
    let bytes = registers.buffer_mut(buffer).unwrap();
    layout.encode(&[TupleValue::Bytes(b"text")], bytes).unwrap();
    let tuple_bytes = bytes.len() as u32;
    for tuple_bytes in [tuple_bytes, 1] {
        let place = TuplePlace {
            buffer,
            start: 0,
            key_bytes: 0,
            tuple_bytes,
        };
        registers.set_tuple(Tuple(0), place);
        let reason = program
            .run(loaded, &mut registers)
            .unwrap_err()
            .into_reason();
        match tuple_bytes {
            1 => assert!(matches!(reason, TrapReason::Temporary(_)), "{reason}"),
            _ => assert!(matches!(reason, TrapReason::Operand(_)), "{reason}"),
        }
    }
}

#[test]
fn every_opcode_says_what_it_does() {
    for opcode in OPCODES {
        assert!(!opcode.effect.is_empty(), "{}", opcode.name);
    }
    let mut names: Vec<&str> = OPCODES.iter().map(|opcode| opcode.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), OPCODES.len());
}
