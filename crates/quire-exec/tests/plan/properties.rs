//! What an expression says of itself holds for every row: kind, NULLs, errors, and whether rows matter. Random expressions over
//! random rows.

use std::sync::Arc;

use quire_exec::plan::{
    CastPlan, ComparisonExpression, DecimalOperation, DecimalRescale, Environment, EvaluationError,
    Expression, FloatOperator, FunctionError, IntegerOperation, IntegerWidth, LikePattern,
    Operator, PlanScalar, ScalarFunction, ShortCut, ValueKind,
};
use quire_tables::row_table::{TupleValue, Value};

const KINDS: [ValueKind; 6] = [
    ValueKind::Boolean,
    ValueKind::Integer,
    ValueKind::Decimal,
    ValueKind::Real,
    ValueKind::Double,
    ValueKind::Bytes,
];

/// Knuth's linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        let step = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = step.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

#[derive(Debug)]
struct Failing(ValueKind);

impl ScalarFunction for Failing {
    fn name(&self) -> &str {
        "failing"
    }

    fn kind(&self) -> ValueKind {
        self.0
    }

    fn call<'a>(&self, _: &[PlanScalar<'a>]) -> Result<PlanScalar<'a>, EvaluationError> {
        Err(EvaluationError::Function(Box::new(FunctionError {
            sqlstate: "22000",
            message: "no value".to_owned(),
            detail: None,
            hint: None,
        })))
    }
}

fn value(random: &mut Random, kind: ValueKind) -> Value {
    let small = i64::try_from(random.below(5)).unwrap() - 2;
    match kind {
        ValueKind::Boolean => Value::Boolean(small > 0),
        ValueKind::Integer => Value::Integer(random.pick(&[small, small, i64::MAX])),
        ValueKind::Decimal => {
            Value::Decimal(random.pick(&[i128::from(small), 10_i128.pow(37)]).into())
        }
        ValueKind::Real => Value::Real(random.pick(&[small as f32, f32::NAN, -0.0])),
        ValueKind::Double => Value::Double(random.pick(&[small as f64, f64::INFINITY, 0.5])),
        ValueKind::Bytes => Value::Text(random.pick(&["", "a", "ab", "é"]).into()),
    }
}

/// Slots of a row: for each kind one that may be NULL and one that may not.
fn column(random: &mut Random, kind: ValueKind) -> Expression {
    let place = KINDS.iter().position(|known| *known == kind).unwrap();
    let nullable = random.below(2) == 0;
    Expression::Column {
        slot: place * 2 + usize::from(nullable),
        kind,
        nullable,
    }
}

fn row(random: &mut Random) -> Vec<Value> {
    let mut row = Vec::new();
    for kind in KINDS {
        row.push(value(random, kind));
        let nullable = value(random, kind);
        row.push(match random.below(2) {
            0 => nullable,
            _ => Value::Null,
        });
    }
    row
}

fn leaf(random: &mut Random, kind: ValueKind) -> Expression {
    match random.below(8) {
        0 => Expression::Null(kind),
        1 | 2 => Expression::Constant(value(random, kind)),
        3 if kind == ValueKind::Integer => Expression::Now,
        _ => column(random, kind),
    }
}

fn condition(random: &mut Random, depth: u32) -> Expression {
    let kind = random.pick(&KINDS);
    let (first, second) = (tree(random, kind, depth), tree(random, kind, depth));
    let flag = random.below(2) == 0;
    let mut boolean = || Box::new(tree(random, ValueKind::Boolean, depth));
    let two = Box::new([*boolean(), *boolean()]);
    let one = boolean();
    let text = Box::new(tree(random, ValueKind::Bytes, depth));
    match random.below(8) {
        0 => Expression::And(two),
        1 => Expression::Or(two),
        2 => Expression::Not(one),
        3 => Expression::Is(one, flag, random.below(2) == 0),
        4 => Expression::IsNull(Box::new(first), flag),
        5 => Expression::In(Box::new(first), vec![second], flag),
        6 => Expression::Like(text, Box::new(LikePattern::new("%a_")), flag),
        _ => {
            let comparison =
                random.pick(&[ComparisonExpression::Less, ComparisonExpression::Distinct]);
            Expression::Compare(comparison, Box::new([first, second]))
        }
    }
}

