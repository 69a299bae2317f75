//! What a node keeps of the rows of an input (paper 1 §3.1, §4.2).
//!
//! Columns that are where a scan has found them stay in their tuple, which is kept as it is: nothing is decoded that nobody asks for later, and what
//! its table compresses stays compressed. Where less than half of a tuple is asked for, those columns are decoded, and kept with what is computed
//! in a layout of its own; so are columns that only the key of a row has, unless the key is kept anyway. In this layout each column is
//! null-suppressed if that costs less than the bytes that it saves: they are written into a file and read again if the rows are not expected to
//! fit memory, or wait for memory if they do not fit the caches of a processor. Of fewer rows bytes cost nothing. Rows of a join without keys are
//! read again for each row of the other side: of them all columns are decoded, and kept as they are.

use std::collections::BTreeMap;

use quire_tables::row_table::FieldDecoding;

use super::builder::{Builder, Built};
use super::demand::Demand;
use super::estimate::PlanCost;
use super::join_costs::CACHE_BYTES;
use super::relation::{all_columns, attributes};
use super::spilling::{ROW_BYTES, kib_ns};
use super::width::{ColumnWidth, key_bytes, tuple_bytes};
use crate::avm::{ColumnBinding, Register, Tuple, TupleSource};
use crate::costs::Cost;
use crate::plan::{Expression, Plan};
use crate::tuple::{KeptRowShape, KeptTuple, KeptValue, LowerError};

/// What they fetch at a time.
const CACHE_LINE_BYTES: f64 = 64.0;
/// A kept byte is written and read.
const TOUCHES: f64 = 2.0;

/// A tuple is kept as it is if at least this share of it is asked for.
const KEPT_SHARE: f64 = 0.5;

/// The length of a tuple that is kept as it is, and that of its key.
const LENGTH_BYTES: f64 = 1.0;

const KIB: f64 = 1024.0;

/// An input whose rows are kept.
pub(super) struct KeptInput {
    /// Rows with all in registers that is computed of them.
    pub(super) built: Built,
    pub(super) keys: Vec<Register>,
    pub(super) row: KeptRowShape,
    /// About how many bytes are kept of a row, without its key and what finds it.
    pub(super) row_bytes: f64,
    /// Where the columns are that were asked for, while the registers point to a kept row.
    pub(super) places: Vec<ColumnBinding>,
}

/// How a column is kept if it is kept by itself.
#[derive(Clone, Copy, Debug)]
struct KeptForm {
    width: ColumnWidth,
    is_suppressed: bool,
}

impl KeptForm {
    fn plain(width: ColumnWidth) -> Self {
        Self {
            width,
            is_suppressed: false,
        }
    }

    fn bytes(&self) -> f64 {
        if self.is_suppressed {
            self.width.suppressed_bytes
        } else {
            self.width.plain_bytes
        }
    }
}

/// A column that is an attribute of a tuple: its slot, and its ordinal there.
type AskedColumn = (usize, u16);

/// Which columns stay in tuples that are kept as they are, and which are kept by themselves.
#[derive(Default)]
struct KeptSplit {
    /// With whether its key is kept.
    tuples: Vec<(Tuple, bool, Vec<AskedColumn>)>,
    tuples_bytes: f64,
    /// Slots.
    alone: Vec<usize>,
}

impl KeptSplit {
    /// All columns by themselves.
    fn apart(later: &Demand, column_count: usize) -> Self {
        Self {
            alone: (0..column_count)
                .filter(|slot| later.is_asked(*slot))
                .collect(),
            ..Self::default()
        }
    }
}

