//! Dictionaries that several row groups share: when they do, that rows stay what they were, and that no dictionary outlives or precedes its row groups.
#![allow(clippy::unwrap_used)]

mod copies;
mod damage;
mod fixture;
mod golden;
mod lifetime;
mod maps;
mod predicates;
mod sharing;
