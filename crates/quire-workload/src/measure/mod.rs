//! What does a run cost: processor time, bytes read and written, the machine's load?
//!
//! A [`Meter`] samples processes when a measurement begins and when it ends. It has three groups: the database's processes, others (such as a
//! mount), and this process, which drives the run. Each group is its processes with all their descendants.
//!
//! # Why nothing is counted twice
//!
//! The kernel gives each process its own time (`utime`, `stime`) and that of its children that have ended and were waited for (`cutime`, `cstime`).
//! When a child ends and its parent waits for it, all of the child's time, with that of the child's own children, moves from the child to
//! `cutime` and `cstime` of the parent. So over a set that is closed under descent the sum of all four numbers only grows, and by exactly the
//! time that was used, whether processes come or go; the difference of two such sums is the time between them. The bytes in `/proc/PID/io`
//! move the same way.
//!
//! Lost is the time of a process whose parent ends first, or whose parent ignores the ends of its children. A sum that fell is taken as 0.

mod machine;
mod meter;
mod proc_text;
mod processes;

pub use meter::{GroupUse, Meter, RunMeasurement};
