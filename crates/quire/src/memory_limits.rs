//! How much memory the process may take: the machine's, or less where a control group says so.
//!
//! A container is a control group. The limit of version 2 is in `memory.max`, and `memory.high` is where the kernel begins to slow the
//! process down; that of version 1 is in `memory.limit_in_bytes`. A group is also bound by the groups around it, so all folders from the
//! process's own up to the root of the hierarchy count. Within a container the path of the own group may not exist, because the root that
//! it sees is that group.

use std::fs;
use std::path::{Component, Path};

/// What a statement's threads, their stacks, the program's own pages and batches between operators take beside what is counted.
pub(crate) const UNCOUNTED_BYTES: usize = 64 << 20;

/// Beside that the kernel counts buffers of files and its own tables to a control group.
const KERNEL_BYTES: usize = 32 << 20;

/// The least that statements and the cache share, however little the machine has.
const LEAST_BYTES: usize = 32 << 20;

/// The largest cache that nobody asked for.
const CACHE_BYTES_MAX: usize = 512 << 20;

/// Where the machine does not say how much memory it has.
const FALLBACK_BYTES: usize = 4 << 30;

/// Hierarchies of control groups: the controller that `/proc/self/cgroup` names them by (version 2 has none), where they are mounted,
/// and the files that limit memory.
const HIERARCHIES: [Hierarchy; 3] = [
    Hierarchy {
        controller: "",
        mount: "sys/fs/cgroup",
        limits: &["memory.max", "memory.high"],
    },
    Hierarchy {
        controller: "",
        mount: "sys/fs/cgroup/unified",
        limits: &["memory.max", "memory.high"],
    },
    Hierarchy {
        controller: "memory",
        mount: "sys/fs/cgroup/memory",
        limits: &["memory.limit_in_bytes"],
    },
];

struct Hierarchy {
    controller: &'static str,
    mount: &'static str,
    limits: &'static [&'static str],
}

/// How much statements and the cache of pages take unless something else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DefaultBudget {
    pub(crate) memory_bytes: usize,
    pub(crate) cache_bytes: usize,
}

impl DefaultBudget {
    /// For this process, on this machine.
    pub(crate) fn here() -> Self {
        Self::of(available_bytes(Path::new("/")).unwrap_or(FALLBACK_BYTES))
    }

    /// Of so much memory 60 %, and less if the rest does not hold what is not counted. A third of it, 512 MiB at most, is for the cache.
    fn of(available_bytes: usize) -> Self {
        let rest_bytes = available_bytes.saturating_sub(UNCOUNTED_BYTES + KERNEL_BYTES);
        let both_bytes = (available_bytes / 10 * 6).min(rest_bytes).max(LEAST_BYTES);
        let cache_bytes = (both_bytes / 3).min(CACHE_BYTES_MAX);
        Self {
            memory_bytes: both_bytes - cache_bytes,
            cache_bytes,
        }
    }
}

/// The memory of the machine, or the smallest limit of the control groups around this process. `root` has `proc` and `sys`.
fn available_bytes(root: &Path) -> Option<usize> {
    let machine = fs::read_to_string(root.join("proc/meminfo"));
    let machine_bytes = machine.ok().and_then(|text| total_memory_bytes(&text));
    let limits = group_limits(root);
    machine_bytes.into_iter().chain(limits).min()
}

fn total_memory_bytes(meminfo: &str) -> Option<usize> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// All limits that the control groups of this process state.
fn group_limits(root: &Path) -> Vec<usize> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut limits = Vec::new();
    for hierarchy in &HIERARCHIES {
        let path = path_within(&groups, hierarchy.controller).unwrap_or("/");
        limits.extend(hierarchy.limits_along(root, path));
    }
    limits
}

/// The path of the process's group. A line is `number:controllers:path`.
fn path_within<'a>(groups: &'a str, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let is_wanted = controllers.split(',').any(|known| known == controller);
        is_wanted.then_some(path)
    })
}

impl Hierarchy {
    /// The limits of the group at `path` and of those around it.
    fn limits_along(&self, root: &Path, path: &str) -> Vec<usize> {
        let mut folder = root.join(self.mount);
        let mut limits = self.limits_in(&folder);
        for part in Path::new(path).components() {
            // A group outside of what a container sees begins with `..`.
            if let Component::Normal(name) = part {
                folder.push(name);
                limits.extend(self.limits_in(&folder));
            }
        }
        limits
    }

