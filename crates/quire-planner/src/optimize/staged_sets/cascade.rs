//! The second stage where groups are found in hash tables: each set reads the groups of the smallest set that has all of its keys.
//!
//! Of `ROLLUP (a, b, c)`, the groups of `(a, b)` are made of those of `(a, b, c)`, and those of `(a)` of the fewer groups of `(a, b)` (Agarwal et al., "On
//! the computation of multidimensional aggregates", VLDB 1996, §2: smallest parent). The groups of a set are handed on as they are taken out of its table,
//! and put into the tables of the sets that read them at the same time. All of it are states: without memory, a table hands on its groups and begins anew,
//! and the final aggregation puts together what has come twice.

use std::collections::VecDeque;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, new_null_array};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, PhysicalGroupBy};
use datafusion::physical_plan::metrics::BaselineMetrics;
use futures::StreamExt;

use crate::optimize::group_accumulators::GroupAccumulators;
use crate::optimize::hashed_groups::{HashedStates, Taken, TakenGroups};
use crate::optimize::null_keys::null_keys;
use crate::optimize::packed_keys::PackedKeys;

/// The groups of all sets, made one set of the other.
pub(super) struct SetCascade {
    /// The groups of all keys: the keys, and behind them the states.
    input: SendableRecordBatchStream,
    has_ended: bool,
    /// The keys, the number of the set, and the states: what the sets read and what is handed on.
    schema: SchemaRef,
    key_count: usize,
    /// What the groups of the input have as the number of their set: that of all keys, if it is asked for. Else all that matters is that they have the same.
    whole_number: ScalarValue,
    is_whole_wanted: bool,
    /// The sets that read the input itself.
    of_input: Vec<usize>,
    /// A set comes behind the one whose groups it reads.
    sets: Vec<CascadedSet>,
    /// The first one whose groups have not all been taken.
    next: usize,
    taken: VecDeque<(usize, TakenGroups)>,
    batch_rows: usize,
    metrics: BaselineMetrics,
}

struct CascadedSet {
    /// The keys that it has, by their place.
    keys: Vec<usize>,
    number: ScalarValue,
    groups: HashedStates,
    /// Its keys and the states.
    schema: SchemaRef,
    readers: Vec<usize>,
}

impl SetCascade {
    /// Whether all keys have types that are packed.
    pub(super) fn covers(aggregate: &AggregateExec) -> Result<bool> {
        let input = aggregate.input_schema();
        let keys = aggregate.group_expr().group_schema(&input)?;
        Ok(PackedKeys::new(&keys).is_some())
    }

    pub(super) fn new(
        aggregate: &AggregateExec,
        input: SendableRecordBatchStream,
        metrics: BaselineMetrics,
        context: &TaskContext,
    ) -> Result<Self> {
        let group_by = aggregate.group_expr();
        let key_count = group_by.expr().len();
        let mut numbered: Vec<(Vec<usize>, ScalarValue)> = Vec::new();
        for (set, keys) in group_by.groups().iter().zip(null_keys(group_by)?) {
            let Some(number) = keys.last() else {
                return internal_err!("a grouping set has no number");
            };
            let kept = (0..key_count).filter(|key| !set[*key]);
            numbered.push((kept.collect(), ScalarValue::try_from_array(number, 0)?));
        }
        // The largest first: a set comes behind those that have all of its keys.
        numbered.sort_by_key(|(keys, _)| std::cmp::Reverse(keys.len()));
        let is_whole_wanted = numbered
            .first()
            .is_some_and(|(keys, _)| keys.len() == key_count);
        let mut cascade = Self {
            input,
            has_ended: false,
            schema: aggregate.schema(),
            key_count,
            whole_number: match numbered.first() {
                Some((_, number)) => number.clone(),
                None => return internal_err!("there are no grouping sets"),
            },
            is_whole_wanted,
            of_input: Vec::new(),
            sets: Vec::new(),
            next: 0,
            taken: VecDeque::new(),
            batch_rows: context.session_config().batch_size().max(1),
            metrics,
        };
        for (keys, number) in numbered.into_iter().skip(usize::from(is_whole_wanted)) {
            cascade.push(CascadedSet::new(aggregate, keys, number, context)?);
        }
        Ok(cascade)
    }

    /// Adds a set as a reader of the smallest one that has all of its keys.
    fn push(&mut self, set: CascadedSet) {
        let has_all = |other: &CascadedSet| set.keys.iter().all(|key| other.keys.contains(key));
        let place = self.sets.len();
        let parent = self.sets.iter_mut().filter(|other| has_all(other));
        let parent = parent.min_by_key(|other| other.keys.len());
        let readers = parent.map_or(&mut self.of_input, |parent| &mut parent.readers);
        readers.push(place);
        self.sets.push(set);
    }

