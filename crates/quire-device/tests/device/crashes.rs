//! A crash after each operation on the disk: what is found is the state as of one batch, none that was synced is missing, and no rule
//! is broken.

use std::sync::Arc;

use quire_device::{DataSet, DataSetCodec, DataSetProperties, DataSetVolume, SynchronousWrites};
use quire_store::disk::CrashImages;
use quire_store::{MemDisk, SimDisk};

use crate::model::Model;
use crate::operations::{Operation, any_operation, perform_both};
use crate::random::{Random, seeds};
use crate::volumes::{check, create_on, open_on};

/// More than any run changes: batches are written only when a test asks for it.
const DIRTY_BYTES: usize = 64 << 20;

/// What was in the volume after a batch.
struct Moment {
    /// Operations of the disk until then.
    journal: usize,
    is_synced: bool,
    model: Model,
}

struct Run {
    disk: Arc<SimDisk>,
    sets: DataSetVolume,
    set: Arc<DataSet>,
    model: Model,
    moments: Vec<Moment>,
    snapshots: Vec<String>,
}

impl Run {
    fn begin(random: &mut Random) -> Self {
        let disk = Arc::new(SimDisk::recording(Vec::new()));
        let sets = create_on(disk.clone(), DIRTY_BYTES);
        let modes = [SynchronousWrites::Compressed, SynchronousWrites::Logged];
        let properties = DataSetProperties {
            record_bytes: Some(4096),
            compression: DataSetCodec::from_name(random.pick(&["lz4", "auto", "lzjb"])),
            synchronous: Some(random.pick(&modes)),
            ..DataSetProperties::default()
        };
        sets.create_set("data", properties).unwrap();
        let set = sets.open_set("data").unwrap();
        let mut run = Self {
            disk,
            sets,
            set,
            model: Model::new(),
            moments: Vec::new(),
            snapshots: Vec::new(),
        };
        run.set.sync().unwrap();
        run.note(true);
        run
    }

    fn note(&mut self, is_synced: bool) {
        self.moments.push(Moment {
            journal: self.disk.journal_len(),
            is_synced,
            model: self.model.reopened(),
        });
    }

    /// Nothing but writes since the newest sync: these can be logged.
    fn only_write(&mut self, random: &mut Random) -> Result<(), String> {
        self.set.sync().map_err(|error| error.to_string())?;
        self.note(true);
        for _ in 0..random.below(3) {
            for _ in 0..1 + random.below(3) {
                let operation = loop {
                    let operation = any_operation(random, &self.model);
                    if matches!(operation, Operation::Write(..)) {
                        break operation;
                    }
                };
                perform_both(&self.set, &mut self.model, &operation)?;
            }
            self.set.sync().map_err(|error| error.to_string())?;
            self.note(true);
        }
        Ok(())
    }

    /// One thing that writes batches. What it leaves is what the model is.
    fn write(&mut self, random: &mut Random) -> Result<(), String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        match random.below(10) {
            0..4 => {
                self.set.sync().map_err(|error| told(&error))?;
                self.note(true);
            }
            4..7 => {
                self.set.write_back().map_err(|error| told(&error))?;
                self.note(false);
            }
            7..9 => {
                let name = format!("data@{}", self.disk.journal_len());
                self.sets.snapshot(&name).map_err(|error| told(&error))?;
                self.note(true);
                self.snapshots.push(name);
            }
            _ if !self.snapshots.is_empty() => {
                let place = random.below(self.snapshots.len() as u64) as usize;
                let name = self.snapshots.remove(place);
                self.set.sync().map_err(|error| told(&error))?;
                self.note(true);
                self.sets
                    .destroy_snapshot(&name)
                    .map_err(|error| told(&error))?;
                self.note(true);
            }
            _ => {}
        }
        Ok(())
    }
}

/// What may be found after so many operations of the disk: as of the newest synced batch, or of one behind it that may have been
/// written by then.
fn allowed(moments: &[Moment], position: usize) -> &[Moment] {
    let past = moments.partition_point(|moment| moment.journal <= position);
    let synced = moments[..past].iter().rposition(|moment| moment.is_synced);
    &moments[synced.unwrap_or(0)..moments.len().min(past + 1)]
}