    /// The limits that a group states: a number of bytes, or `max`.
    fn limits_in(&self, folder: &Path) -> Vec<usize> {
        let texts = self
            .limits
            .iter()
            .filter_map(|name| fs::read_to_string(folder.join(name)).ok());
        texts
            .filter_map(|text| text.trim().parse::<usize>().ok())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::PathBuf;

    use super::*;

    const GIB: usize = 1 << 30;
    const MIB: usize = 1 << 20;

    /// A made-up machine: files under a folder of their own.
    struct Machine(PathBuf);

    impl Machine {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let folder = format!("quire-limits-{}-{name}", std::process::id());
            let machine = Self(std::env::temp_dir().join(folder));
            machine.write(
                "proc/meminfo",
                "MemTotal:       16777216 kB\nMemFree: 1 kB\n",
            );
            for (path, text) in files {
                machine.write(path, text);
            }
            machine
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn available_bytes(&self) -> Option<usize> {
            available_bytes(&self.0)
        }
    }

    impl Drop for Machine {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn reads_the_total_of_a_meminfo_file() {
        let text = "MemTotal:       24689764 kB\nMemFree:        123 kB\n";
        assert_eq!(total_memory_bytes(text), Some(24_689_764 * 1024));
        assert_eq!(total_memory_bytes("MemFree: 1 kB\n"), None);
        assert_eq!(total_memory_bytes("MemTotal: many kB\n"), None);
    }

    #[test]
    fn without_groups_it_is_the_machine() {
        assert_eq!(Machine::new("bare", &[]).available_bytes(), Some(16 * GIB));
        assert_eq!(available_bytes(Path::new("/nowhere/at/all")), None);
    }

    #[test]
    fn version_2_has_a_limit_and_a_height_and_the_smaller_counts() {
        let group = ("proc/self/cgroup", "0::/app.slice/db.service\n");
        let own = "sys/fs/cgroup/app.slice/db.service/memory.max";
        let high = "sys/fs/cgroup/app.slice/db.service/memory.high";
        let machine = Machine::new("two", &[group, (own, "536870912\n"), (high, "max\n")]);
        assert_eq!(machine.available_bytes(), Some(512 * MIB));
        machine.write(high, "268435456\n");
        assert_eq!(machine.available_bytes(), Some(256 * MIB));
        machine.write(own, "max\n");
        machine.write(high, "max\n");
        assert_eq!(machine.available_bytes(), Some(16 * GIB));
    }

    #[test]
    fn groups_around_the_own_one_bind_it_too() {
        let group = ("proc/self/cgroup", "0::/a/b/c\n");
        let around = ("sys/fs/cgroup/a/memory.max", "1073741824\n");
        let own = ("sys/fs/cgroup/a/b/c/memory.max", "2147483648\n");
        let beside = ("sys/fs/cgroup/a/other/memory.max", "1048576\n");
        let machine = Machine::new("nested", &[group, around, own, beside]);
        assert_eq!(machine.available_bytes(), Some(GIB));
    }

    #[test]
    fn version_1_has_its_own_hierarchy() {
        let groups = "5:devices:/\n4:cpu,memory:/docker/12ab\n1:cpu:/other\n0::/\n";
        let own = "sys/fs/cgroup/memory/docker/12ab/memory.limit_in_bytes";
        let top = "sys/fs/cgroup/memory/memory.limit_in_bytes";
        let none = "9223372036854771712\n";
        let files = [
            ("proc/self/cgroup", groups),
            (top, none),
            (own, "268435456\n"),
        ];
        assert_eq!(
            Machine::new("one", &files).available_bytes(),
            Some(256 * MIB)
        );
        let files = [("proc/self/cgroup", groups), (top, none), (own, none)];
        let machine = Machine::new("one-without", &files);
        assert_eq!(machine.available_bytes(), Some(16 * GIB));
    }

    #[test]
    fn within_a_container_the_root_is_the_own_group() {
        let groups = ("proc/self/cgroup", "4:memory:/docker/12ab\n0::/../../x\n");
        let one = "sys/fs/cgroup/memory/memory.limit_in_bytes";
        let machine = Machine::new("container-one", &[groups, (one, "402653184\n")]);
        assert_eq!(machine.available_bytes(), Some(384 * MIB));
        let two = ("sys/fs/cgroup/unified/memory.max", "134217728\n");
        let machine = Machine::new("container-two", &[groups, two]);
        assert_eq!(machine.available_bytes(), Some(128 * MIB));
        let unreadable = ("sys/fs/cgroup/memory.max", "lots\n");
        let machine = Machine::new("unreadable", &[unreadable]);
        assert_eq!(machine.available_bytes(), Some(16 * GIB));
    }

    #[test]
    fn a_default_start_fits_what_there_is() {
        for available in [128 * MIB, 256 * MIB, 512 * MIB, GIB, 16 * GIB] {
            let budget = DefaultBudget::of(available);
            let taken = budget.memory_bytes + budget.cache_bytes + UNCOUNTED_BYTES;
            assert!(taken <= available, "{budget:?} of {available}");
            assert!(budget.memory_bytes >= budget.cache_bytes);
        }
        let large = DefaultBudget::of(16 * GIB);
        assert_eq!(large.cache_bytes, CACHE_BYTES_MAX);
        assert_eq!(DefaultBudget::of(0).memory_bytes, 22_369_622);
    }
}
