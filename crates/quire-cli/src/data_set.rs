//! `quire dataset`: what data sets a volume has.

mod arguments;
mod list;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use quire_device::{
    DataSetVolume, OpenMode, open_data_sets, open_or_create_data_sets, parse_properties,
    set_property,
};

pub use arguments::{DataSetAction, MountArguments};

use crate::exit_code;

/// The error of a command, of which only the text is used.
pub type CommandError = Box<dyn std::error::Error>;

/// Performs one action and closes the volume.
pub fn run(action: &DataSetAction) -> ExitCode {
    exit_code::reported(act(action).map(|text| {
        // A closed output does not undo what has been done.
        let _ = io::stdout().write_all(text.as_bytes());
    }))
}

/// Performs an action; returns the text to print.
fn act(action: &DataSetAction) -> Result<String, CommandError> {
    match action {
        DataSetAction::List { volume } => {
            Ok(list::list(&open_data_sets(volume, OpenMode::ReadOnly)?)?)
        }
        DataSetAction::Get { volume, name } => Ok(list::properties(
            &open_data_sets(volume, OpenMode::ReadOnly)?,
            name,
        )?),
        DataSetAction::Create {
            volume,
            name,
            properties,
        } => {
            // Wrong properties and names leave no file behind.
            let properties = parse_properties(properties)?;
            changed(open_or_create_data_sets(volume, name)?, |sets| {
                Ok(sets.create_set(name, properties)?)
            })
        }
        DataSetAction::Set {
            volume,
            name,
            properties,
        } => change(volume, |sets| set(sets, name, properties)),
        DataSetAction::Snapshot { volume, name } => change(volume, |sets| Ok(sets.snapshot(name)?)),
        DataSetAction::Clone {
            volume,
            snapshot,
            name,
            properties,
        } => {
            let properties = parse_properties(properties)?;
            change(volume, |sets| {
                Ok(sets.clone_snapshot(snapshot, name, properties)?)
            })
        }
        DataSetAction::Rename { volume, from, to } => change(volume, |sets| rename(sets, from, to)),
        DataSetAction::Promote { volume, name } => change(volume, |sets| Ok(sets.promote(name)?)),
        DataSetAction::Rollback { volume, name } => change(volume, |sets| Ok(sets.rollback(name)?)),
        DataSetAction::Destroy { volume, name } => change(volume, |sets| destroy(sets, name)),
    }
}

fn change(
    volume: &Path,
    act: impl FnOnce(&DataSetVolume) -> Result<(), CommandError>,
) -> Result<String, CommandError> {
    changed(open_data_sets(volume, OpenMode::ReadWrite)?, act)
}

fn changed(
    sets: DataSetVolume,
    act: impl FnOnce(&DataSetVolume) -> Result<(), CommandError>,
) -> Result<String, CommandError> {
    act(&sets)?;
    sets.sync()?;
    Ok(String::new())
}

/// All of them or none.
fn set(sets: &DataSetVolume, name: &str, words: &[String]) -> Result<(), CommandError> {
    let mut properties = sets.properties(name)?;
    for word in words {
        set_property(&mut properties, word)?;
    }
    sets.set_properties(name, |stored| *stored = properties)?;
    Ok(())
}

fn rename(sets: &DataSetVolume, from: &str, to: &str) -> Result<(), CommandError> {
    match from.contains('@') {
        true => sets.rename_snapshot(from, to)?,
        false => sets.rename_set(from, to)?,
    }
    Ok(())
}

fn destroy(sets: &DataSetVolume, name: &str) -> Result<(), CommandError> {
    match name.contains('@') {
        true => sets.destroy_snapshot(name)?,
        false => sets.destroy_set(name)?,
    }
    Ok(())
}
