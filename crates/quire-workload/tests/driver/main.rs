//! A run on a fake database whose statements say how long they take, and whether they fail.

mod data;
mod fake;
mod runs;
