//! Groups of rows by hashing, and what their aggregates come to.
//!
//! Three programs, as in paper 1 §4.1.2: one computes the keys of a row, one takes the row into the slots of its group, and one makes
//! the row of a group at the end. The keys of all groups are in one buffer, bytes that are alike when the keys are.
//!
//! When memory is full, groups that it has go on; rows of others are spilled, divided by the hashes of their keys, and are the input of later
//! passes. Each pass has at least one group.

use hashbrown::HashTable;

use super::distinct::{Distinct, DistinctProgram};
use super::keys::{KeyHead, push_key, restore_key};
use super::row_image::RowImage;
use super::spill::{IteratorSpillFile, Partitions, SpillStream, Workspace};
use super::{Explanation, ProgramStep, RegisterIterator};
use crate::avm::{AggregateSlot, NOTHING, Program, Register, RegisterSet, Trap, Tuple};

/// What a group-by is made of.
#[derive(Debug)]
pub struct GroupPrograms {
    /// The registers that a row of the input is in, and the tuple registers.
    pub input: (Vec<Register>, Vec<Tuple>),
    /// Computes the keys of a row; rows that it rejects belong to no group.
    pub keys: Program,
    /// The registers that have the keys then, and of each group again when the last program runs.
    pub key_registers: Vec<Register>,
    /// Takes a row into the slots of its group.
    pub accumulate: Program,
    /// Takes values into slots that see each value once.
    pub distinct: Vec<DistinctProgram>,
    /// Makes the row of a group from its slots; one that it rejects is left out.
    pub results: Program,
}

/// A group: where its key is, and its first slot.
#[derive(Clone, Copy, Debug)]
struct GroupRecord {
    start: u32,
    bytes: u32,
    /// Where its slots start. Those of other group-bys may lie between.
    first_slot: u32,
}

/// How a group is found.
#[derive(Clone, Copy, Debug)]
struct GroupBucket {
    head: KeyHead,
    number: u32,
    first_slot: u32,
}

/// Bytes of a group besides those of its key and its slots: in the list, and in the table with the room that it has.
const GROUP_BYTES: usize = size_of::<GroupRecord>() + 2 * size_of::<GroupBucket>();

/// Rows of its input by groups. Without keys there is one group, also of no rows.
pub struct HashGroup<I> {
    input: I,
    keys: ProgramStep,
    key_registers: Vec<Register>,
    accumulate: ProgramStep,
    distinct: Vec<Distinct>,
    results: ProgramStep,
    table: HashTable<GroupBucket>,
    groups: Vec<GroupRecord>,
    /// The buffer of the registers that has the keys.
    buffer: u16,
    /// The slots of a group without rows, and those that are strings.
    initial: Vec<i128>,
    text_slots: Vec<AggregateSlot>,
    /// First slots of groups that are gone.
    free_slots: Vec<usize>,
    /// The next group to give; none before all input is read.
    next: Option<usize>,
    key: Vec<u8>,
    workspace: Workspace,
    image: RowImage,
    row: Vec<u8>,
    spilled: Option<SpilledGroups>,
}

/// Rows of groups for which there was no room.
struct SpilledGroups {
    file: IteratorSpillFile,
    /// Those of the present pass.
    partitions: Option<Partitions>,
    /// Those of passes to come, with how often they were divided.
    waiting: Vec<(u32, SpillStream)>,
    level: u32,
}

impl<I: RegisterIterator> HashGroup<I> {
    /// Groups of what `input` makes.
    ///
    /// # Errors
    /// Constants of the programs that are too long.
    pub fn new(
        input: I,
        programs: GroupPrograms,
        workspace: Workspace,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let distinct = programs.distinct.iter();
        let distinct = distinct.map(|distinct| &distinct.accumulate);
        let all = || std::iter::once(&programs.accumulate).chain(distinct.clone());
        let initial = initial_slots(all());
        let text_slots = all().flat_map(Program::text_slots).collect();
        // Of memory, sets of values have one half if there are any.
        let memory_bytes = match programs.distinct.len() {
            0 => workspace.memory_bytes,
            _ => workspace.memory_bytes / 2,
        };
        let set_bytes = memory_bytes / programs.distinct.len().max(1);
        let distinct = programs.distinct.into_iter().map(|programs| {
            let workspace = Workspace {
                memory_bytes: set_bytes,
                ..workspace.clone()
            };
            Distinct::new(programs, workspace, registers)
        });
        let distinct = distinct.collect::<Result<_, _>>()?;
        let (columns, tuples) = programs.input;
        Ok(Self {
            input,
            keys: ProgramStep::new(programs.keys, registers)?,
            key_registers: programs.key_registers,
            accumulate: ProgramStep::new(programs.accumulate, registers)?,
            distinct,
            results: ProgramStep::new(programs.results, registers)?,
            table: HashTable::new(),
            groups: Vec::new(),
            buffer: registers.add_buffer(),
            initial,
            text_slots,
            free_slots: Vec::new(),
            next: None,
            key: Vec::new(),
            workspace: Workspace {
                memory_bytes,
                ..workspace
            },
            image: RowImage::new(columns, tuples, registers),
            row: Vec::new(),
            spilled: None,
        })
    }

