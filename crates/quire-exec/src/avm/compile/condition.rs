//! Conditions become branches to three places.

use quire_tables::row_table::Value;

use super::labels::UnresolvedLabel;
use super::pool::CompileError;
use super::{ColumnBinding, Compiler, HeldValue};
use crate::avm::opcode::Instruction as I;
use crate::avm::operand::{
    Attribute, Label, Pattern, TargetRegister, TextSet, WideSet, WordRegister, WordSet,
};
use crate::avm::register::{Bank, Register};
use crate::plan::{ComparisonExpression, Expression, LikePattern, ValueKind};

/// Where to go on when a condition is true, false, or NULL.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exits {
    pub(super) yes: UnresolvedLabel,
    pub(super) no: UnresolvedLabel,
    pub(super) null: UnresolvedLabel,
}

impl Exits {
    pub(super) fn new(yes: UnresolvedLabel, no: UnresolvedLabel, null: UnresolvedLabel) -> Self {
        Self { yes, no, null }
    }
}

/// A comparison that is true or false of two values.
type Test = ComparisonExpression;

fn inverse(test: Test) -> Test {
    match test {
        Test::Equal | Test::NotDistinct => Test::NotEqual,
        Test::NotEqual | Test::Distinct => Test::Equal,
        Test::Less => Test::GreaterOrEqual,
        Test::LessOrEqual => Test::Greater,
        Test::Greater => Test::LessOrEqual,
        Test::GreaterOrEqual => Test::Less,
    }
}

macro_rules! branch {
    ($test:expr, $left:expr, $right:expr, $to:expr; $equ:ident $neq:ident $les:ident $leq:ident $grt:ident $geq:ident) => {{
        let (left, right, to) = ($left, $right, $to);
        match $test {
            Test::Equal | Test::NotDistinct => I::$equ { left, right, to },
            Test::NotEqual | Test::Distinct => I::$neq { left, right, to },
            Test::Less => I::$les { left, right, to },
            Test::LessOrEqual => I::$leq { left, right, to },
            Test::Greater => I::$grt { left, right, to },
            Test::GreaterOrEqual => I::$geq { left, right, to },
        }
    }};
}

/// Branches when a comparison of two registers is true.
fn when(test: Test, left: Register, right: Register, to: Label) -> Option<I> {
    use Register as R;
    Some(match (left, right) {
        (R::Boolean(left), R::Boolean(right)) | (R::Integer(left), R::Integer(right)) => {
            branch!(test, left, right, to; JEQU_I_ZZ JNEQ_I_ZZ JLES_I_ZZ JLEQ_I_ZZ JGRT_I_ZZ JGEQ_I_ZZ)
        }
        (R::Double(left), R::Double(right)) => {
            branch!(test, left, right, to; JEQU_F_ZZ JNEQ_F_ZZ JLES_F_ZZ JLEQ_F_ZZ JGRT_F_ZZ JGEQ_F_ZZ)
        }
        (R::Real(left), R::Real(right)) => {
            branch!(test, left, right, to; JEQU_R_ZZ JNEQ_R_ZZ JLES_R_ZZ JLEQ_R_ZZ JGRT_R_ZZ JGEQ_R_ZZ)
        }
        (R::Decimal(left), R::Decimal(right)) => {
            branch!(test, left, right, to; JEQU_N_ZZ JNEQ_N_ZZ JLES_N_ZZ JLEQ_N_ZZ JGRT_N_ZZ JGEQ_N_ZZ)
        }
        (R::Text(left), R::Text(right)) => {
            branch!(test, left, right, to; JEQU_S_ZZ JNEQ_S_ZZ JLES_S_ZZ JLEQ_S_ZZ JGRT_S_ZZ JGEQ_S_ZZ)
        }
        _ => return None,
    })
}

