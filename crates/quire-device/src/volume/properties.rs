//! Properties as text: set, and listed with where they come from.

use quire_format::data_set::{DataSetProperties, DataSetTable};

use super::names::parent_of;
use super::{DataSetVolume, effective, find};
use crate::error::DataSetError;
use crate::options::EffectiveProperties;
use crate::properties::{PropertyName, set_property};

/// Where the value of a property comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertySource {
    /// It is set for the data set.
    Local,
    /// It is set for a data set above.
    Inherited {
        /// Its name.
        from: String,
    },
    /// It is set nowhere.
    Default,
}

/// A property of a data set, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyValue {
    /// Which.
    pub name: PropertyName,
    /// What holds, as text.
    pub value: String,
    /// Where that comes from.
    pub source: PropertySource,
}

impl DataSetVolume {
    /// Sets what `name=value` says for a data set; `name=inherit` takes back what is set. It holds for what is written, or made, from now on.
    ///
    /// # Errors
    /// [`DataSetError::Property`]; otherwise as [`DataSetVolume::set_properties`].
    pub fn set_property(&self, set: &str, assignment: &str) -> Result<(), DataSetError> {
        // What is wrong is found before anything changes.
        set_property(&mut DataSetProperties::default(), assignment)?;
        self.set_properties(set, |properties| {
            let set = set_property(properties, assignment);
            debug_assert!(set.is_ok(), "{assignment} was right a moment ago");
        })
    }

    /// All properties of a data set: what holds for it, and where that comes from.
    ///
    /// # Errors
    /// [`DataSetError::NotFound`].
    pub fn property_values(&self, set: &str) -> Result<Vec<PropertyValue>, DataSetError> {
        let table = self.context.table();
        find(&table, set)?;
        let holds = effective(&table, set);
        let value_of = |name: PropertyName| value_of(&table, set, &holds, name);
        Ok(PropertyName::ALL.into_iter().map(value_of).collect())
    }
}

fn value_of(
    table: &DataSetTable,
    set: &str,
    holds: &EffectiveProperties,
    name: PropertyName,
) -> PropertyValue {
    let is_set = |set: &str| {
        let found = find(table, set);
        found.is_ok_and(|set| name.get(&set.properties).is_some())
    };
    let mut above = std::iter::successors(parent_of(set), |name| parent_of(name));
    let source = if is_set(set) {
        PropertySource::Local
    } else {
        let from = above.find(|above| name.is_inherited() && is_set(above));
        from.map_or(PropertySource::Default, |from| PropertySource::Inherited {
            from: from.to_owned(),
        })
    };
    PropertyValue {
        name,
        value: name.effective(holds),
        source,
    }
}
