use std::sync::Arc;

use quire_device::{DataSet, DataSetCodec, DataSetVolume, SectorRounding};
use quire_store::MemDisk;

use crate::model::Model;
use crate::operations::{any_operation, perform_both};
use crate::random::{Random, seeds};
use crate::volumes::{check, create_on, open_on};

/// Other properties from now on.
fn change_properties(sets: &DataSetVolume, random: &mut Random) {
    let codecs = [
        "off", "zle", "lzjb", "lzjb-zfs", "lz4", "lz4hc", "gzip-1", "zstd", "auto",
    ];
    let sectors = [
        SectorRounding::Tight,
        SectorRounding::Bytes512,
        SectorRounding::Bytes4096,
    ];
    let change = |properties: &mut quire_device::DataSetProperties| {
        properties.compression = DataSetCodec::from_name(random.pick(&codecs));
        properties.sectors = Some(random.pick(&sectors));
        properties.record_bytes = Some(4096_u32 << random.below(3));
    };
    sets.set_properties("data", change).unwrap();
}

fn run(seed: u64) -> Result<(), String> {
    let mut random = Random(seed);
    let disk = Arc::new(MemDisk::new());
    let dirty_bytes = if seed.is_multiple_of(2) {
        32 << 10
    } else {
        64 << 20
    };
    let mut sets = create_on(disk.clone(), dirty_bytes);
    sets.create_set("data", Default::default()).unwrap();
    change_properties(&sets, &mut random);
    let mut set: Arc<DataSet> = sets.open_set("data").unwrap();
    let mut model = Model::new();
    for step in 0..600 {
        let operation = any_operation(&mut random, &model);
        perform_both(&set, &mut model, &operation)
            .map_err(|what| format!("step {step}: {what}"))?;
        match random.below(100) {
            0..3 => set.sync().map_err(|error| error.to_string())?,
            3..6 => set.write_back().map_err(|error| error.to_string())?,
            6 => change_properties(&sets, &mut random),
            7..9 => {
                let compared = model.compare(&set);
                compared.map_err(|what| format!("after step {step}: {what}"))?;
            }
            9 => {
                drop(set);
                drop(sets);
                sets = open_on(disk.clone(), dirty_bytes)?;
                set = sets.open_set("data").map_err(|error| error.to_string())?;
                model = model.reopened();
                let compared = model.compare(&set);
                compared.map_err(|what| format!("reopened after step {step}: {what}"))?;
                set.sync().map_err(|error| error.to_string())?;
                check(&sets).map_err(|what| format!("after step {step}: {what}"))?;
                let (found, expected) = (sets.check().inodes, model.inodes.len() as u64);
                if found != expected {
                    return Err(format!(
                        "after step {step}: {found} inodes, expected {expected}"
                    ));
                }
            }
            _ => {}
        }
    }
    model.compare(&set)?;
    set.sync().map_err(|error| error.to_string())?;
    check(&sets)
}

#[test]
fn random_operations_leave_what_a_naive_model_has() {
    for seed in seeds(12) {
        if let Err(what) = run(seed) {
            panic!("QUIRE_SEED={seed} QUIRE_CASES=1: {what}");
        }
    }
}