/// Branches unless a comparison of an attribute with a register is true.
fn unless(test: Test, left: Attribute, right: Register, to: Label) -> I {
    use Register as R;
    match right {
        R::Boolean(right) | R::Integer(right) => {
            branch!(test, left, right, to; UEQU_I_AZ UNEQ_I_AZ ULES_I_AZ ULEQ_I_AZ UGRT_I_AZ UGEQ_I_AZ)
        }
        R::Double(right) => {
            branch!(test, left, right, to; UEQU_F_AZ UNEQ_F_AZ ULES_F_AZ ULEQ_F_AZ UGRT_F_AZ UGEQ_F_AZ)
        }
        R::Real(right) => {
            branch!(test, left, right, to; UEQU_R_AZ UNEQ_R_AZ ULES_R_AZ ULEQ_R_AZ UGRT_R_AZ UGEQ_R_AZ)
        }
        R::Decimal(right) => {
            branch!(test, left, right, to; UEQU_N_AZ UNEQ_N_AZ ULES_N_AZ ULEQ_N_AZ UGRT_N_AZ UGEQ_N_AZ)
        }
        R::Text(right) => {
            branch!(test, left, right, to; UEQU_S_AZ UNEQ_S_AZ ULES_S_AZ ULEQ_S_AZ UGRT_S_AZ UGEQ_S_AZ)
        }
    }
}