    fn read_input(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        if self.key_registers.is_empty() {
            self.add_group(KeyHead::of(&[]), registers)?;
        }
        while self.input.next(registers)? {
            self.take(registers)?;
        }
        self.end_pass(registers)
    }

    /// Takes the row that the registers have.
    #[inline]
    fn take(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        if !self.keys.run(registers)? {
            return Ok(());
        }
        let Some(first_slot) = self.group(registers)? else {
            return Ok(());
        };
        registers.set_group(first_slot);
        self.accumulate.run(registers)?;
        for distinct in &mut self.distinct {
            distinct.take(first_slot, &mut self.key, registers)?;
        }
        Ok(())
    }

    /// The first slot of the group whose keys the registers have; none if there is no room for it, and the row was spilled.
    #[inline]
    fn group(&mut self, registers: &mut RegisterSet) -> Result<Option<usize>, Trap> {
        if self.key_registers.is_empty() {
            return Ok(self.groups.first().map(|group| group.first_slot as usize));
        }
        self.key.clear();
        for register in &self.key_registers {
            push_key(registers, *register, &mut self.key);
        }
        let head = KeyHead::of(&self.key);
        let (hash, is_whole) = (head.hash(), head.is_whole());
        let found = self.table.find(hash, |bucket| {
            bucket.head == head && (is_whole || self.has_key(bucket.number, registers))
        });
        match found {
            Some(bucket) => Ok(Some(bucket.first_slot as usize)),
            None if self.is_spilling() || self.is_full(registers) => {
                self.spill(hash, registers)?;
                Ok(None)
            }
            None => self.add_group(head, registers).map(Some),
        }
    }

    /// Whether the key at hand, a long one, is that of a group.
    #[cold]
    fn has_key(&self, number: u32, registers: &RegisterSet) -> bool {
        let group = self.groups.get(number as usize);
        group.is_some_and(|group| group.key(registers.buffer(self.buffer)) == self.key.as_slice())
    }

    /// Whether rows of the pass have been spilled: from then on no group is added, also if a string that was replaced has made room. Rows of
    /// one group would be in two passes.
    fn is_spilling(&self) -> bool {
        let spilled = self.spilled.as_ref();
        spilled.is_some_and(|spilled| spilled.partitions.is_some())
    }

    fn is_full(&self, registers: &RegisterSet) -> bool {
        let slots_bytes = self.initial.len() * size_of::<i128>();
        let groups_bytes = self.groups.len() * (GROUP_BYTES + slots_bytes);
        let keys_bytes = registers.buffer(self.buffer).len();
        // Texts of other group-bys count, too: they are in the same place.
        let texts_bytes = if self.text_slots.is_empty() {
            0
        } else {
            registers.state_text_bytes()
        };
        let used_bytes = groups_bytes + keys_bytes + texts_bytes;
        !self.groups.is_empty() && self.workspace.is_full(used_bytes)
    }

