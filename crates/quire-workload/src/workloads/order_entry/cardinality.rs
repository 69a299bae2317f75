//! How many rows do the tables of Order Entry have?

/// Rows of the tables, and entries of the lists that names are sampled from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderEntryRows {
    pub customers: i64,
    pub addresses: i64,
    pub cards: i64,
    pub orders: i64,
    pub logons: i64,
    pub products: i64,
    pub warehouses: i64,
    /// First names, and as many last names.
    pub names: i64,
}

impl OrderEntryRows {
    /// The rows of a scale, of which 1 is Swingbench's "1 GB". Products, warehouses and stocks are the same at each scale.
    ///
    /// There are 1,000 names of each kind at scale 1 and above. Below it there are fewer, as the root of the scale, so that as many
    /// customers share a name as there: *Update Customer Details* changes something only where there are two of them.
    pub fn of_scale(scale: f64) -> Self {
        let scaled = |rows: f64| ((rows * scale).round() as i64).max(1);
        Self {
            customers: scaled(1_000_000.0),
            addresses: scaled(1_500_000.0),
            cards: scaled(1_500_000.0),
            orders: scaled(1_429_790.0),
            logons: scaled(2_382_984.0),
            products: 1_000,
            warehouses: 1_000,
            names: ((1_000.0 * scale.sqrt()).round() as i64).clamp(10, 1_000),
        }
    }

    /// Categories of products: five products have the same one.
    pub(super) fn categories(&self) -> i64 {
        (self.products / 5).max(1)
    }
}
