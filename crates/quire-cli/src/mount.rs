//! `quire mount`: the files of a data set as a folder of the system.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, mpsc};
use std::thread;

use quire_device::{DataSetVolume, OpenMode, open_data_sets};
use quire_mount::{MountError, MountOptions, MountedDataSet};

use crate::data_set::{CommandError, MountArguments};
use crate::exit_code;

/// Start of the line that is printed once the folder can be used.
const READY: &str = "mounted ";

/// Serves the folder until it is unmounted, or the process is interrupted or told to end.
pub fn run(arguments: &MountArguments) -> ExitCode {
    exit_code::reported(if arguments.background {
        start_in_background()
    } else {
        serve(arguments)
    })
}

fn serve(arguments: &MountArguments) -> Result<(), CommandError> {
    let is_snapshot = arguments
        .dataset
        .as_deref()
        .is_some_and(|name| name.contains('@'));
    let read_only = arguments.readonly || is_snapshot;
    let mode = if read_only {
        OpenMode::ReadOnly
    } else {
        OpenMode::ReadWrite
    };
    let sets = open_data_sets(&arguments.volume, mode)?;
    let name = chosen(&sets, arguments)?;
    // A signal that comes while the file system is being mounted is not lost.
    let (sender, ends) = mpsc::channel();
    let interrupted = sender.clone();
    ctrlc::set_handler(move || {
        let _ = interrupted.send(End::Signal);
    })?;
    let options = MountOptions {
        allow_other: arguments.allow_other,
        read_only,
        writeback_cache: arguments.writeback,
        // Named in the list of mounts, where `quire unmount` finds it.
        volume_file: Some(arguments.volume.canonicalize()?),
        ..MountOptions::default()
    };
    let mounted = MountedDataSet::mount(sets.open_set(&name)?, &arguments.directory, options)?;
    let mounted = Arc::new(mounted);
    writeln!(
        io::stdout(),
        "{READY}{name} at {}",
        mounted.directory().display()
    )?;
    io::stdout().flush()?;
    let waiting = Arc::clone(&mounted);
    thread::spawn(move || {
        let _ = sender.send(End::Unmounted(waiting.wait()));
    });
    wait(&mounted, &ends)?;
    sets.sync()?;
    Ok(())
}

/// What makes the process end.
enum End {
    /// An interrupt, or a request to terminate.
    Signal,
    /// It is not mounted any more.
    Unmounted(Result<(), MountError>),
}

/// Waits until the folder is unmounted. The first signal unmounts it if no file in it is open; the second one unmounts it in any case.
///
/// The result of a mount is returned once, to the thread that waits and sends [`End::Unmounted`]. So this thread waits for that message
/// after it has unmounted the folder.
fn wait(mounted: &MountedDataSet, ends: &Receiver<End>) -> Result<(), CommandError> {
    let mut is_asked_to_end = false;
    while let Ok(end) = ends.recv() {
        match end {
            End::Unmounted(result) => return Ok(result?),
            End::Signal if is_asked_to_end => mounted.unmount_by_force()?,
            End::Signal => match mounted.unmount() {
                Err(error @ MountError::Busy { .. }) => {
                    is_asked_to_end = true;
                    let message = "signal again to unmount it all the same";
                    // The terminal may be closed. That must not end the mount.
                    let _ = writeln!(io::stderr(), "quire: {error}; {message}");
                }
                done => done?,
            },
        }
    }
    Ok(())
}

/// Unmounts a folder, and waits until everything is on the disk.
pub fn run_unmount(directory: &Path) -> ExitCode {
    exit_code::reported(quire_mount::unmount(directory))
}

/// The data set that is asked for, or the only one.
fn chosen(sets: &DataSetVolume, arguments: &MountArguments) -> Result<String, CommandError> {
    if let Some(name) = &arguments.dataset {
        return Ok(name.clone());
    }
    let names: Vec<String> = sets.list()?.into_iter().map(|set| set.name).collect();
    let volume = arguments.volume.display();
    match names.as_slice() {
        [name] => Ok(name.clone()),
        [] => Err(format!(
            "{volume} has no data set; make one with `quire dataset create {volume} NAME`"
        )
        .into()),
        several => Err(format!(
            "{volume} has several data sets; choose one of {} with --dataset",
            several.join(", ")
        )
        .into()),
    }
}

/// The same command in a process group of its own; returns when the folder can be used.
fn start_in_background() -> Result<(), CommandError> {
    let words = std::env::args_os()
        .skip(1)
        .filter(|word| word != "--background");
    let mut server = Command::new(std::env::current_exe()?)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let mut line = String::new();
    if let Some(output) = server.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    if line.starts_with(READY) {
        write!(io::stdout(), "{line}")?;
        return Ok(());
    }
    // The child has written the cause to the standard error, which it shares.
    server.wait()?;
    Err("nothing is mounted".into())
}
