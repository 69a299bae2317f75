//! Which accounts are there, and what are their names and numbers?

use super::schema::REGIONS;

/// Accounts of a scale, half of them from 15,000,000 and half from 25,000,000; an account's line has the same number. New accounts have
/// names from 20,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accounts {
    half: i64,
}

const FIRST_HALF: i64 = 15_000_000;
const NEW_NAMES: i64 = 20_000_000;
const SECOND_HALF: i64 = 25_000_000;
const FURTHER_NEW_NAMES: i64 = 30_000_000;

impl Accounts {
    /// A million accounts at scale 1. The ranges reach for a scale of 10, the greatest that the original has; the least has two accounts.
    pub(super) fn of_scale(scale: f64) -> Self {
        let half = (500_000.0 * scale).round().clamp(1.0, 5_000_000.0);
        Self { half: half as i64 }
    }

    pub(super) fn count(self) -> i64 {
        2 * self.half
    }

    /// The account of a number below [`count`](Self::count).
    pub(super) fn account(self, number: i64) -> i64 {
        if number < self.half {
            FIRST_HALF + number
        } else {
            SECOND_HALF + number - self.half
        }
    }

    /// New names that are drawn in any order; each is used once.
    pub(super) fn new_names(self) -> i64 {
        self.half
    }

    /// A new account's name as a number. Those beyond [`new_names`](Self::new_names) come one after the other.
    pub(super) fn new_name(self, number: i64) -> i64 {
        if number < self.half {
            NEW_NAMES + number
        } else {
            FURTHER_NEW_NAMES + number - self.half
        }
    }
}

/// An account's name: its number with 16 digits.
pub(super) fn name_of(account: i64) -> String {
    format!("{account:016}")
}

/// A number to call: the dial code of its region, and six digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallNumber {
    pub(super) region: i64,
    pub(super) digits: i64,
}

impl CallNumber {
    /// The number of an account's line.
    pub(super) fn of_account(account: i64) -> Self {
        Self {
            region: account % REGIONS,
            digits: account % 1_000_000,
        }
    }

    /// How the region is dialled.
    pub(super) fn region_value(&self) -> String {
        format!("01{:03}", self.region)
    }

    pub(super) fn cli(&self) -> String {
        format!("{:06}", self.digits)
    }
}
