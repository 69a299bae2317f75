//! Groups and totals.

use super::builder::{Builder, Built};
use super::cost::group_bytes;
use super::demand::Demand;
use super::join_sides::parts_of;
use super::relation::all_columns;
use super::spilling::SpilledForm;
use crate::avm::{
    Accumulation, AggregateSlot, ColumnBinding, CompileError, Compiler, Extremum, Program, Register,
};
use crate::plan::{
    Aggregate, AggregateCall, AggregateFunction, AverageKind, Expression, Plan, SumKind,
};
use crate::tuple::{DistinctProgram, GroupPrograms, HashGroup, LowerError};

/// The slots of a call: the second counts what a mean is of.
#[derive(Clone, Copy)]
struct CallSlots {
    total: AggregateSlot,
    count: Option<AggregateSlot>,
}

impl Builder<'_> {
    /// Totals that nobody asks for are computed all the same: they may fail.
    pub(super) fn aggregate(&mut self, aggregate: &Aggregate) -> Result<Built, LowerError> {
        let slots = slots(&aggregate.calls)?;
        let count = aggregate.input.columns.len();
        let none = Demand::none(count);
        let of_calls = || {
            let parts = aggregate.calls.iter();
            parts.flat_map(|call| call.argument.iter().chain(&call.filter))
        };
        let later = none.clone().with(of_calls());
        let asked = later.clone().with(&aggregate.groups);
        let built = self.input(&aggregate.input, &asked, false)?;
        let Built {
            iterator,
            mut places,
        } = built;
        let input = parts_of(&places, &asked);
        let mut key_registers = Vec::new();
        let keys = self.program(&mut places, &later, &aggregate.groups, |compiler| {
            for group in &aggregate.groups {
                key_registers.push(compiler.output(group)?);
            }
            Ok(())
        })?;
        let accumulate = self.program(&mut places, &none, of_calls(), |compiler| {
            let calls = aggregate.calls.iter().zip(&slots);
            for (call, slots) in calls.filter(|(call, _)| !sees_once(call)) {
                accumulate_call(compiler, call, *slots)?;
            }
            Ok(())
        })?;
        let mut distinct = Vec::new();
        for (call, slots) in aggregate.calls.iter().zip(&slots) {
            if let (true, Some(argument)) = (sees_once(call), &call.argument) {
                distinct.push(self.distinct_call(call, argument, *slots, &places)?);
            }
        }
        let (results, totals) = self.results(&aggregate.calls, &slots)?;
        let programs = GroupPrograms {
            input,
            keys,
            key_registers: key_registers.clone(),
            accumulate,
            distinct,
            results,
        };
        let group_count = self.grouped_rows(&aggregate.groups, &aggregate.input)?;
        let estimate = self.estimate(&aggregate.input)?;
        let group_bytes = group_bytes(aggregate, &[estimate]);
        let workspace = self.workspace(group_count, group_bytes, SpilledForm::Registers);
        let iterator = HashGroup::new(iterator, programs, workspace, &mut self.registers)?;
        let columns = key_registers.into_iter().chain(totals);
        Ok(Built {
            iterator: Box::new(iterator),
            places: columns.map(ColumnBinding::Register).collect(),
        })
    }

    /// The programs of an aggregate that sees each value once.
    fn distinct_call(
        &mut self,
        call: &AggregateCall,
        argument: &Expression,
        slots: CallSlots,
        places: &[ColumnBinding],
    ) -> Result<DistinctProgram, LowerError> {
        let none = Demand::none(places.len());
        let is_there = Expression::IsNull(Box::new(argument.clone()), false);
        let mut registers = Vec::new();
        // What it decodes is not there for the next: its row may be rejected before.
        let mut own = places.to_vec();
        let asked = call.filter.iter().chain([&is_there, argument]);
        let value = self.program(&mut own, &none, asked, |compiler| {
            for condition in call.filter.iter().chain([&is_there]) {
                compiler.filter(condition)?;
            }
            registers.push(compiler.output(argument)?);
            Ok(())
        })?;
        let register = registers
            .pop()
            .ok_or(LowerError::Unsupported("no distinct value"))?;
        let given = AggregateCall {
            argument: Some(Expression::Column {
                slot: 0,
                kind: register.kind(),
                nullable: false,
            }),
            filter: None,
            ..call.clone()
        };
        let mut value_place = vec![ColumnBinding::Register(register)];
        let accumulate = self.program(
            &mut value_place,
            &Demand::none(1),
            &given.argument,
            |compiler| accumulate_call(compiler, &given, slots),
        )?;
        Ok(DistinctProgram {
            value,
            register,
            accumulate,
        })
    }

    fn results(
        &mut self,
        calls: &[AggregateCall],
        slots: &[CallSlots],
    ) -> Result<(Program, Vec<Register>), LowerError> {
        let mut totals = Vec::with_capacity(calls.len());
        let mut no_places = Vec::new();
        let program = self.program(&mut no_places, &Demand::none(0), [], |compiler| {
            for (call, slots) in calls.iter().zip(slots) {
                totals.push(result_of(compiler, call, *slots)?);
            }
            Ok(())
        })?;
        Ok((program, totals))
    }

    pub(super) fn distinct(&mut self, input: &Plan) -> Result<Built, LowerError> {
        let groups = all_columns(input)?;
        let group_count = self.grouped_rows(&groups, input)?;
        let group_bytes = self.estimate(input)?.row_bytes();
        if groups.is_empty() {
            return Err(LowerError::Unsupported("DISTINCT of no columns"));
        }
        let count = groups.len();
        let Built {
            iterator,
            mut places,
        } = self.plan(input, &Demand::all(count))?;
        let input = parts_of(&places, &Demand::all(count));
        let mut key_registers = Vec::new();
        let keys = self.program(&mut places, &Demand::none(count), &groups, |compiler| {
            for group in &groups {
                key_registers.push(compiler.output(group)?);
            }
            Ok(())
        })?;
        let accumulate = self.program(&mut places, &Demand::none(count), [], |_| Ok(()))?;
        let (results, _) = self.results(&[], &[])?;
        let programs = GroupPrograms {
            input,
            keys,
            key_registers: key_registers.clone(),
            accumulate,
            distinct: Vec::new(),
            results,
        };
        let workspace = self.workspace(group_count, group_bytes, SpilledForm::Registers);
        let iterator = HashGroup::new(iterator, programs, workspace, &mut self.registers)?;
        Ok(Built {
            iterator: Box::new(iterator),
            places: key_registers
                .into_iter()
                .map(ColumnBinding::Register)
                .collect(),
        })
    }
}

