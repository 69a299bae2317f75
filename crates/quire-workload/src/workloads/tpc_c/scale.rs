//! How many rows does a TPC-C database have?

/// The size of a database (TPC-C, clauses 1.2 and 4.3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TpcCScale {
    pub warehouses: u32,
    /// Items, customers and orders are divided by it. 1 is the specification's; 100 makes databases for tests. At most 300.
    pub reduction: u32,
}

pub const DISTRICTS_OF_WAREHOUSE: i64 = 10;

impl TpcCScale {
    /// The specification's cardinalities.
    pub const fn full(warehouses: u32) -> Self {
        Self {
            warehouses,
            reduction: 1,
        }
    }

    /// Cardinalities divided by 100, so that a warehouse takes a fraction of a second.
    pub const fn reduced(warehouses: u32) -> Self {
        Self {
            warehouses,
            reduction: 100,
        }
    }

    pub fn items(self) -> i64 {
        100_000 / self.divisor()
    }

    /// Customers of a district, which are as many as its orders.
    pub fn customers(self) -> i64 {
        3_000 / self.divisor()
    }

    /// The least number of an order that is not delivered yet: 900 of 3,000 are not.
    pub fn first_new_order(self) -> i64 {
        self.customers() - 900 / self.divisor() + 1
    }

    fn divisor(self) -> i64 {
        i64::from(self.reduction.clamp(1, 300))
    }
}
