//! What a terminal draws the parameters of its transactions from.

use super::random_values::{RunConstants, last_name, last_name_number_max};
use super::scale::{DISTRICTS_OF_WAREHOUSE, TpcCScale};
use crate::SeededRandom;

/// The source of the parameters of one terminal.
#[derive(Clone, Debug)]
pub struct TerminalParameters {
    pub random: SeededRandom,
    pub scale: TpcCScale,
    pub constants: RunConstants,
    /// The home warehouse.
    pub warehouse: i64,
    /// The district of the terminal's stock levels; other transactions draw theirs.
    pub district: i64,
}

/// How a transaction names its customer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CustomerChoice {
    Id(i64),
    /// The customer in the middle, by first name, of those with this last name.
    LastName(String),
}

impl TerminalParameters {
    /// A district of a warehouse.
    pub fn any_district(&mut self) -> i64 {
        self.random.between(1, DISTRICTS_OF_WAREHOUSE)
    }

    /// A warehouse that is not the home; the home if there is no other.
    pub fn remote_warehouse(&mut self) -> i64 {
        let warehouses = i64::from(self.scale.warehouses);
        if warehouses == 1 {
            return self.warehouse;
        }
        let other = self.random.between(1, warehouses - 1);
        if other < self.warehouse {
            other
        } else {
            other + 1
        }
    }

    pub fn customer(&mut self) -> i64 {
        let function = self.constants.customers;
        function.draw(1, self.scale.customers(), &mut self.random)
    }

    /// By last name in 60 % (clauses 2.5.1.2 and 2.6.1.2).
    pub fn customer_choice(&mut self) -> CustomerChoice {
        if self.random.below(100) < 60 {
            let number_max = last_name_number_max(self.scale.customers());
            let number = self.constants.names.draw(0, number_max, &mut self.random);
            CustomerChoice::LastName(last_name(number))
        } else {
            CustomerChoice::Id(self.customer())
        }
    }

    pub fn item(&mut self) -> i64 {
        let function = self.constants.items;
        function.draw(1, self.scale.items(), &mut self.random)
    }
}