impl Builder<'_> {
    /// An input about so many of whose rows are kept, with the values of `keys` in registers, and with those of its columns that `later` asks for.
    pub(super) fn kept_input(
        &mut self,
        (plan, row_count): (&Plan, f64),
        built: Built,
        keys: &[Expression],
        later: &Demand,
    ) -> Result<KeptInput, LowerError> {
        let is_read_often = keys.is_empty();
        let estimate = self.estimate(plan)?;
        let widths = &estimate.widths;
        let (forms, split): (Vec<KeptForm>, KeptSplit) = if is_read_often {
            let forms = widths.iter().copied().map(KeptForm::plain);
            (forms.collect(), KeptSplit::apart(later, widths.len()))
        } else {
            let forms = self.kept_forms(widths, row_count, later);
            let split = self.kept_split(&built.places, later, &forms)?;
            (forms, split)
        };
        let columns = all_columns(plan)?;
        let alone = split.alone.iter();
        let alone = alone.filter_map(|slot| columns.get(*slot).cloned());
        let computed: Vec<Expression> = keys.iter().cloned().chain(alone).collect();
        let mut places = vec![ColumnBinding::None; columns.len()];
        let (built, mut registers) =
            self.computed(built, &computed, &Demand::none(columns.len()))?;
        let alone = registers.split_off(keys.len());
        let (values, values_bytes) = kept_values(plan, &split.alone, &alone, &forms);
        let register = self.tuple(values.len())?;
        self.kept_bytes.insert(register, values_bytes);
        let stored = attributes(register, 0..values.len());
        set_places(&mut places, split.alone.iter().copied().zip(stored));
        let mut tuples = Vec::with_capacity(split.tuples.len());
        for (from, with_key, asked) in split.tuples {
            let to = self.like_tuple(from)?;
            let ordinals = asked.iter().map(|(_, ordinal)| usize::from(*ordinal));
            let moved = attributes(to, ordinals);
            set_places(&mut places, asked.iter().map(|(slot, _)| *slot).zip(moved));
            tuples.push(KeptTuple { from, to, with_key });
        }
        Ok(KeptInput {
            built,
            keys: registers,
            row: KeptRowShape {
                values,
                register,
                tuples,
            },
            row_bytes: split.tuples_bytes + values_bytes,
            places,
        })
    }

    /// All columns of a plan, which these registers have, as they are kept each by itself.
    pub(super) fn kept_columns(
        &self,
        plan: &Plan,
        registers: &[Register],
        estimate: &PlanCost,
    ) -> Vec<KeptValue> {
        let all = Demand::all(registers.len());
        let forms = self.kept_forms(&estimate.widths, estimate.rows, &all);
        let slots: Vec<usize> = (0..registers.len()).collect();
        kept_values(plan, &slots, registers, &forms).0
    }

    /// How the columns of so many rows are kept, each by itself.
    fn kept_forms(&self, widths: &[ColumnWidth], row_count: f64, later: &Demand) -> Vec<KeptForm> {
        let asked = widths.iter().enumerate();
        let asked = asked.filter(|(slot, _)| later.is_asked(*slot));
        let plain_bytes: f64 = asked.map(|(_, width)| width.plain_bytes).sum();
        let byte_ns = self.kept_byte_ns(row_count * (ROW_BYTES + plain_bytes));
        let more_ns = self.suppression_ns();
        let form = |width: &ColumnWidth| {
            let saved_bytes = width.plain_bytes - width.suppressed_bytes;
            KeptForm {
                width: *width,
                is_suppressed: more_ns < saved_bytes * byte_ns,
            }
        };
        widths.iter().map(form).collect()
    }

    /// What a byte costs of rows that take so many.
    fn kept_byte_ns(&self, kept_bytes: f64) -> f64 {
        if kept_bytes > self.workspace.room_bytes() as f64 {
            kib_ns(&self.workspace) / KIB
        } else if kept_bytes > CACHE_BYTES {
            TOUCHES * self.costs.of(Cost::CacheMiss) / CACHE_LINE_BYTES
        } else {
            0.0
        }
    }

    /// What null-suppressing a value costs, and reading it once.
    fn suppression_ns(&self) -> f64 {
        let of = |cost| self.costs.of(cost);
        let reading_ns = of(Cost::DecodeSuppressed) - of(Cost::DecodePlain);
        of(Cost::Suppress) + reading_ns.max(0.0)
    }

    fn kept_split(
        &self,
        places: &[ColumnBinding],
        later: &Demand,
        forms: &[KeptForm],
    ) -> Result<KeptSplit, LowerError> {
        let mut split = KeptSplit::default();
        let mut of_tuples: BTreeMap<Tuple, Vec<AskedColumn>> = BTreeMap::new();
        let places = places.iter().enumerate();
        for (slot, place) in places.filter(|(slot, _)| later.is_asked(*slot)) {
            match place {
                ColumnBinding::Attribute { attribute, .. } => {
                    let asked = of_tuples.entry(attribute.tuple).or_default();
                    asked.push((slot, attribute.ordinal));
                }
                ColumnBinding::Register(_) | ColumnBinding::None => split.alone.push(slot),
            }
        }
        for (tuple, asked) in of_tuples {
            self.split_tuple(tuple, asked, forms, &mut split)?;
        }
        split.alone.sort_unstable();
        Ok(split)
    }

    fn split_tuple(
        &self,
        tuple: Tuple,
        asked: Vec<AskedColumn>,
        forms: &[KeptForm],
        split: &mut KeptSplit,
    ) -> Result<(), LowerError> {
        let source = self.registers.source(tuple);
        let (in_key, mut in_tuple): (Vec<AskedColumn>, Vec<AskedColumn>) = asked
            .into_iter()
            .partition(|(_, ordinal)| is_in_key(&source, usize::from(*ordinal)));
        let mut alone = Vec::new();
        let (whole_bytes, with_key) = self.whole_bytes(tuple, &source, &in_tuple)?;
        if with_key {
            in_tuple.extend(in_key);
        } else {
            alone = in_key;
        }
        let asked = in_tuple.iter();
        let asked = asked.filter_map(|(slot, _)| forms.get(*slot));
        let asked_bytes: f64 = asked.map(KeptForm::bytes).sum();
        if !in_tuple.is_empty() && asked_bytes >= KEPT_SHARE * whole_bytes {
            split.tuples_bytes += whole_bytes;
            split.tuples.push((tuple, with_key, in_tuple));
        } else {
            alone.extend(in_tuple);
        }
        split.alone.extend(alone.iter().map(|(slot, _)| *slot));
        Ok(())
    }

    /// About how many bytes a tuple takes that is kept as it is, and whether its key is kept with it: long strings are found by it.
    fn whole_bytes(
        &self,
        tuple: Tuple,
        source: &TupleSource,
        asked: &[AskedColumn],
    ) -> Result<(f64, bool), LowerError> {
        Ok(match source {
            TupleSource::Rows(table) => {
                let (layout, statistics) = (table.layout(), self.statistics(table)?);
                let ordinals = asked.iter().map(|(_, ordinal)| usize::from(*ordinal));
                let with_key = layout.needs_key(&ordinals.collect::<Vec<usize>>());
                let mut bytes = LENGTH_BYTES + tuple_bytes(layout, &statistics);
                if with_key {
                    bytes += LENGTH_BYTES + key_bytes(layout, &statistics);
                }
                (bytes, with_key)
            }
            TupleSource::Temporary(_) => {
                let known = self.kept_bytes.get(&tuple).copied();
                (LENGTH_BYTES + known.unwrap_or(f64::INFINITY), false)
            }
            TupleSource::None => (f64::INFINITY, false),
        })
    }

    /// Another register for tuples of the same columns.
    fn like_tuple(&mut self, tuple: Tuple) -> Result<Tuple, LowerError> {
        let known = self.tuples.iter().find(|(known, _)| *known == tuple);
        let column_count = known.map_or(0, |(_, column_count)| *column_count);
        let like = self.tuple(column_count.into())?;
        if let Some(bytes) = self.kept_bytes.get(&tuple).copied() {
            self.kept_bytes.insert(like, bytes);
        }
        Ok(like)
    }
}

