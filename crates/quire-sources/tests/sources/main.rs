//! Databases made by rusqlite and by a server of PostgreSQL, read back: what was inserted is what must come out.

mod cells;
mod folder;
mod postgres_definitions;
mod postgres_reading;
mod postgres_server;
mod postgres_values;
mod random;
mod sqlite_definitions;
mod sqlite_files;
mod sqlite_reading;
mod sqlite_values;
