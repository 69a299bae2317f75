//! Programs, and machine code made of them, compute what the trees of their expressions do: values, NULLs and errors, of columns in registers
//! and in tuples of every compression.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::Config;
use quire_exec::avm::{
    Attribute, ColumnBinding, Compiler, Loaded, Native, Program, ProgramCompiler, Register,
    RegisterPool, RegisterSet, TrapReason, Tuple, TuplePlace, TupleSource,
};
use quire_exec::plan::{
    ComparisonExpression, DecimalOperation, Environment, EvaluationError, Expression,
    FloatOperator, IntegerOperation, IntegerWidth, LikePattern, Operator, PlanScalar, ValueKind,
};
use quire_format::tuple::{TupleColumn, TupleCompression, TupleDictionary, TupleLayout, TupleType};
use quire_native::NativeCompiler;
use quire_tables::row_table::{TupleValue, Value};

/// The columns of all rows: every kind, once NOT NULL and once not.
const KINDS: [(ValueKind, TupleType); 6] = [
    (ValueKind::Boolean, TupleType::Bool),
    (ValueKind::Integer, TupleType::Int64),
    (ValueKind::Decimal, TupleType::Int128 { digits: 20 }),
    (ValueKind::Real, TupleType::Float32),
    (ValueKind::Double, TupleType::Float64),
    (ValueKind::Bytes, TupleType::Text),
];

const COLUMN_COUNT: usize = 2 * KINDS.len();

fn column_kind(slot: usize) -> (ValueKind, bool) {
    (KINDS[slot / 2].0, slot % 2 == 1)
}

fn value_of(kind: ValueKind) -> BoxedStrategy<Value> {
    match kind {
        ValueKind::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        ValueKind::Integer => prop_oneof![
            4 => (-5_i64..6).prop_map(Value::Integer),
            1 => prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(i64::from(i32::MAX)), Just(i64::from(i32::MIN)), Just(32_767)].prop_map(Value::Integer),
        ]
        .boxed(),
        ValueKind::Decimal => prop_oneof![
            4 => (-500_i128..600).prop_map(|value| Value::Decimal(value.into())),
            1 => prop_oneof![Just(10_i128.pow(20) - 1), Just(1 - 10_i128.pow(20)), Just(i128::from(i64::MAX))].prop_map(|value| Value::Decimal(value.into())),
        ]
        .boxed(),
        ValueKind::Real => prop_oneof![Just(0.0), Just(-0.0), Just(1.5), Just(-2.25), Just(f32::NAN)]
            .prop_map(Value::Real)
            .boxed(),
        ValueKind::Double => prop_oneof![Just(0.0), Just(-0.0), Just(1.5), Just(-2.25), Just(f64::NAN)]
            .prop_map(Value::Double)
            .boxed(),
        ValueKind::Bytes => prop_oneof![Just(""), Just("a"), Just("ab"), Just("b%"), Just("äb"), Just("a string that is longer than others")]
            .prop_map(|text| Value::Text(text.into()))
            .boxed(),
    }
}

fn row() -> impl Strategy<Value = Vec<Value>> {
    let columns: Vec<BoxedStrategy<Value>> = (0..COLUMN_COUNT)
        .map(|slot| match column_kind(slot) {
            (kind, false) => value_of(kind),
            (kind, true) => prop_oneof![3 => value_of(kind), 1 => Just(Value::Null)].boxed(),
        })
        .collect();
    columns
}

fn leaf(kind: ValueKind) -> BoxedStrategy<Expression> {
    let first = KINDS.iter().position(|(known, _)| *known == kind).unwrap() * 2;
    let column = (first..first + 2).prop_map(move |slot| Expression::Column {
        slot,
        kind,
        nullable: column_kind(slot).1,
    });
    let number = KINDS.iter().position(|(known, _)| *known == kind).unwrap();
    prop_oneof![
        6 => column,
        2 => value_of(kind).prop_map(Expression::Constant),
        1 => Just(Expression::Null(kind)),
        1 => Just(Expression::Parameter { number, kind }),
    ]
    .boxed()
}

fn pair(kind: ValueKind, depth: u32) -> impl Strategy<Value = Box<[Expression; 2]>> {
    (expression(kind, depth), expression(kind, depth))
        .prop_map(|(left, right)| Box::new([left, right]))
}

fn operator() -> impl Strategy<Value = Operator> {
    prop_oneof![
        Just(Operator::Add),
        Just(Operator::Subtract),
        Just(Operator::Multiply),
        Just(Operator::Divide),
        Just(Operator::Remainder)
    ]
}

/// The sign of a NaN that a processor makes of other numbers is not the same on every way of compiling, and results are compared by
/// their bits: so no remainders here, no infinite numbers, and no negative NaN.
fn float_operator() -> impl Strategy<Value = FloatOperator> {
    let operators = [
        Operator::Add,
        Operator::Subtract,
        Operator::Multiply,
        Operator::Divide,
    ];
    prop::sample::select(operators.to_vec()).prop_map(FloatOperator)
}

