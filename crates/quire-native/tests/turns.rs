//! Machine code and interpreter take turns: whatever stops the code, a program does what it does when it is interpreted.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use quire_exec::avm::{
    Native, Program, ProgramCompiler, Register, RegisterSet, Tuple, TuplePlace, TupleSource,
    WordRegister, assemble,
};
use quire_exec::plan::PlanScalar;
use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType};
use quire_native::NativeCompiler;
use quire_tables::row_table::TupleValue;

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// One program in two sets of registers, interpreted and compiled.
struct Twins {
    program: Program,
    registers: [RegisterSet; 2],
    native: Native,
    loaded: [quire_exec::avm::Loaded; 2],
}

impl Twins {
    fn new(text: &str, source: Option<&Arc<TupleLayout>>) -> Self {
        let program = assemble(text).unwrap();
        let mut registers = [RegisterSet::new(), RegisterSet::new()];
        let loaded = registers.each_mut().map(|registers| {
            registers.add_buffer();
            if let Some(layout) = source {
                registers.set_source(Tuple(0), TupleSource::Temporary(Arc::clone(layout)));
            }
            registers.begin_group(&program);
            program.load(registers).unwrap()
        });
        let compiler = NativeCompiler::new().unwrap();
        let code = compiler.compile(&program, &registers[1]);
        Self {
            native: Native::new(code.expect("most of it becomes code")),
            program,
            registers,
            loaded,
        }
    }

    fn set(&mut self, register: Register, value: &PlanScalar<'_>) {
        for registers in &mut self.registers {
            registers.set_value(register, value).unwrap();
        }
    }

    /// Points to a tuple; so many bytes of something else are behind it.
    fn point(&mut self, tuple: &[u8], room: usize) {
        for registers in &mut self.registers {
            let buffer = registers.buffer_mut(0).unwrap();
            buffer.clear();
            buffer.extend_from_slice(b"before");
            buffer.extend_from_slice(tuple);
            buffer.extend(std::iter::repeat_n(0xEE, room));
            let place = TuplePlace {
                buffer: 0,
                start: 6,
                key_bytes: 0,
                tuple_bytes: tuple.len() as u32,
            };
            registers.set_tuple(Tuple(0), place);
        }
    }

    /// Runs both: whether the row was taken, or the error, and the registers and slots afterwards are the same.
    fn run(&mut self, outputs: &[Register]) -> String {
        let [interpreted, compiled] = &mut self.registers;
        let outcomes = [
            self.program.run(self.loaded[0], interpreted),
            (self.program).run_native(&self.native, self.loaded[1], compiled),
        ];
        let shown = outcomes.map(|outcome| outcome.map_err(|trap| trap.to_string()));
        assert_eq!(shown[0], shown[1]);
        let slots = self
            .registers
            .each_ref()
            .map(|set| set.slots(&self.program));
        assert_eq!(slots[0], slots[1]);
        if shown[0].is_ok() {
            for output in outputs {
                let values = self.registers.each_ref().map(|set| set.value(*output));
                assert_eq!(format!("{:?}", values[0]), format!("{:?}", values[1]));
            }
        }
        format!("{:?}", shown[0])
    }
}

const W: fn(u8) -> Register = |number| Register::Integer(WordRegister(number));

fn wide(number: u8) -> Register {
    Register::Decimal(quire_exec::avm::Wide(number))
}

const ENDS: [i64; 9] = [
    i64::MIN,
    i64::MIN + 1,
    -3_000_000_000,
    -40_000,
    -1,
    0,
    1,
    2_147_483_647,
    i64::MAX,
];

#[test]
fn results_out_of_range_are_the_interpreters() {
    for (opcode, errors) in [
        ("ADD_C_I_ZZ", 1),
        ("SUB_C_I4_ZZ", 1),
        ("MUL_C_I2_ZZ", 1),
        ("DIV_C_I_ZZ", 10),
        ("REM_C_I_ZZ", 9),
    ] {
        let text = format!(".input w0\n.input w1\n{opcode} w0 w1 w2\nSTOP");
        let mut twins = Twins::new(&text, None);
        let mut error_count = 0;
        for left in ENDS {
            for right in ENDS {
                twins.set(W(0), &PlanScalar::Integer(left));
                twins.set(W(1), &PlanScalar::Integer(right));
                error_count += u32::from(twins.run(&[W(2)]).contains("Err"));
            }
        }
        assert!(error_count >= errors, "{opcode}: {error_count}");
    }
}

