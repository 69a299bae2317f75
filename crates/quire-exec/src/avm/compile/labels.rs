//! Places of a program that is being made, and what is known at them.

use super::pool::CompileError;
use crate::avm::operand::Label;

/// A place, before it is known which instruction is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnresolvedLabel(pub(super) u16);

impl UnresolvedLabel {
    pub(super) fn label(self) -> Label {
        Label(self.0)
    }
}

#[derive(Clone, Debug, Default)]
struct PlaceState {
    target: Option<u16>,
    /// What every branch to the place knows; none before the first.
    known: Option<Vec<usize>>,
}

/// All places, and what is known at the present one: numbers of values that are in registers there.
#[derive(Debug)]
pub(super) struct Labels {
    places: Vec<PlaceState>,
    /// None where no way leads.
    present: Option<Vec<usize>>,
}

impl Default for Labels {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            present: Some(Vec::new()),
        }
    }
}

/// What holds where two ways meet.
fn meet(known: &mut Option<Vec<usize>>, other: &[usize]) {
    match known {
        Some(known) => known.retain(|value| other.contains(value)),
        None => *known = Some(other.to_vec()),
    }
}

impl Labels {
    pub(super) fn add(&mut self) -> UnresolvedLabel {
        self.places.push(PlaceState::default());
        UnresolvedLabel(u16::try_from(self.places.len() - 1).unwrap_or(u16::MAX))
    }

    pub(super) fn is_reached(&self) -> bool {
        self.present.is_some()
    }

    pub(super) fn available(&self) -> &[usize] {
        self.present.as_deref().unwrap_or_default()
    }

    pub(super) fn know(&mut self, value: usize) {
        if let Some(present) = &mut self.present {
            present.push(value);
        }
    }

    /// A branch from here to there.
    pub(super) fn branch(&mut self, place: UnresolvedLabel) {
        let state = self.places.get_mut(usize::from(place.0));
        if let (Some(state), Some(present)) = (state, &self.present) {
            meet(&mut state.known, present);
        }
    }

    /// What follows is only reached by branches.
    pub(super) fn stop(&mut self) {
        self.present = None;
    }

    /// A place is here, at this instruction.
    pub(super) fn place(&mut self, place: UnresolvedLabel, instruction: usize) {
        let Some(state) = self.places.get_mut(usize::from(place.0)) else {
            return;
        };
        state.target = u16::try_from(instruction).ok();
        if let Some(known) = &state.known {
            meet(&mut self.present, known);
        }
    }

    /// The instruction at a place.
    pub(super) fn target(&self, place: UnresolvedLabel) -> Result<u16, CompileError> {
        let state = self.places.get(usize::from(place.0));
        state
            .and_then(|state| state.target)
            .ok_or(CompileError::TooLong)
    }
}