fn width() -> impl Strategy<Value = IntegerWidth> {
    prop_oneof![
        Just(IntegerWidth::Bits64),
        Just(IntegerWidth::Bits32),
        Just(IntegerWidth::Bits16)
    ]
}

fn expression(kind: ValueKind, depth: u32) -> BoxedStrategy<Expression> {
    if depth == 0 {
        return leaf(kind);
    }
    let below = depth - 1;
    let case = (
        prop::collection::vec(
            (
                expression(ValueKind::Boolean, below),
                expression(kind, below),
            ),
            1..3,
        ),
        prop::option::of(expression(kind, below)),
    )
        .prop_map(|(branches, otherwise)| Expression::Case(branches, otherwise.map(Box::new)));
    let coalesce =
        prop::collection::vec(expression(kind, below), 1..4).prop_map(Expression::Coalesce);
    let special = match kind {
        ValueKind::Boolean => condition(below),
        ValueKind::Integer => (operator(), width(), pair(kind, below))
            .prop_map(|(operator, width, sides)| {
                Expression::Integer(IntegerOperation::new(operator, width), sides)
            })
            .boxed(),
        ValueKind::Decimal => prop_oneof![
            4 => (operator(), 0_i8..6, 0_i8..6, pair(kind, below)).prop_map(|(operator, left, right, sides)| {
                Expression::Decimal(DecimalOperation::new(operator, left, right).unwrap(), sides)
            }),
            1 => expression(kind, below).prop_map(|inner| Expression::Negate(Box::new(inner))),
            1 => expression(kind, below).prop_map(|inner| Expression::Digits(Box::new(inner))),
        ]
        .boxed(),
        ValueKind::Real => (float_operator(), pair(kind, below))
            .prop_map(|(operator, sides)| Expression::Real(operator, sides))
            .boxed(),
        ValueKind::Double => (float_operator(), pair(kind, below))
            .prop_map(|(operator, sides)| Expression::Double(operator, sides))
            .boxed(),
        ValueKind::Bytes => pair(kind, below).prop_map(Expression::Concatenate).boxed(),
    };
    prop_oneof![2 => leaf(kind), 5 => special, 1 => case, 1 => coalesce].boxed()
}

fn condition(depth: u32) -> BoxedStrategy<Expression> {
    let comparison = prop_oneof![
        Just(ComparisonExpression::Equal),
        Just(ComparisonExpression::NotEqual),
        Just(ComparisonExpression::Less),
        Just(ComparisonExpression::LessOrEqual),
        Just(ComparisonExpression::Greater),
        Just(ComparisonExpression::GreaterOrEqual),
        Just(ComparisonExpression::Distinct),
        Just(ComparisonExpression::NotDistinct),
    ];
    let kind = prop::sample::select(KINDS.map(|(kind, _)| kind).to_vec());
    let compare = (comparison, kind.clone()).prop_flat_map(move |(comparison, kind)| {
        pair(kind, depth).prop_map(move |sides| Expression::Compare(comparison, sides))
    });
    let is_null = (kind.clone(), any::<bool>()).prop_flat_map(move |(kind, wanted)| {
        expression(kind, depth).prop_map(move |inner| Expression::IsNull(Box::new(inner), wanted))
    });
    let truth = (
        expression(ValueKind::Boolean, depth),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(inner, value, wanted)| Expression::Is(Box::new(inner), value, wanted));
    let is_in = (kind, any::<bool>()).prop_flat_map(move |(kind, is_negated)| {
        let items = prop::collection::vec(
            prop_oneof![2 => leaf(kind), 1 => expression(kind, depth)],
            1..5,
        );
        (expression(kind, depth), items)
            .prop_map(move |(tested, items)| Expression::In(Box::new(tested), items, is_negated))
    });
    let pattern = prop_oneof![Just("%"), Just("a%"), Just("_b"), Just("%b\\%"), Just("ä_")];
    let like = (expression(ValueKind::Bytes, depth), pattern, any::<bool>()).prop_map(
        |(tested, pattern, is_negated)| {
            Expression::Like(
                Box::new(tested),
                Box::new(LikePattern::new(pattern)),
                is_negated,
            )
        },
    );
    prop_oneof![
        6 => compare,
        3 => pair(ValueKind::Boolean, depth).prop_map(Expression::And),
        3 => pair(ValueKind::Boolean, depth).prop_map(Expression::Or),
        1 => expression(ValueKind::Boolean, depth).prop_map(|inner| Expression::Not(Box::new(inner))),
        1 => is_null,
        1 => truth,
        2 => is_in,
        1 => like,
    ]
    .boxed()
}