#[test]
fn decimals_of_sixteen_bytes_are_the_interpreters() {
    let text = "
        .input n0
        .input n1
        .slots 3
            JEQU_N_ZZ n0 n1 out
            SUM_A_N_Z n0 #0
            MUL_C_N_ZZ n0 n1 n2
            SUB_C_N_ZZ n2 n1 n3
            MIN_A_N_Z n3 #1
            MAX_A_N_Z n3 #2
            NEG_C_N_Z n3 n4
            DIV_C_N_ZZ n4 n1 n5
            STOP
        out: REJECT";
    let ends: Vec<i128> = ENDS
        .iter()
        .map(|value| i128::from(*value))
        .chain([1 << 64, -(1 << 64), 10_i128.pow(37), -(10_i128.pow(37))])
        .collect();
    let mut outcomes = Vec::new();
    let mut state = 88_172_645_463_325_252;
    let mut twins = Twins::new(text, None);
    for _ in 0..3_000 {
        let mut pick = || match random(&mut state) % 3 {
            0 => ends[(random(&mut state) % ends.len() as u64) as usize],
            _ => i128::from(random(&mut state) as i64 >> 40),
        };
        let (left, right) = (pick(), pick());
        twins.set(wide(0), &PlanScalar::Decimal(left));
        twins.set(wide(1), &PlanScalar::Decimal(right));
        outcomes.push(twins.run(&[2, 3, 4, 5].map(wide)));
    }
    for expected in ["Ok(true)", "Ok(false)", "Err(\"division by zero\")"] {
        assert!(
            outcomes.iter().any(|outcome| outcome == expected),
            "{expected}"
        );
    }
    assert!(
        outcomes
            .iter()
            .any(|outcome| outcome.contains("out of range"))
    );
}

/// Strings are made between numbers: the code is left and entered again, on each way of a branch.
#[test]
fn code_is_left_and_entered_again() {
    let text = "
        .input w0
        .input s0
        .slots 1
            ADD_C_I_ZC w0 7 w1
            CNV_IS_Z w1 s1
            MUL_C_I_ZC w1 3 w2
            CAT_C_S_ZZ s1 s0 s2
            JGRT_I_ZC w2 100 big
            ADD_C_I_ZZ w1 w2 w3
            SUM_A_I_Z w3 #0
            JUMP end
        big:  JLES_S_ZZ s2 s0 out
            SUB_C_I_ZZ w2 w1 w3
            SUM_A_I_Z w3 #0
        end:  CNV_IN_Z w3 n1
            MUL_C_N_ZZ n1 n1 n2
            SUM_A_I_Z w2 #0
            STOP
        out:  REJECT";
    let mut twins = Twins::new(text, None);
    let mut outcomes = Vec::new();
    for number in -50..90 {
        twins.set(W(0), &PlanScalar::Integer(number));
        let word: &[u8] = if number % 2 == 0 { b"4" } else { b"zz" };
        twins.set(
            Register::Text(quire_exec::avm::TextRegister(0)),
            &PlanScalar::Bytes(word.into()),
        );
        let texts = [1, 2].map(|number| Register::Text(quire_exec::avm::TextRegister(number)));
        let numbers = [W(1), W(2), W(3), wide(1), wide(2)];
        outcomes.push(twins.run(&[numbers.as_slice(), &texts].concat()));
    }
    assert!(outcomes.contains(&"Ok(true)".to_owned()));
    assert!(outcomes.contains(&"Ok(false)".to_owned()));
    assert!(twins.native.is_worth_it());
}

const DECODING: &str = "
    .tuple t0 6
    .slots 7
        ULEQ_I_AZ t0.0 w0 out
        LOAD_W_A t0.1 w1
        JNULL_W_Z w1 none
        SUM_A_I_Z w1 #0
        MUL_C_I_AZ t0.0 w1 w2
        MAX_A_I_Z w2 #1
  none: SUM_A_N_A t0.2 #2
        LOAD_N_A t0.3 n1
        JNULL_N_Z n1 next
        MIN_A_N_Z n1 #3
  next: SUM_A_F_A t0.4 #4
        LOAD_W_A t0.5 w3
        JTRUE_Z w3 end
        CNT_A #5
  end:  CNT_A #6
        STOP
  out:  REJECT
    .input w0
    .counter #5
    .counter #6";

fn layout(compression: &TupleCompression) -> Arc<TupleLayout> {
    let column = |column_type, nullable| TupleColumn {
        column_type,
        nullable,
        compression: compression.clone(),
    };
    let columns = [
        column(TupleType::Int32, false),
        column(TupleType::Int64, true),
        column(TupleType::Int128 { digits: 12 }, false),
        column(TupleType::Int128 { digits: 30 }, true),
        column(TupleType::Float64, true),
        column(TupleType::Bool, false),
    ];
    Arc::new(TupleLayout::new(&columns).unwrap())
}

