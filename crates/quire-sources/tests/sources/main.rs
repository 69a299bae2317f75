//! Databases made by rusqlite and by a server of PostgreSQL, read back: what was inserted is what must come out.

#[cfg(test)]
mod cells;
#[cfg(test)]
mod folder;
#[cfg(test)]
mod postgres_definitions;
#[cfg(test)]
mod postgres_reading;
#[cfg(test)]
mod postgres_server;
#[cfg(test)]
mod postgres_values;
#[cfg(test)]
mod random;
#[cfg(test)]
mod sqlite_definitions;
#[cfg(test)]
mod sqlite_files;
#[cfg(test)]
mod sqlite_reading;
#[cfg(test)]
mod sqlite_values;