fn cast(random: &mut Random, kind: ValueKind, depth: u32) -> Option<Expression> {
    let rescale = DecimalRescale::new(2, 10)?;
    let (short_cut, from) = match kind {
        ValueKind::Integer => (
            ShortCut::IntegerInRange { min: -1, max: 1 },
            ValueKind::Integer,
        ),
        ValueKind::Double if random.below(2) == 0 => (ShortCut::RealToDouble, ValueKind::Real),
        ValueKind::Double => (ShortCut::IntegerToDouble, ValueKind::Integer),
        ValueKind::Bytes => (ShortCut::IntegerToText, ValueKind::Integer),
        ValueKind::Decimal if random.below(2) == 0 => {
            (ShortCut::IntegerToDecimal(rescale), ValueKind::Integer)
        }
        ValueKind::Decimal => (ShortCut::DecimalToDecimal(rescale), ValueKind::Decimal),
        ValueKind::Boolean | ValueKind::Real => return None,
    };
    let plan = CastPlan::new(short_cut, Arc::new(Failing(kind)));
    let inner = tree(random, from, depth);
    Some(Expression::Cast(Box::new(plan), Box::new(inner)))
}

fn arithmetic(random: &mut Random, kind: ValueKind, depth: u32) -> Expression {
    let sides = Box::new([tree(random, kind, depth), tree(random, kind, depth)]);
    let operator = random.pick(&[
        Operator::Add,
        Operator::Subtract,
        Operator::Multiply,
        Operator::Divide,
        Operator::Remainder,
    ]);
    match kind {
        ValueKind::Integer => {
            let width = random.pick(&[IntegerWidth::Bits16, IntegerWidth::Bits64]);
            Expression::Integer(IntegerOperation::new(operator, width), sides)
        }
        ValueKind::Real => Expression::Real(FloatOperator(operator), sides),
        ValueKind::Double => Expression::Double(FloatOperator(operator), sides),
        ValueKind::Decimal => {
            let operation = DecimalOperation::new(operator, 2, 3).unwrap();
            let result = Expression::Decimal(operation, sides);
            Expression::Digits(Box::new(result))
        }
        ValueKind::Bytes => Expression::Concatenate(sides),
        ValueKind::Boolean => condition(random, depth),
    }
}

fn tree(random: &mut Random, kind: ValueKind, depth: u32) -> Expression {
    if depth == 0 {
        return leaf(random, kind);
    }
    let depth = depth - 1;
    match random.below(8) {
        0 => leaf(random, kind),
        1 => {
            let mut branches = Vec::new();
            for _ in 0..=random.below(2) {
                branches.push((condition(random, depth.min(1)), tree(random, kind, depth)));
            }
            let otherwise = (random.below(2) == 0).then(|| Box::new(tree(random, kind, depth)));
            Expression::Case(branches, otherwise)
        }
        2 => Expression::Coalesce(vec![tree(random, kind, depth), tree(random, kind, depth)]),
        3 => cast(random, kind, depth).unwrap_or_else(|| leaf(random, kind)),
        4 if random.below(8) == 0 => Expression::Call(Arc::new(Failing(kind)), Vec::new()),
        5 if matches!(
            kind,
            ValueKind::Decimal | ValueKind::Real | ValueKind::Double
        ) =>
        {
            Expression::Negate(Box::new(tree(random, kind, depth)))
        }
        _ => arithmetic(random, kind, depth),
    }
}

#[test]
fn what_an_expression_says_of_itself_holds_for_every_row() {
    let mut random = Random(7);
    let (mut values, mut nulls, mut errors) = (0, 0, 0);
    for _ in 0..20_000 {
        let kind = random.pick(&KINDS);
        let expression = tree(&mut random, kind, 3);
        assert_eq!(expression.kind(), kind, "{expression:?}");
        let environment = Environment::new(&[]);
        let mut known: Option<String> = None;
        for _ in 0..4 {
            let row = row(&mut random);
            let row: Vec<TupleValue<'_>> = row.iter().map(Value::as_tuple_value).collect();
            let result = expression.evaluate(&row, &environment);
            match &result {
                Ok(value) if value.is_null() => {
                    assert!(expression.may_be_null(), "NULL of {expression:?}");
                    nulls += 1;
                }
                Ok(value) => {
                    assert_eq!(value.kind(), Some(kind), "{expression:?}");
                    values += 1;
                }
                Err(error) => {
                    assert!(expression.can_fail(), "{error} of {expression:?}");
                    errors += 1;
                }
            }
            let shown = format!("{result:?}");
            if expression.is_fixed() {
                assert_eq!(*known.get_or_insert(shown.clone()), shown, "{expression:?}");
            }
        }
    }
    // The sample has all three in numbers.
    assert!(values > 10_000 && nulls > 1_000 && errors > 1_000);
}
