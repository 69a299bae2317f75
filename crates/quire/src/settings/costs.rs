//! The setting `costs`: what the work of queries is taken to cost.
//!
//! `SET costs = 'measured, lookup = 700'`: what `CALIBRATE` has found on this machine, but for some that are given in nanoseconds. Without
//! `measured` they are those that are built in, so that plans do not depend on the machine unless somebody wants it.

use quire_error::Error;
use quire_exec::costs::{CostError, CostModel};

use crate::machine;

/// Its name.
pub(crate) const COSTS: &str = "costs";

const BUILT_IN: &str = "default";
const MEASURED: &str = "measured";

/// The setting, and what it means.
#[derive(Debug, Clone)]
pub(super) struct CostSettings {
    text: String,
    costs: CostModel,
}

impl Default for CostSettings {
    fn default() -> Self {
        Self {
            text: BUILT_IN.to_owned(),
            costs: CostModel::default(),
        }
    }
}

impl CostSettings {
    pub(super) fn new(text: &str) -> Result<Self, Error> {
        let mut costs = CostModel::default();
        let parts = text.split(',').map(str::trim);
        for (position, part) in parts.filter(|part| !part.is_empty()).enumerate() {
            if position == 0 && part.eq_ignore_ascii_case(BUILT_IN) {
                continue;
            }
            if position == 0 && part.eq_ignore_ascii_case(MEASURED) {
                costs = machine::stored().unwrap_or_default();
                continue;
            }
            let (name, number) = part.split_once('=').ok_or_else(|| {
                let text = format!("invalid value for parameter \"{COSTS}\": \"{part}\"");
                Error::new("22023", text).with_hint(
                    "Say default or measured, and behind it costs in nanoseconds: 'measured, lookup = 700'.",
                )
            })?;
            costs.set(name.trim(), number.trim()).map_err(refused)?;
        }
        Ok(Self {
            text: text.to_owned(),
            costs,
        })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn costs(&self) -> &CostModel {
        &self.costs
    }
}

fn refused(error: CostError) -> Error {
    Error::new("22023", error.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_list_sets_what_it_names() {
        let set = CostSettings::new(" default , lookup = 7, row=3.5").unwrap();
        let of = |name: &str| {
            let mut shown = set.costs().shown();
            shown.find(|shown| shown.name == name).unwrap().ns
        };
        assert_eq!((of("lookup"), of("row")), (7.0, 3.5));
        assert_eq!(
            *CostSettings::new("").unwrap().costs(),
            CostModel::default()
        );
        for wrong in ["lookup", "lookup = 7, default", "nothing = 1", "lookup = x"] {
            assert_eq!(
                CostSettings::new(wrong).unwrap_err().sqlstate(),
                "22023",
                "{wrong}"
            );
        }
    }
}