impl<'e> Compiler<'e, '_> {
    /// Goes to one of the exits. `next` is the place that follows what is emitted.
    pub(super) fn condition(
        &mut self,
        condition: &'e Expression,
        exits: Exits,
        next: UnresolvedLabel,
    ) -> Result<(), CompileError> {
        match condition {
            Expression::Constant(Value::Boolean(true)) => self.go(exits.yes, next),
            Expression::Constant(Value::Boolean(false)) => self.go(exits.no, next),
            Expression::Null(_) => self.go(exits.null, next),
            Expression::And(sides) => return self.sides(sides, exits, next, false),
            // By De Morgan: either is true, unless both are false.
            Expression::Or(sides) => return self.sides(sides, negated(exits, true), next, true),
            Expression::Not(inner) => return self.condition(inner, negated(exits, true), next),
            Expression::IsNull(inner, wanted) => return self.is_null(inner, *wanted, exits, next),
            Expression::Is(inner, value, wanted) => {
                let (hit, miss) = if *wanted {
                    (exits.yes, exits.no)
                } else {
                    (exits.no, exits.yes)
                };
                let inner_exits = if *value {
                    Exits::new(hit, miss, miss)
                } else {
                    Exits::new(miss, hit, miss)
                };
                return self.condition(inner, inner_exits, next);
            }
            Expression::Compare(comparison, sides) => {
                return self.comparison(*comparison, sides, exits, next);
            }
            Expression::In(tested, items, is_negated) => {
                let exits = negated(exits, *is_negated);
                return self.is_in(tested, items, exits, next);
            }
            Expression::Like(tested, pattern, is_negated) => {
                let exits = negated(exits, *is_negated);
                return self.is_like(tested, pattern, exits, next);
            }
            other => {
                let held = self.value(other)?;
                self.unless_null(held, exits.null);
                let Register::Boolean(value) = held.register else {
                    return Err(CompileError::Unsupported("a condition that is no boolean"));
                };
                self.either(
                    I::JTRUE_Z {
                        value,
                        to: exits.yes.label(),
                    },
                    I::JFALSE_Z {
                        value,
                        to: exits.no.label(),
                    },
                    exits,
                    next,
                );
            }
        }
        Ok(())
    }

    /// Goes on at one of two places; `when_yes` and `when_no` are the branches there.
    fn either(&mut self, when_yes: I, when_no: I, exits: Exits, next: UnresolvedLabel) {
        if exits.yes == next {
            self.emit(when_no);
        } else {
            self.emit(when_yes);
            self.go(exits.no, next);
        }
    }

    fn unless_null(&mut self, held: HeldValue, null: UnresolvedLabel) {
        if held.nullable {
            self.emit(null_branch(held.register, null.label()));
        }
    }

    /// Both sides are true (`yes`), or one is false (`no`), or else it is NULL; `is_negated` says the same of their opposites.
    /// The right side is looked at unless the left one decides. If the left one is NULL, that is remembered in a register, unless NULL is
    /// no other than what decides.
    fn sides(
        &mut self,
        sides: &'e [Expression; 2],
        exits: Exits,
        next: UnresolvedLabel,
        is_negated: bool,
    ) -> Result<(), CompileError> {
        let [left, right] = sides;
        let turned = |exits: Exits| negated(exits, is_negated);
        let right_place = self.labels.add();
        let is_simple = !left.may_be_null() || (exits.null == exits.no && !right.can_fail());
        if is_simple {
            self.condition(
                left,
                turned(Exits::new(right_place, exits.no, exits.null)),
                right_place,
            )?;
            self.place(right_place);
            return self.condition(right, turned(exits), next);
        }
        let was_null = self.fresh_word()?;
        let (is_null, sure, unsure) = (self.labels.add(), self.labels.add(), self.labels.add());
        self.condition(left, turned(Exits::new(sure, exits.no, is_null)), sure)?;
        self.place(sure);
        let (zero, one) = (self.boolean(false)?, self.boolean(true)?);
        self.emit(I::MOVE_W_Z {
            value: zero,
            target: TargetRegister(was_null),
        });
        self.emit(I::JUMP {
            to: right_place.label(),
        });
        self.place(is_null);
        self.emit(I::MOVE_W_Z {
            value: one,
            target: TargetRegister(was_null),
        });
        self.place(right_place);
        self.condition(
            right,
            turned(Exits::new(unsure, exits.no, exits.null)),
            unsure,
        )?;
        self.place(unsure);
        self.either(
            I::JFALSE_Z {
                value: was_null,
                to: exits.yes.label(),
            },
            I::JTRUE_Z {
                value: was_null,
                to: exits.null.label(),
            },
            Exits::new(exits.yes, exits.null, exits.null),
            next,
        );
        Ok(())
    }

    fn is_null(
        &mut self,
        inner: &'e Expression,
        wanted: bool,
        exits: Exits,
        next: UnresolvedLabel,
    ) -> Result<(), CompileError> {
        let (is_null, is_value) = if wanted {
            (exits.yes, exits.no)
        } else {
            (exits.no, exits.yes)
        };
        let held = self.value(inner)?;
        self.unless_null(held, is_null);
        self.go(is_value, next);
        Ok(())
    }

    fn comparison(
        &mut self,
        test: Test,
        sides: &'e [Expression; 2],
        exits: Exits,
        next: UnresolvedLabel,
    ) -> Result<(), CompileError> {
        if test.takes_null() {
            return self.distinction(test, sides, exits, next);
        }
        let [left, right] = sides;
        for (attribute_side, other, test) in [(left, right, test), (right, left, test.mirrored())] {
            let Some(attribute) = self.fusible(attribute_side) else {
                continue;
            };
            if attribute_side.may_be_null() && exits.null != exits.no {
                continue;
            }
            let other = self.value(other)?;
            self.unless_null(other, exits.null);
            self.emit(unless(test, attribute, other.register, exits.no.label()));
            self.go(exits.yes, next);
            return Ok(());
        }
        let (left, right) = (self.value(left)?, self.value(right)?);
        self.unless_null(left, exits.null);
        self.unless_null(right, exits.null);
        self.test(test, left.register, right.register, exits, next)
    }

    /// A comparison of two values, neither of them NULL.
    fn test(
        &mut self,
        test: Test,
        left: Register,
        right: Register,
        exits: Exits,
        next: UnresolvedLabel,
    ) -> Result<(), CompileError> {
        let yes = when(test, left, right, exits.yes.label());
        let no = when(inverse(test), left, right, exits.no.label());
        let (Some(yes), Some(no)) = (yes, no) else {
            return Err(CompileError::Unsupported("a comparison of two kinds"));
        };
        self.either(yes, no, exits, next);
        Ok(())
    }

    /// `IS [NOT] DISTINCT FROM`
    fn distinction(
        &mut self,
        test: Test,
        sides: &'e [Expression; 2],
        exits: Exits,
        next: UnresolvedLabel,
    ) -> Result<(), CompileError> {
        let (left, right) = (self.value(&sides[0])?, self.value(&sides[1])?);
        let (distinct, equal) = match test {
            Test::Distinct => (exits.yes, exits.no),
            _ => (exits.no, exits.yes),
        };
        let left_is_null = self.labels.add();
        self.unless_null(left, left_is_null);
        self.unless_null(right, distinct);
        let after = self.labels.add();
        let values = Exits::new(equal, distinct, distinct);
        if left.nullable {
            self.test(Test::Equal, left.register, right.register, values, after)?;
            self.place(left_is_null);
            self.unless_null(right, equal);
            self.go(distinct, next);
        } else {
            self.test(Test::Equal, left.register, right.register, values, next)?;
        }
        Ok(())
    }

    fn is_in(
        &mut self,
        tested: &'e Expression,
        items: &'e [Expression],
        exits: Exits,
        next: UnresolvedLabel,
    ) -> Result<(), CompileError> {
        let held = self.value(tested)?;
        self.unless_null(held, exits.null);
        let has_null = items.iter().any(|item| matches!(item, Expression::Null(_)));
        // Items that may fail are met in their order, or an error behind the hit would be seen.
        let in_order = items.iter().any(Expression::can_fail);
        let is_float = matches!(held.register, Register::Real(_) | Register::Double(_));
        let is_set =
            |item: &Expression| !in_order && !is_float && matches!(item, Expression::Constant(_));
        let constants = items.iter().filter_map(|item| match item {
            Expression::Constant(value) if is_set(item) => Some(value),
            _ => None,
        });
        if let Some(lookup) = self.lookup(held.register, constants, exits.yes.label()) {
            self.emit(lookup);
        }
        let others = items.iter();
        let others: Vec<&Expression> = others
            .filter(|item| !is_set(item) && !matches!(item, Expression::Null(_)))
            .collect();
        if others.is_empty() {
            self.go(if has_null { exits.null } else { exits.no }, next);
            return Ok(());
        }
        self.is_one_of(held.register, &others, has_null, exits, next)
    }

    /// Whether a value is one of some that are computed; NULL among them leaves a miss open.
    fn is_one_of(
        &mut self,
        tested: Register,
        items: &[&'e Expression],
        has_null: bool,
        exits: Exits,
        next: UnresolvedLabel,
    ) -> Result<(), CompileError> {
        let met_null = self.fresh_word()?;
        let (zero, one) = (self.boolean(false)?, self.boolean(true)?);
        let first = if has_null { one } else { zero };
        self.emit(I::MOVE_W_Z {
            value: first,
            target: TargetRegister(met_null),
        });
        for item in items {
            let held = self.value(item)?;
            let (is_null, after) = (self.labels.add(), self.labels.add());
            self.unless_null(held, is_null);
            let Some(hit) = when(Test::Equal, tested, held.register, exits.yes.label()) else {
                return Err(CompileError::Unsupported("IN with values of two kinds"));
            };
            self.emit(hit);
            if held.nullable {
                self.emit(I::JUMP { to: after.label() });
                self.place(is_null);
                self.emit(I::MOVE_W_Z {
                    value: one,
                    target: TargetRegister(met_null),
                });
                self.place(after);
            }
        }
        self.emit(I::JTRUE_Z {
            value: met_null,
            to: exits.null.label(),
        });
        self.go(exits.no, next);
        Ok(())
    }

    /// The look-up of a value in a set of constants; none for no constants.
    fn lookup<'v>(
        &mut self,
        tested: Register,
        constants: impl Iterator<Item = &'v Value>,
        to: Label,
    ) -> Option<I> {
        let values: Vec<&Value> = constants.collect();
        if values.is_empty() {
            return None;
        }
        let asides = &mut self.draft.asides;
        let number = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        Some(match tested {
            Register::Boolean(value) | Register::Integer(value) => {
                let words = values.iter().filter_map(|value| match value {
                    Value::Integer(value) => Some(*value),
                    Value::Boolean(value) => Some(i64::from(*value)),
                    _ => None,
                });
                asides.word_sets.push(words.collect());
                let set = WordSet(number(asides.word_sets.len() - 1));
                I::JIN_I_Z { value, set, to }
            }
            Register::Decimal(value) => {
                let wides = values.iter().filter_map(|value| match value {
                    Value::Decimal(value) => Some((*value).into()),
                    _ => None,
                });
                asides.wide_sets.push(wides.collect());
                let set = WideSet(number(asides.wide_sets.len() - 1));
                I::JIN_N_Z { value, set, to }
            }
            Register::Text(value) => {
                let texts = values.iter().filter_map(|value| match value {
                    Value::Text(text) => Some(text.as_bytes().into()),
                    Value::Bytes(bytes) => Some(bytes.clone()),
                    _ => None,
                });
                asides.text_sets.push(texts.collect());
                let set = TextSet(number(asides.text_sets.len() - 1));
                I::JIN_S_Z { value, set, to }
            }
            Register::Real(_) | Register::Double(_) => return None,
        })
    }

    fn is_like(
        &mut self,
        tested: &'e Expression,
        pattern: &'e LikePattern,
        exits: Exits,
        next: UnresolvedLabel,
    ) -> Result<(), CompileError> {
        let held = self.value(tested)?;
        self.unless_null(held, exits.null);
        let Register::Text(value) = held.register else {
            return Err(CompileError::Unsupported("LIKE of what is no text"));
        };
        let patterns = &mut self.draft.asides.patterns;
        patterns.push(pattern.clone());
        let pattern = Pattern(u16::try_from(patterns.len() - 1).unwrap_or(u16::MAX));
        self.emit(I::JLIKE_S_Z {
            value,
            pattern,
            to: exits.yes.label(),
        });
        self.go(exits.no, next);
        Ok(())
    }

    /// The attribute of a column that nothing else asks for: it can be an operand where it is.
    pub(super) fn fusible(&self, expression: &Expression) -> Option<Attribute> {
        let Expression::Column { slot, .. } = expression else {
            return None;
        };
        let asked_once = self.uses.get(*slot).is_some_and(|uses| *uses == 1);
        match self.columns.get(*slot) {
            Some(ColumnBinding::Attribute {
                attribute,
                is_shared: false,
            }) if asked_once => Some(*attribute),
            _ => None,
        }
    }

    /// The register of true or false.
    pub(super) fn boolean(&mut self, value: bool) -> Result<WordRegister, CompileError> {
        let register = self
            .pool
            .constant(ValueKind::Boolean, &Value::Boolean(value))?;
        match register {
            Register::Boolean(word) => Ok(word),
            _ => Err(CompileError::Unsupported("a boolean in another register")),
        }
    }
}

/// Where to go on when it is the opposite that matters.
fn negated(exits: Exits, is_negated: bool) -> Exits {
    if is_negated {
        Exits::new(exits.no, exits.yes, exits.null)
    } else {
        exits
    }
}

/// Branches when a register is NULL.
pub(super) fn null_branch(register: Register, to: Label) -> I {
    match register.bank() {
        Bank::Word(value) => I::JNULL_W_Z { value, to },
        Bank::Wide(value) => I::JNULL_N_Z { value, to },
        Bank::Text(value) => I::JNULL_S_Z { value, to },
    }
}