/// Whether only the key of a row has a column.
fn is_in_key(source: &TupleSource, ordinal: usize) -> bool {
    match source {
        TupleSource::Rows(table) => {
            let layout = table.layout();
            ordinal == layout.row_key_ordinal() || layout.decoding(ordinal) == FieldDecoding::Key
        }
        TupleSource::Temporary(_) | TupleSource::None => false,
    }
}

fn set_places(
    places: &mut [ColumnBinding],
    kept: impl IntoIterator<Item = (usize, ColumnBinding)>,
) {
    for (slot, place) in kept {
        if let Some(target) = places.get_mut(slot) {
            *target = place;
        }
    }
}

/// The columns that are kept by themselves, and about how many bytes they take.
fn kept_values(
    plan: &Plan,
    slots: &[usize],
    registers: &[Register],
    forms: &[KeptForm],
) -> (Vec<KeptValue>, f64) {
    let mut values_bytes = 0.0;
    let value = |(slot, register): (&usize, &Register)| {
        let form = forms
            .get(*slot)
            .filter(|form| form.width.is_of(register.kind()));
        let form = form.copied();
        let form = form.unwrap_or_else(|| KeptForm::plain(ColumnWidth::of_kind(register.kind())));
        values_bytes += form.bytes();
        let name = plan.columns.get(*slot).map(|column| column.name.clone());
        KeptValue {
            name: name.unwrap_or_default(),
            register: *register,
            column_type: form.width.column_type,
            is_suppressed: form.is_suppressed,
        }
    };
    let values = slots.iter().zip(registers).map(value).collect();
    (values, values_bytes)
}