    /// The next batch of states, and what comes behind it.
    pub(super) async fn next(mut self) -> Result<Option<(RecordBatch, Self)>> {
        let elapsed = self.metrics.elapsed_compute().clone();
        loop {
            let timed = elapsed.timer();
            if let Some(batch) = self.next_taken()? {
                return Ok(Some((batch, self)));
            }
            if self.has_ended {
                if self.next == self.sets.len() {
                    return Ok(None);
                }
                self.take(self.next)?;
                self.next += 1;
                continue;
            }
            timed.done();
            let Some(groups) = self.input.next().await.transpose()? else {
                self.has_ended = true;
                continue;
            };
            let _timed = elapsed.timer();
            let groups = self.numbered(&groups)?;
            for place in 0..self.of_input.len() {
                self.add(self.of_input[place], &groups)?;
            }
            if self.is_whole_wanted {
                return Ok(Some((groups, self)));
            }
        }
    }

    /// The next batch of groups that have been taken out of a table; the sets that read them have them by now.
    fn next_taken(&mut self) -> Result<Option<RecordBatch>> {
        while let Some((place, groups)) = self.taken.front_mut() {
            let place = *place;
            let Some(batch) = groups.next().transpose()? else {
                self.taken.pop_front();
                continue;
            };
            let batch = self.sets[place].expanded(&batch, &self.schema, self.key_count)?;
            for reader in 0..self.sets[place].readers.len() {
                self.add(self.sets[place].readers[reader], &batch)?;
            }
            return Ok(Some(batch));
        }
        Ok(None)
    }

    fn add(&mut self, place: usize, batch: &RecordBatch) -> Result<()> {
        self.sets[place].groups.add(batch)?;
        match self.sets[place].groups.reserve() {
            Ok(()) => Ok(()),
            Err(_) => self.take(place),
        }
    }

    fn take(&mut self, place: usize) -> Result<()> {
        let set = &mut self.sets[place];
        let taken = set
            .groups
            .take(Taken::States, &set.schema, self.batch_rows)?;
        // Before the groups that are being handed on to this set: what a full table hands on holds next to nothing reserved, so only one table of each
        // set waits at a time.
        if let Some(groups) = taken {
            self.taken.push_front((place, groups));
        }
        Ok(())
    }

    /// Groups of all keys with the number of their set.
    fn numbered(&self, groups: &RecordBatch) -> Result<RecordBatch> {
        let mut columns = groups.columns().to_vec();
        let number = self.whole_number.to_array_of_size(groups.num_rows())?;
        columns.insert(self.key_count, number);
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

impl CascadedSet {
    fn new(
        aggregate: &AggregateExec,
        keys: Vec<usize>,
        number: ScalarValue,
        context: &TaskContext,
    ) -> Result<Self> {
        let schema = aggregate.schema();
        let key_count = aggregate.group_expr().expr().len();
        // A set without keys has one group: that of the number which all groups have that it reads.
        let read = if keys.is_empty() {
            vec![key_count]
        } else {
            keys.clone()
        };
        let group_by = read.iter().map(|key| {
            let name = schema.field(*key).name();
            let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(name, *key));
            (column, name.clone())
        });
        let group_by = PhysicalGroupBy::new_single(group_by.collect());
        let key_schema = schema.project(&read)?;
        let Some(columns) = PackedKeys::new(&key_schema) else {
            return internal_err!("keys of a grouping set are not packed");
        };
        let accumulators = GroupAccumulators::of_states(aggregate)?;
        let states = schema.fields().iter().skip(key_count + 1);
        let fields = key_schema.fields().iter().chain(states).cloned();
        Ok(Self {
            keys,
            number,
            groups: HashedStates::new(group_by, columns, accumulators, context.memory_pool()),
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            readers: Vec::new(),
        })
    }

    /// Groups with NULL in the place of the keys that the set does not have.
    fn expanded(
        &self,
        groups: &RecordBatch,
        schema: &SchemaRef,
        key_count: usize,
    ) -> Result<RecordBatch> {
        let row_count = groups.num_rows();
        let keys = (0..key_count).map(|key| match self.keys.iter().position(|own| *own == key) {
            Some(place) => Arc::clone(groups.column(place)),
            None => new_null_array(schema.field(key).data_type(), row_count),
        });
        let mut columns: Vec<_> = keys.collect();
        columns.push(self.number.to_array_of_size(row_count)?);
        let states = groups.columns().iter().skip(self.keys.len().max(1));
        columns.extend(states.cloned());
        Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
    }
}
