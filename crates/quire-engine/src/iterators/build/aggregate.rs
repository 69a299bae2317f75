//! Groups and totals.

use super::relation::all_columns;
use super::{BuildError, Builder, Built, Demand};
use crate::avm::{
    Accumulation, ColumnPlace, CompileError, Compiler, Extremum, Program, Register, Slot,
};
use crate::iterators::{GroupPrograms, HashGroup};
use crate::plan::{
    Aggregate, AggregateCall, AggregateFunction, AverageKind, Expression, Plan, SumKind,
};

/// The slots of a call: the second counts what a mean is of.
#[derive(Clone, Copy)]
struct CallSlots {
    total: Slot,
    count: Option<Slot>,
}

impl Builder<'_> {
    pub(super) fn aggregate(
        &mut self,
        aggregate: &Aggregate,
        demand: &Demand,
    ) -> Result<Built, BuildError> {
        // Totals that nobody asks for are computed all the same: they may fail.
        let _ = demand;
        let slots = slots(&aggregate.calls)?;
        let count = aggregate.input.columns.len();
        let none = Demand::none(count);
        let of_calls = || {
            let parts = aggregate.calls.iter();
            parts.flat_map(|call| call.argument.iter().chain(&call.filter))
        };
        let later = none.clone().with(of_calls());
        let built = self.plan(&aggregate.input, &later.clone().with(&aggregate.groups))?;
        let Built {
            iterator,
            mut places,
        } = built;
        let mut key_registers = Vec::new();
        let keys = self.program(&mut places, &later, &aggregate.groups, |compiler| {
            for group in &aggregate.groups {
                key_registers.push(compiler.output(group)?);
            }
            Ok(())
        })?;
        let accumulate = self.program(&mut places, &none, of_calls(), |compiler| {
            for (call, slots) in aggregate.calls.iter().zip(&slots) {
                accumulate_call(compiler, call, *slots)?;
            }
            Ok(())
        })?;
        let (results, totals) = self.results(&aggregate.calls, &slots)?;
        let programs = GroupPrograms {
            keys,
            key_registers: key_registers.clone(),
            accumulate,
            results,
        };
        let iterator = HashGroup::new(iterator, programs, &mut self.registers)?;
        let columns = key_registers.into_iter().chain(totals);
        Ok(Built {
            iterator: Box::new(iterator),
            places: columns.map(ColumnPlace::Register).collect(),
        })
    }

    fn results(
        &mut self,
        calls: &[AggregateCall],
        slots: &[CallSlots],
    ) -> Result<(Program, Vec<Register>), BuildError> {
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

    pub(super) fn distinct(&mut self, input: &Plan) -> Result<Built, BuildError> {
        let groups = all_columns(input)?;
        if groups.is_empty() {
            return Err(BuildError::Unsupported("DISTINCT of no columns"));
        }
        let count = groups.len();
        let Built {
            iterator,
            mut places,
        } = self.plan(input, &Demand::all(count))?;
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
            keys,
            key_registers: key_registers.clone(),
            accumulate,
            results,
        };
        let iterator = HashGroup::new(iterator, programs, &mut self.registers)?;
        Ok(Built {
            iterator: Box::new(iterator),
            places: key_registers
                .into_iter()
                .map(ColumnPlace::Register)
                .collect(),
        })
    }
}

/// Slots for each call, in order.
fn slots(calls: &[AggregateCall]) -> Result<Vec<CallSlots>, BuildError> {
    let mut next = 0_u8;
    let mut slot = || {
        let slot = Slot(next);
        next = next
            .checked_add(1)
            .ok_or(BuildError::Unsupported("so many aggregates"))?;
        Ok::<_, BuildError>(slot)
    };
    let mut slots = Vec::with_capacity(calls.len());
    for call in calls {
        if call.is_distinct
            && !matches!(
                call.function,
                AggregateFunction::Min | AggregateFunction::Max
            )
        {
            return Err(BuildError::Unsupported("an aggregate of distinct values"));
        }
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

fn accumulate_call<'e>(
    compiler: &mut Compiler<'e, '_>,
    call: &'e AggregateCall,
    slots: CallSlots,
) -> Result<(), CompileError> {
    let mut take = |slot: Slot, accumulation: Accumulation<'e>| match &call.filter {
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