fn recovered(image: Vec<u8>, moments: &[Moment]) -> Result<(), String> {
    let disk = Arc::new(MemDisk::from_bytes(image));
    let sets = open_on(disk.clone(), DIRTY_BYTES)?;
    check(&sets)?;
    let set = sets.open_set("data").map_err(|error| error.to_string())?;
    let compared = moments.iter().map(|moment| moment.model.compare(&set));
    let different: Vec<String> = compared.filter_map(Result::err).collect();
    if different.len() == moments.len() {
        return Err(format!("the state of no batch: {different:?}"));
    }
    // And it goes on.
    set.sync().map_err(|error| error.to_string())?;
    check(&sets)
}

fn run(seed: u64) -> Result<(), String> {
    let mut random = Random(seed);
    let mut run = Run::begin(&mut random);
    let begun = run.moments[0].journal;
    for step in 0..120 {
        let operation = any_operation(&mut random, &run.model);
        perform_both(&run.set, &mut run.model, &operation)
            .map_err(|what| format!("step {step}: {what}"))?;
        if random.chance(20) {
            run.only_write(&mut random)
                .map_err(|what| format!("step {step}: {what}"))?;
        }
        if random.chance(15) {
            run.write(&mut random)
                .map_err(|what| format!("step {step}: {what}"))?;
        }
    }
    let journal = run.disk.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    loop {
        let position = crashes.position();
        if position >= begun {
            let damage = random.next_u64();
            recovered(crashes.image(damage), allowed(&run.moments, position))
                .map_err(|what| format!("after operation {position}, damage {damage}: {what}"))?;
        }
        if !crashes.advance() {
            return Ok(());
        }
    }
}

#[test]
fn a_crash_at_any_write_leaves_the_state_of_a_batch_and_nothing_half() {
    for seed in seeds(6) {
        if let Err(what) = run(seed) {
            panic!("QUIRE_SEED={seed} QUIRE_CASES=1: {what}");
        }
    }
}

/// Removals of many steps, with a crash after each operation of the disk: they are ended when the volume is opened.
#[test]
fn a_removal_that_is_interrupted_is_ended_later() {
    for seed in seeds(2) {
        let mut random = Random(seed);
        let disk = Arc::new(SimDisk::recording(Vec::new()));
        let sets = create_on(disk.clone(), DIRTY_BYTES);
        let properties = DataSetProperties {
            record_bytes: Some(4096),
            ..DataSetProperties::default()
        };
        for name in ["stays", "goes"] {
            sets.create_set(name, properties).unwrap();
            let set = sets.open_set(name).unwrap();
            let mut model = Model::new();
            for round in 0..3 {
                for _ in 0..40 {
                    let operation = any_operation(&mut random, &model);
                    perform_both(&set, &mut model, &operation).unwrap();
                }
                sets.snapshot(&format!("{name}@{round}")).unwrap();
            }
        }
        sets.sync().unwrap();
        let begun = disk.journal_len();
        sets.destroy_snapshot("stays@1").unwrap();
        sets.destroy_snapshot("stays@2").unwrap();
        for round in 0..3 {
            sets.destroy_snapshot(&format!("goes@{round}")).unwrap();
        }
        sets.destroy_set("goes").unwrap();
        let journal = disk.journal();
        let mut crashes = CrashImages::new(Vec::new(), &journal);
        while crashes.advance() {
            if crashes.position() < begun {
                continue;
            }
            let image = crashes.image(random.next_u64());
            let sets = open_on(Arc::new(MemDisk::from_bytes(image)), DIRTY_BYTES).unwrap();
            let position = crashes.position();
            let checked = check(&sets);
            assert_eq!(
                checked,
                Ok(()),
                "QUIRE_SEED={seed}: after operation {position}"
            );
            let set = sets.open_set("stays@0").unwrap();
            set.read_directory(quire_device::ROOT_INODE, None, 10)
                .unwrap();
            // What is not there any more has left its name.
            if sets.open_set("stays@1").is_err() {
                sets.snapshot("stays@1").unwrap();
            }
            if sets.open_set("goes").is_err() {
                sets.create_set("goes", properties).unwrap();
            }
        }
    }
}
