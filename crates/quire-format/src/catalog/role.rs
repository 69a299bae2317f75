//! Roles: who may log in.

use quire_codec::Corrupt;

use crate::wire::{WireItemReader, WireItemWriter};

const SUPERUSER: u8 = 1;
const LOGIN: u8 = 2;
const PASSWORD: u8 = 4;

/// A role. Names of roles are apart from those of relations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoleRecord {
    /// Id, unique for the life of the database, also among tables.
    pub id: u64,
    /// Name, unique among roles.
    pub name: String,
    /// Whether it may change roles and use files of the server.
    pub is_superuser: bool,
    /// Whether clients may log in as this role.
    pub can_log_in: bool,
    /// What a password is verified with, never the password: `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`.
    pub verifier: Option<String>,
}

impl RoleRecord {
    pub(super) fn encode(&self, writer: &mut WireItemWriter) {
        writer.varint(self.id);
        writer.bytes(self.name.as_bytes());
        let mut flags = 0;
        for (is_set, flag) in [
            (self.is_superuser, SUPERUSER),
            (self.can_log_in, LOGIN),
            (self.verifier.is_some(), PASSWORD),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        writer.byte(flags);
        if let Some(verifier) = &self.verifier {
            writer.bytes(verifier.as_bytes());
        }
    }

    pub(super) fn decode(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let mut role = RoleRecord {
            id: reader.varint()?,
            name: reader.text()?,
            ..RoleRecord::default()
        };
        let flags = reader.byte()?;
        if flags & !(SUPERUSER | LOGIN | PASSWORD) != 0 {
            return Err(reader.corrupt(format!("unknown flags {flags:#04x} of a role")));
        }
        role.is_superuser = flags & SUPERUSER != 0;
        role.can_log_in = flags & LOGIN != 0;
        if flags & PASSWORD != 0 {
            role.verifier = Some(reader.text()?);
        }
        Ok(role)
    }
}
