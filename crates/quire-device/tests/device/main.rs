//! Data sets against a naive model, through crashes, damage and full disks.
#![allow(clippy::unwrap_used)]

mod administration;
mod codecs;
mod crashes;
mod damage;
mod devices;
mod dictionaries;
mod disk;
mod faults;
mod full;
mod golden;
mod golden_content;
mod limits;
mod logged_batches;
mod model;
mod names;
mod operations;
mod phrases;
mod properties;
mod random;
mod random_operations;
mod sets;
mod snapshots;
mod synchronous;
mod threads;
mod volumes;
mod world;