fn any_expression() -> impl Strategy<Value = Expression> {
    prop::sample::select(KINDS.map(|(kind, _)| kind).to_vec())
        .prop_flat_map(|kind| expression(kind, 3))
}

/// How the columns of a row get to a program.
#[derive(Clone, Copy, Debug)]
enum Way {
    Registers,
    Plain,
    Compressed,
    /// Frequent integers, decimals and texts as codes.
    Coded,
}

/// Every way, interpreted and as machine code.
fn ways() -> impl Iterator<Item = (Way, bool)> {
    let ways = [Way::Registers, Way::Plain, Way::Compressed, Way::Coded];
    ways.into_iter().flat_map(|way| [(way, false), (way, true)])
}

fn coded(column_type: TupleType) -> TupleCompression {
    let values = match column_type {
        TupleType::Int64 => vec![TupleValue::Integer(1), TupleValue::Integer(-3)],
        TupleType::Int128 { .. } => vec![TupleValue::Wide(17), TupleValue::Wide(0)],
        TupleType::Text => vec![TupleValue::Bytes(b"ab"), TupleValue::Bytes(b"")],
        _ => return TupleCompression::NullSuppressed,
    };
    let dictionary = TupleDictionary::new(column_type, 2, &values).unwrap();
    TupleCompression::OpenDictionary(Arc::new(dictionary))
}

fn layout(way: Way) -> TupleLayout {
    let columns: Vec<TupleColumn> = (0..COLUMN_COUNT)
        .map(|slot| TupleColumn {
            column_type: KINDS[slot / 2].1,
            nullable: slot % 2 == 1,
            compression: match way {
                Way::Compressed => TupleCompression::NullSuppressed,
                Way::Coded => coded(KINDS[slot / 2].1),
                _ => TupleCompression::None,
            },
        })
        .collect();
    TupleLayout::new(&columns).unwrap()
}

/// What a program came to: whether it took the row, and the values of its outputs.
type Outcome = Result<Option<Vec<PlanScalar<'static>>>, EvaluationError>;

