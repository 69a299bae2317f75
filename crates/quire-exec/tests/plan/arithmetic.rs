//! Arithmetic on integers and decimals, against wider integers and fractions.

use quire_exec::plan::{
    DecimalOperation, EvaluationError, IntegerOperation, IntegerWidth, Operator,
};

const OPERATORS: [Operator; 5] = [
    Operator::Add,
    Operator::Subtract,
    Operator::Multiply,
    Operator::Divide,
    Operator::Remainder,
];

/// What an operator gives without any limit, on integers of at most 64 bits.
fn exact(operator: Operator, left: i128, right: i128) -> Option<i128> {
    Some(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide if right != 0 => left / right,
        Operator::Remainder if right != 0 => left % right,
        _ => return None,
    })
}

#[test]
fn integers_are_exact_or_an_error() {
    for width in [
        IntegerWidth::Bits8,
        IntegerWidth::Bits16,
        IntegerWidth::Bits32,
        IntegerWidth::Bits64,
    ] {
        let (min, max) = width.bounds();
        let samples = [
            min,
            min + 1,
            min / 2,
            -7,
            -1,
            0,
            1,
            2,
            10,
            max / 3,
            max - 1,
            max,
        ];
        for operator in OPERATORS {
            let operation = IntegerOperation::new(operator, width);
            for left in samples {
                for right in samples {
                    let expected = exact(operator, left.into(), right.into());
                    let fits = |value: &i128| (min.into()..=max.into()).contains(value);
                    match (operation.apply(left, right), expected) {
                        (Ok(result), Some(expected)) => assert_eq!(i128::from(result), expected),
                        (Err(EvaluationError::DivisionByZero), None) => assert_eq!(right, 0),
                        (Err(_), Some(expected)) => assert!(!fits(&expected)),
                        (result, expected) => {
                            panic!("{left} {operator:?} {right}: {result:?}, not {expected:?}")
                        }
                    }
                }
            }
        }
    }
}

/// A decimal is a fraction: its digits over a power of ten.
#[test]
fn decimals_have_the_scale_that_their_operator_gives() {
    for (left, left_scale) in [(12_345_i128, 2_i8), (-7, 0), (1, 6), (99_999_999, 4)] {
        for (right, right_scale) in [(3_i128, 0_i8), (250, 2), (-123_456, 5)] {
            for operator in OPERATORS {
                let operation = DecimalOperation::new(operator, left_scale, right_scale).unwrap();
                let result = operation.apply(left, right).unwrap();
                // Both sides over 10^(left_scale + right_scale).
                let power = |scale: i8| 10_i128.pow(u32::try_from(scale).unwrap());
                let (wide_left, wide_right) =
                    (left * power(right_scale), right * power(left_scale));
                let scale = left_scale.max(right_scale);
                let shrunk = |value: i128| value / power(left_scale + right_scale - scale);
                let expected = match operator {
                    Operator::Add => shrunk(wide_left + wide_right),
                    Operator::Subtract => shrunk(wide_left - wide_right),
                    Operator::Remainder => shrunk(wide_left % wide_right),
                    Operator::Multiply => left * right,
                    Operator::Divide => wide_left * power(left_scale + 4) / wide_right,
                };
                assert_eq!(result, expected, "{left} {operator:?} {right}");
            }
        }
    }
}

#[test]
fn decimals_that_leave_128_bits_are_errors_with_their_operands() {
    let multiply = DecimalOperation::new(Operator::Multiply, 0, 0).unwrap();
    let Err(EvaluationError::Overflow(overflow)) = multiply.apply(i128::MAX, 2) else {
        panic!("the product of {} and 2 fits", i128::MAX);
    };
    assert_eq!(overflow.to_string(), format!("{} * 2", i128::MAX));
    let divide = DecimalOperation::new(Operator::Divide, 0, 0).unwrap();
    assert_eq!(divide.apply(1, 0), Err(EvaluationError::DivisionByZero));
    assert!(DecimalOperation::new(Operator::Multiply, 20, 19).is_none());
}
