//! A data set that is mounted.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use fuser::{Config, Session, SessionACL};
use quire_device::DataSet;

use crate::error::MountError;
use crate::front::Front;
use crate::mount_point::{attach, detach, detach_by_force, send_cached};
use crate::options::MountOptions;
use crate::served::ServedSet;
use crate::unmount::is_mounted;

/// A data set that is mounted on a directory, and served by threads in the background. It is unmounted when this is dropped; then
/// a failure is not reported, and who still uses its files gets errors, so [`MountedDataSet::unmount`] comes first.
pub struct MountedDataSet {
    directory: PathBuf,
    end: Arc<MountEnd>,
}

/// How a mount has ended.
#[derive(Default)]
struct MountEnd {
    result: Mutex<EndResult>,
    changed: Condvar,
}

#[derive(Default)]
struct EndResult {
    has_ended: bool,
    error: Option<MountError>,
}

impl MountEnd {
    fn lock(&self) -> MutexGuard<'_, EndResult> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, error: Option<MountError>) {
        let mut result = self.lock();
        result.has_ended = true;
        result.error = error;
        self.changed.notify_all();
    }

    fn wait(&self) -> Result<(), MountError> {
        let waited = self
            .changed
            .wait_while(self.lock(), |result| !result.has_ended);
        let mut result = waited.unwrap_or_else(PoisonError::into_inner);
        result.error.take().map_or(Ok(()), Err)
    }
}

impl MountedDataSet {
    /// Mounts a data set, or a snapshot, on a directory. When this returns, its files can be used.
    ///
    /// # Errors
    /// [`MountError::MountPoint`], [`MountError::NoFuse`], [`MountError::Refused`], [`MountError::Connection`].
    pub fn mount(
        set: Arc<DataSet>,
        directory: &Path,
        options: MountOptions,
    ) -> Result<Self, MountError> {
        let options = MountOptions {
            read_only: options.read_only || set.is_read_only(),
            ..options
        };
        let mut config = Config::default();
        // One may sync while others go on.
        config.n_threads = Some(options.threads.get().max(2));
        config.clone_fd = true;
        let (directory, device) = attach(directory, &options)?;
        let mounted = Self {
            directory,
            end: Arc::default(),
        };
        let served = Arc::new(ServedSet::new(set, options));
        let front = Front(Arc::clone(&served));
        // The kernel keeps other users out if they are not allowed.
        let started = Session::from_fd(front, device, SessionACL::All, config)
            .and_then(|session| start(session, served, &mounted));
        match started {
            Ok(()) => Ok(mounted),
            Err(error) => {
                mounted.end.set(None);
                detach_by_force(&mounted.directory);
                Err(MountError::Connection { error })
            }
        }
    }

    /// The directory, without links in its path.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Waits until the data set is unmounted, by whomever, and all that has changed is durable. An error is returned once.
    ///
    /// # Errors
    /// [`MountError::Sync`], [`MountError::Connection`].
    pub fn wait(&self) -> Result<(), MountError> {
        self.end.wait()
    }

    /// Unmounts the data set. When this returns, all that has changed is durable.
    ///
    /// # Errors
    /// [`MountError::Busy`] when somebody uses the files: then the data set is still mounted and served; [`MountError::Unmount`]; otherwise as
    /// [`MountedDataSet::wait`].
    pub fn unmount(&self) -> Result<(), MountError> {
        if !self.has_ended() {
            detach(&self.directory)?;
        }
        self.wait()
    }

    /// Unmounts the data set also if somebody uses its files: they get errors from then on. When this returns, all that has changed is durable.
    ///
    /// # Errors
    /// As [`MountedDataSet::wait`].
    pub fn unmount_by_force(&self) -> Result<(), MountError> {
        if !self.has_ended() && detach(&self.directory).is_err() {
            send_cached(&self.directory);
            detach_by_force(&self.directory);
        }
        self.wait()
    }

    /// Whether the data set is not mounted any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.end.lock().has_ended
    }
}

impl Drop for MountedDataSet {
    fn drop(&mut self) {
        // Nobody is left to tell of errors.
        let _ = self.unmount_by_force();
    }
}

/// Starts the thread that writes in the background, and the one that waits for those that answer the kernel.
fn start(
    session: Session<Front>,
    served: Arc<ServedSet>,
    mounted: &MountedDataSet,
) -> io::Result<()> {
    let end = Arc::clone(&mounted.end);
    let directory = mounted.directory.clone();
    let closing = Arc::clone(&served);
    let started = start_writer(&served).and_then(|writer| {
        let waiting = move || {
            let served_until_end = without_abort(session.run());
            // With threads missing, requests would have no answer. Then they get errors, unless an unmount came first: what is mounted
            // there now may be something else.
            if served_until_end.is_err() && is_mounted(&directory, closing.options.source()) {
                detach_by_force(&directory);
            }
            closing.syncs.close();
            // It has panicked, if at all; what is left to do is the same.
            let _ = writer.join();
            closing.release_all();
            let synced = closing.set.sync();
            let error = match (served_until_end, synced) {
                (_, Err(error)) => Some(MountError::Sync(error)),
                (Err(error), Ok(())) => Some(MountError::Connection { error }),
                (Ok(()), Ok(())) => None,
            };
            end.set(error);
        };
        let builder = thread::Builder::new().name("quire-mount".to_owned());
        builder.spawn(waiting).map(|_| ())
    });
    if started.is_err() {
        served.syncs.close();
    }
    started
}

/// An unmount ends a session in order. Of the threads that read requests most get `ENODEV` then, which the session takes for its end;
/// one that was just taking a request from the queue gets `ECONNABORTED`.
fn without_abort(end: io::Result<()>) -> io::Result<()> {
    end.or_else(|error| match error.raw_os_error() {
        Some(libc::ECONNABORTED) => Ok(()),
        _ => Err(error),
    })
}

fn start_writer(served: &Arc<ServedSet>) -> io::Result<JoinHandle<()>> {
    let served = Arc::clone(served);
    let builder = thread::Builder::new().name("quire-write".to_owned());
    builder.spawn(move || served.syncs.run_background(&served.set))
}
