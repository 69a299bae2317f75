//! How many files may this process have open?

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Allows as many open files as the system lets this process have, and servers that it starts after: each session has up to four, and the
/// customary limit is 1,024. Where it cannot be raised, opening too many sessions is an error that says so.
pub(super) fn raise_descriptor_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}