/// Slots for each call, in order.
fn slots(calls: &[AggregateCall]) -> Result<Vec<CallSlots>, LowerError> {
    let mut next = 0_u8;
    let mut slot = || {
        let slot = AggregateSlot(next);
        next = next
            .checked_add(1)
            .ok_or(LowerError::Unsupported("so many aggregates"))?;
        Ok::<_, LowerError>(slot)
    };
    let mut slots = Vec::with_capacity(calls.len());
    for call in calls {
        slots.push(CallSlots {
            total: slot()?,
            count: match call.function {
                AggregateFunction::Average(_) => Some(slot()?),
                _ => None,
            },
        });
    }
    Ok(slots)
}

/// Whether equal values count once: of extremes it does not matter.
fn sees_once(call: &AggregateCall) -> bool {
    let is_extreme = matches!(
        call.function,
        AggregateFunction::Min
            | AggregateFunction::Max
            | AggregateFunction::All
            | AggregateFunction::Any
    );
    call.is_distinct && !is_extreme && call.argument.is_some()
}

fn accumulate_call<'e>(
    compiler: &mut Compiler<'e, '_>,
    call: &'e AggregateCall,
    slots: CallSlots,
) -> Result<(), CompileError> {
    let mut take = |slot: AggregateSlot, accumulation: Accumulation<'e>| match &call.filter {
        Some(filter) => compiler.accumulate_when(filter, slot, accumulation),
        None => compiler.accumulate(slot, accumulation),
    };
    let Some(argument) = &call.argument else {
        return take(slots.total, Accumulation::CountRows);
    };
    if let Some(count) = slots.count {
        take(count, Accumulation::Count(argument))?;
    }
    take(slots.total, accumulation(call.function, argument))
}

fn accumulation(function: AggregateFunction, argument: &Expression) -> Accumulation<'_> {
    match function {
        AggregateFunction::Count => Accumulation::Count(argument),
        AggregateFunction::Sum(_) | AggregateFunction::Average(_) => Accumulation::Sum(argument),
        // All conditions are true if the least is.
        AggregateFunction::Min | AggregateFunction::All => {
            Accumulation::Extreme(Extremum::Least, argument)
        }
        AggregateFunction::Max | AggregateFunction::Any => {
            Accumulation::Extreme(Extremum::Greatest, argument)
        }
    }
}

fn result_of(
    compiler: &mut Compiler<'_, '_>,
    call: &AggregateCall,
    CallSlots { total, count }: CallSlots,
) -> Result<Register, CompileError> {
    match (call.function, count) {
        (AggregateFunction::Average(AverageKind::Double), Some(count)) => {
            compiler.average_double(total, count)
        }
        (AggregateFunction::Average(AverageKind::Integer), Some(count)) => {
            compiler.average_integer(total, count)
        }
        (AggregateFunction::Average(AverageKind::Decimal { factor, precision }), Some(count)) => {
            compiler.average_decimal((total, count), factor, precision)
        }
        (AggregateFunction::Sum(SumKind::Decimal { precision }), _) => {
            compiler.result(total, call.kind(), precision)
        }
        // A least or greatest decimal is one of those that there were.
        _ => compiler.result(total, call.kind(), u8::MAX),
    }
}
