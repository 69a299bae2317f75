//! Do Swingbench's three scenarios have the rows, do the transactions and keep the conditions that they are described with?
#![allow(clippy::unwrap_used)]

mod calling_circle;
mod loaded;
mod order_entry;
mod stress_test;