    #[cold]
    fn spill(&mut self, hash: u64, registers: &RegisterSet) -> Result<(), Trap> {
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            None => self.spilled.insert(SpilledGroups {
                file: self.workspace.file()?,
                partitions: None,
                waiting: Vec::new(),
                level: 0,
            }),
        };
        self.row.clear();
        self.image.save(registers, &mut self.row)?;
        let level = spilled.level;
        let partitions = spilled
            .partitions
            .get_or_insert_with(|| Partitions::new(level));
        partitions.push(&mut spilled.file, hash, &[], &self.row)
    }

    #[cold]
    fn add_group(&mut self, head: KeyHead, registers: &mut RegisterSet) -> Result<usize, Trap> {
        let place = |at: usize| u32::try_from(at).map_err(|_| Trap::text_too_long());
        let number = self.groups.len();
        let first_slot = match self.free_slots.pop() {
            Some(first_slot) => first_slot,
            None => {
                let first_slot = registers.slot_total();
                registers.add_slots(&self.initial);
                first_slot
            }
        };
        let Some(keys) = registers.buffer_mut(self.buffer) else {
            return Err(Trap::slot());
        };
        self.groups.push(GroupRecord {
            start: place(keys.len())?,
            bytes: place(self.key.len())?,
            first_slot: place(first_slot)?,
        });
        keys.extend_from_slice(&self.key);
        let bucket = GroupBucket {
            head,
            number: place(number)?,
            first_slot: place(first_slot)?,
        };
        let rehash = |bucket: &GroupBucket| bucket.head.hash();
        self.table.insert_unique(head.hash(), bucket, rehash);
        Ok(first_slot)
    }

    /// Takes in what was put aside of the groups that there are.
    fn end_pass(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        for distinct in &mut self.distinct {
            distinct.finish(&mut self.key, registers)?;
        }
        self.table = HashTable::new();
        if let Some(SpilledGroups {
            file,
            partitions,
            waiting,
            ..
        }) = &mut self.spilled
            && let Some(partitions) = partitions.take()
        {
            let (level, streams) = partitions.finish(file)?;
            let streams = streams.into_iter().filter(|stream| !stream.is_empty());
            waiting.extend(streams.map(|stream| (level, stream)));
        }
        Ok(())
    }

    /// Makes the groups of rows that were spilled; false when there are none.
    fn next_pass(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        for group in self.groups.drain(..) {
            let first_slot = group.first_slot as usize;
            registers.reset_slots(first_slot, &self.initial, &self.text_slots);
            self.free_slots.push(first_slot);
        }
        registers.put_buffer(self.buffer, Vec::new());
        let next = self.spilled.as_mut().and_then(|spilled| {
            let (level, stream) = spilled.waiting.pop()?;
            spilled.level = level;
            Some(stream)
        });
        let Some(stream) = next else {
            return Ok(false);
        };
        let mut reader = stream.reader();
        while let Some(spilled) = &self.spilled
            && reader.advance(&spilled.file)?
        {
            self.image.restore(reader.row(), registers)?;
            self.take(registers)?;
        }
        self.end_pass(registers)?;
        Ok(true)
    }

    /// Gives the registers of the keys what a group has.
    fn restore(&self, group: GroupRecord, registers: &mut RegisterSet) {
        let mut at = group.start;
        for register in &self.key_registers {
            at = restore_key(registers, *register, self.buffer, at);
        }
    }
}

impl<I: RegisterIterator> RegisterIterator for HashGroup<I> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        let mut next = match self.next {
            Some(next) => next,
            None => {
                self.read_input(registers)?;
                0
            }
        };
        loop {
            while let Some(group) = self.groups.get(next) {
                let first_slot = group.first_slot as usize;
                self.restore(*group, registers);
                registers.set_group(first_slot);
                next += 1;
                self.next = Some(next);
                if self.results.run(registers)? {
                    return Ok(true);
                }
            }
            self.next = Some(0);
            if !self.next_pass(registers)? {
                return Ok(false);
            }
            next = 0;
        }
    }

    fn explain(&self, explanation: &mut Explanation) {
        let count = self.key_registers.len();
        explanation.line(format_args!("groups by hashing, {count} keys"));
        explanation.program("keys", &self.keys);
        explanation.program("row", &self.accumulate);
        for distinct in &self.distinct {
            distinct.explain(explanation);
        }
        explanation.program("group", &self.results);
        explanation.input(&self.input);
    }
}

impl GroupRecord {
    fn key(self, keys: &[u8]) -> &[u8] {
        let start = self.start as usize;
        keys.get(start..start + self.bytes as usize)
            .unwrap_or_default()
    }
}

/// The slots of a group without rows, which several programs share.
fn initial_slots<'p>(programs: impl Iterator<Item = &'p Program>) -> Vec<i128> {
    let mut initial = Vec::new();
    for program in programs {
        let own = program.initial_slots();
        if initial.len() < own.len() {
            initial.resize(own.len(), NOTHING);
        }
        for (slot, own) in initial.iter_mut().zip(own) {
            // What one of them counts, no other uses.
            if own != NOTHING {
                *slot = own;
            }
        }
    }
    initial
}
