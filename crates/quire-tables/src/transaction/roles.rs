//! Roles come and go.

use std::sync::Arc;

use super::WriteTransaction;
use crate::definition::{RoleDefinition, check_name};
use crate::error::TransactionError;

impl WriteTransaction {
    /// Creates a role and returns its id.
    ///
    /// # Errors
    /// There is a role of this name, or the name is not acceptable. The transaction can go on.
    pub fn create_role(&mut self, mut role: RoleDefinition) -> Result<u64, TransactionError> {
        self.check_new_role(&role.name)?;
        role.id = self.next_id();
        let id = role.id;
        self.put_role(role);
        Ok(id)
    }

    /// Puts another definition in the place of the role called `name`; it may have another name.
    ///
    /// # Errors
    /// No such role, or its new name is taken or not acceptable. The transaction can go on.
    pub fn alter_role(
        &mut self,
        name: &str,
        mut role: RoleDefinition,
    ) -> Result<(), TransactionError> {
        role.id = self.role(name)?.id;
        if role.name != name {
            self.check_new_role(&role.name)?;
        }
        self.catalog.roles.remove(name);
        self.put_role(role);
        Ok(())
    }

    /// Drops a role.
    ///
    /// # Errors
    /// No such role. The transaction can go on.
    pub fn drop_role(&mut self, name: &str) -> Result<(), TransactionError> {
        self.role(name)?;
        self.catalog.roles.remove(name);
        self.definitions_changed = true;
        Ok(())
    }

    fn check_new_role(&self, name: &str) -> Result<(), TransactionError> {
        check_name("role", name)?;
        if self.catalog.roles.contains_key(name) {
            Err(TransactionError::RoleExists(name.to_owned()))
        } else {
            Ok(())
        }
    }

    fn role(&self, name: &str) -> Result<Arc<RoleDefinition>, TransactionError> {
        let role = self.catalog.roles.get(name).cloned();
        role.ok_or_else(|| TransactionError::NotFound {
            kind: "role",
            name: name.to_owned(),
        })
    }

    fn put_role(&mut self, role: RoleDefinition) {
        self.catalog.roles.insert(role.name.clone(), Arc::new(role));
        self.definitions_changed = true;
    }
}