/// A tuple with any room behind it, down to none, is read.
#[test]
fn tuples_are_read_wherever_they_are() {
    let mut state = 362_436_069;
    for compression in [TupleCompression::None, TupleCompression::NullSuppressed] {
        let layout = layout(&compression);
        let mut twins = Twins::new(DECODING, Some(&layout));
        twins.set(W(0), &PlanScalar::Integer(900));
        let mut taken = 0;
        for round in 0..4_000 {
            let mut below = |limit: u64| (random(&mut state) % limit) as i64;
            let large = i128::from(below(1 << 40)) << below(60);
            let row = [
                TupleValue::Integer(below(1_000)),
                match below(4) {
                    0 => TupleValue::Null,
                    _ => TupleValue::Integer(below(1 << 40) - (1 << 20)),
                },
                TupleValue::Wide(i128::from(below(1_000_000))),
                match below(4) {
                    0 => TupleValue::Null,
                    1 => TupleValue::Wide(large),
                    _ => TupleValue::Wide(i128::from(below(100_000) - 50_000)),
                },
                match below(3) {
                    0 => TupleValue::Null,
                    1 => TupleValue::Float64(0.1),
                    _ => TupleValue::Float64(below(100) as f64),
                },
                TupleValue::Bool(below(2) == 1),
            ];
            let mut tuple = Vec::new();
            layout.encode(&row, &mut tuple).unwrap();
            twins.point(&tuple, round % 24);
            taken += u32::from(twins.run(&[W(1), wide(1), W(3)]) == "Ok(true)");
        }
        assert!((3_000..4_000).contains(&taken), "{taken}");
    }
}

/// Bytes that no encoder made have the errors, and the values, that they have for the interpreter.
#[test]
fn damaged_tuples_have_the_same_errors() {
    let mut state = 123_456_789;
    for compression in [TupleCompression::None, TupleCompression::NullSuppressed] {
        let layout = layout(&compression);
        let mut errors = 0;
        let mut twins = Twins::new(DECODING, Some(&layout));
        twins.set(W(0), &PlanScalar::Integer(i64::MAX));
        for _ in 0..20_000 {
            let bytes = (random(&mut state) % 70) as usize;
            let tuple: Vec<u8> = (0..bytes).map(|_| random(&mut state) as u8).collect();
            twins.point(&tuple, 16);
            errors += u32::from(twins.run(&[W(1), wide(1), W(3)]).contains("damaged"));
            if !twins.native.is_worth_it() {
                twins = Twins::new(DECODING, Some(&layout));
                twins.set(W(0), &PlanScalar::Integer(i64::MAX));
            }
        }
        assert!(errors > 5_000, "{errors}");
    }
}

#[test]
fn a_tuple_of_nulls_is_read_as_such() {
    let layout = layout(&TupleCompression::None);
    let mut twins = Twins::new(DECODING, Some(&layout));
    twins.set(W(0), &PlanScalar::Integer(1));
    for registers in &mut twins.registers {
        registers.set_tuple(Tuple(0), TuplePlace::NULLS);
    }
    assert_eq!(twins.run(&[]), "Ok(false)");
}

#[test]
fn code_that_seldom_comes_through_is_given_up() {
    let mut twins = Twins::new(".input n0\n.input n1\nADD_C_N_ZZ n0 n1 n2\nSTOP", None);
    twins.set(wide(0), &PlanScalar::Decimal(1 << 80));
    twins.set(wide(1), &PlanScalar::Decimal(1));
    for _ in 0..100 {
        twins.run(&[wide(2)]);
    }
    assert!(twins.native.is_worth_it());
    for _ in 0..10_000 {
        twins.run(&[wide(2)]);
    }
    assert!(!twins.native.is_worth_it());
}

/// What is mostly strings is not compiled.
#[test]
fn programs_of_strings_stay_interpreted() {
    let program = assemble(
        ".input s0\n.input s1\nCAT_C_S_ZZ s0 s1 s2\nCAT_C_S_ZZ s2 s1 s3\nJEQU_S_ZZ s3 s0 end\nend: STOP",
    )
    .unwrap();
    let compiler = NativeCompiler::new().unwrap();
    assert!(compiler.compile(&program, &RegisterSet::new()).is_none());
}

/// Compiling is put off for longer where less is gained.
#[test]
fn few_runs_are_not_compiled() {
    let compiler = NativeCompiler::new().unwrap();
    assert!(compiler.runs_before(1) > compiler.runs_before(100));
    assert!(compiler.runs_before(usize::MAX) > 100);
}