fn owned(scalar: PlanScalar<'_>) -> PlanScalar<'static> {
    match scalar {
        PlanScalar::Bytes(bytes) => PlanScalar::Bytes(bytes.into_owned().into()),
        PlanScalar::Null => PlanScalar::Null,
        PlanScalar::Boolean(value) => PlanScalar::Boolean(value),
        PlanScalar::Integer(value) => PlanScalar::Integer(value),
        PlanScalar::Decimal(value) => PlanScalar::Decimal(value),
        PlanScalar::Real(value) => PlanScalar::Real(value),
        PlanScalar::Double(value) => PlanScalar::Double(value),
    }
}

fn expected(
    condition: &Expression,
    outputs: &[Expression],
    row: &[Value],
    parameters: &[Value],
) -> Outcome {
    let values: Vec<TupleValue<'_>> = row.iter().map(Value::as_tuple_value).collect();
    let environment = Environment::new(parameters);
    if condition.evaluate(&values, &environment)? != PlanScalar::Boolean(true) {
        return Ok(None);
    }
    let outputs = outputs
        .iter()
        .map(|output| output.evaluate(&values, &environment).map(owned));
    outputs.collect::<Result<_, _>>().map(Some)
}

fn computed(
    way: Way,
    is_native: bool,
    condition: &Expression,
    outputs: &[Expression],
    rows: &[Vec<Value>],
    parameters: &[Value],
) -> Vec<Outcome> {
    let mut pool = RegisterPool::default();
    let tuple = pool.tuple().unwrap();
    let mut registers = RegisterSet::new();
    let buffer = registers.add_buffer();
    let layout = Arc::new(layout(way));
    registers.set_source(tuple, TupleSource::Temporary(Arc::clone(&layout)));
    let places: Vec<ColumnBinding> = (0..COLUMN_COUNT)
        .map(|slot| match way {
            Way::Registers => ColumnBinding::Register(pool.fresh(column_kind(slot).0).unwrap()),
            _ => ColumnBinding::Attribute {
                attribute: Attribute {
                    tuple,
                    ordinal: slot as u16,
                },
                is_shared: false,
            },
        })
        .collect();
    let tuples: &[(Tuple, u16)] = &[(tuple, COLUMN_COUNT as u16)];
    let mut compiler = Compiler::new(&mut pool, places.clone(), tuples);
    compiler.announce([condition]);
    compiler.announce(outputs);
    compiler.filter(condition).unwrap();
    let targets: Vec<Register> = outputs
        .iter()
        .map(|output| compiler.output(output).unwrap())
        .collect();
    let (program, _) = compiler.finish().unwrap();
    let loaded = program.load(&mut registers).unwrap();
    let native = is_native.then(|| NativeCompiler::new().unwrap());
    let native = native.and_then(|compiler| compiler.compile(&program, &registers));
    let native = native.map(Native::new);
    for (number, register) in pool.parameters().iter().enumerate() {
        if let Some(register) = register {
            registers
                .set_value(*register, &parameters[number].as_tuple_value().into())
                .unwrap();
        }
    }
    let run = |row: &Vec<Value>| {
        let values: Vec<TupleValue<'_>> = row.iter().map(Value::as_tuple_value).collect();
        for (place, value) in places.iter().zip(&values) {
            if let ColumnBinding::Register(register) = place {
                registers.set_value(*register, &(*value).into()).unwrap();
            }
        }
        let bytes = registers.buffer_mut(buffer).unwrap();
        bytes.clear();
        layout.encode(&values, bytes).unwrap();
        let place = TuplePlace {
            buffer,
            start: 0,
            key_bytes: 0,
            tuple_bytes: bytes.len() as u32,
        };
        // Machine code looks at rows with room behind them.
        bytes.extend_from_slice(&[0xA5; 16]);
        registers.set_tuple(tuple, place);
        outcome(&program, native.as_ref(), loaded, &mut registers, &targets)
    };
    rows.iter().map(run).collect()
}

fn outcome(
    program: &Program,
    native: Option<&Native>,
    loaded: Loaded,
    registers: &mut RegisterSet,
    targets: &[Register],
) -> Outcome {
    let taken = match native {
        Some(native) => program.run_native(native, loaded, registers),
        None => program.run(loaded, registers),
    };
    match taken {
        Ok(true) => {
            let values = targets.iter().map(|target| owned(registers.value(*target)));
            Ok(Some(values.collect()))
        }
        Ok(false) => Ok(None),
        Err(trap) => match trap.into_reason() {
            TrapReason::Evaluation(error) => Err(error),
            other => panic!("{other}"),
        },
    }
}

/// Floats beside their bits: a NaN is itself here.
fn shown(outcome: &Outcome) -> String {
    match outcome {
        Ok(Some(values)) => values
            .iter()
            .map(|value| match value {
                PlanScalar::Double(value) if !value.is_nan() => {
                    format!("double {:x} ", value.to_bits())
                }
                PlanScalar::Real(value) if !value.is_nan() => {
                    format!("real {:x} ", value.to_bits())
                }
                other => format!("{other:?} "),
            })
            .collect(),
        other => format!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(Config { cases: 3_000, ..Config::default() })]

    #[test]
    fn programs_compute_what_trees_do(
        condition in expression(ValueKind::Boolean, 3),
        outputs in prop::collection::vec(any_expression(), 0..4),
        rows in prop::collection::vec(row(), 1..6),
        parameters in row(),
    ) {
        let parameters: Vec<Value> = parameters.into_iter().skip(1).step_by(2).collect();
        for (way, is_native) in ways() {
            let computed = computed(way, is_native, &condition, &outputs, &rows, &parameters);
            for (row, computed) in rows.iter().zip(&computed) {
                let expected = expected(&condition, &outputs, row, &parameters);
                prop_assert_eq!(shown(computed), shown(&expected), "{:?} {} {:?}", way, is_native, row);
            }
        }
    }
}

/// What the property leaves out: infinite numbers, remainders, and minus.
#[test]
fn floats_at_their_ends() {
    let doubles = [
        0.0,
        -0.0,
        1.5,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let column = |slot| Expression::Column {
        slot,
        kind: ValueKind::Double,
        nullable: slot == 9,
    };
    let sides = || Box::new([column(8), column(9)]);
    let outputs = [
        Expression::Double(FloatOperator(Operator::Multiply), sides()),
        Expression::Double(FloatOperator(Operator::Add), sides()),
        Expression::Double(FloatOperator(Operator::Remainder), sides()),
        Expression::Negate(Box::new(column(9))),
    ];
    let always = Expression::Constant(Value::Boolean(true));
    for left in doubles {
        for right in doubles {
            let mut row: Vec<Value> = (0..COLUMN_COUNT)
                .map(|slot| match column_kind(slot).0 {
                    ValueKind::Boolean => Value::Boolean(true),
                    ValueKind::Integer => Value::Integer(0),
                    ValueKind::Decimal => Value::Decimal(0.into()),
                    ValueKind::Real => Value::Real(0.0),
                    ValueKind::Double => Value::Double(left),
                    ValueKind::Bytes => Value::Text("".into()),
                })
                .collect();
            row[9] = Value::Double(right);
            let expected = expected(&always, &outputs, &row, &[]);
            for (way, is_native) in ways() {
                let rows = [row.clone()];
                let computed = computed(way, is_native, &always, &outputs, &rows, &[]);
                assert_eq!(
                    shown(&computed[0]),
                    shown(&expected),
                    "{left} {right} {way:?} {is_native}"
                );
            }
        }
    }
}
