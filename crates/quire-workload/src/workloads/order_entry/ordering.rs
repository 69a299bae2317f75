//! How do customers browse products and order them?

use super::lookups::{Logon, addresses, customer};
use super::run::OrderEntryRun;
use crate::{
    SeededRandom, SessionError, SqlValue, TransactionEnd, WorkloadRows, WorkloadSession,
    WorkloadTransaction,
};
use std::sync::Arc;

const PRODUCT: &str = "SELECT p.product_id, p.product_name, p.product_description, p.category_id, p.weight_class, p.warranty_months, \
     p.supplier_id, p.product_status, p.list_price, p.min_price, p.catalog_url, i.quantity_on_hand \
     FROM product_information p JOIN inventories i ON i.product_id = p.product_id WHERE p.product_id = $1 LIMIT 14";
const PRODUCTS_OF_CATEGORY: &str = "SELECT p.product_id, p.list_price, p.product_name, p.product_description, p.category_id, \
     p.weight_class, p.warranty_months, p.supplier_id, p.product_status, p.min_price, p.catalog_url, i.quantity_on_hand \
     FROM product_information p JOIN inventories i ON i.product_id = p.product_id \
     WHERE p.category_id = $1 AND i.warehouse_id = $2 LIMIT 14";
const CARDS: &str = "SELECT card_id, customer_id, card_type, card_number, expiry_date, is_valid, security_code \
     FROM card_details WHERE customer_id = $1 LIMIT 14";
const INSERT_ORDER: &str = "INSERT INTO orders (order_id, order_date, order_mode, customer_id, order_status, order_total, warehouse_id, \
     delivery_type, cost_of_delivery, wait_till_all_available, delivery_address_id, customer_class, card_id, invoice_address_id) \
     VALUES ($1, $2, 'online', $3, 1, NULL, $4, 'Standard', $5, 'ship_asap', $6, $7, $8, $9)";
const STOCK: &str = "SELECT i.quantity_on_hand FROM product_information p JOIN inventories i ON i.product_id = p.product_id \
     WHERE i.product_id = $1 AND i.warehouse_id = $2";
const INSERT_ITEM: &str = "INSERT INTO order_items (order_id, line_item_id, product_id, unit_price, quantity, gift_wrap, item_condition, \
     estimated_delivery) VALUES ($1, $2, $3, $4, 1, 'None', 'New', $5)";
const COMPLETE_ORDER: &str = "UPDATE orders SET order_mode = 'online', order_status = $1, order_total = $2 WHERE order_id = $3";
const TAKE_FROM_STOCK: &str = "UPDATE inventories SET quantity_on_hand = quantity_on_hand - 1 WHERE product_id = $1 AND warehouse_id = $2";

/// Prices of products have this many decimals.
const PRICE_SCALE: u8 = 2;

/// *Browse Products*: a logon, and one to five products.
pub(super) struct ProductBrowsing {
    kind: usize,
    run: Arc<OrderEntryRun>,
    customer_id: i64,
    product_ids: Vec<i64>,
    logon: Logon,
}

impl ProductBrowsing {
    pub(super) fn new(kind: usize, run: &Arc<OrderEntryRun>, random: &mut SeededRandom) -> Self {
        Self {
            kind,
            run: Arc::clone(run),
            customer_id: random.between(1, run.rows.customers),
            product_ids: (0..random.between(1, 5))
                .map(|_| random.between(1, run.rows.products))
                .collect(),
            logon: Logon::new(run),
        }
    }
}

impl WorkloadTransaction for ProductBrowsing {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        customer(session, self.customer_id)?;
        self.logon.record(session, &self.run, self.customer_id)?;
        for &product_id in &self.product_ids {
            session.query(PRODUCT, &[SqlValue::Integer(product_id)])?;
        }
        Ok(TransactionEnd::Committed)
    }
}

/// *Order Products*: a logon, products of one to five categories, and an order of two to five of the last ones.
pub(super) struct ProductOrdering {
    kind: usize,
    run: Arc<OrderEntryRun>,
    customer_id: i64,
    order_id: i64,
    /// Categories to look at, each in a warehouse.
    categories: Vec<[i64; 2]>,
    warehouse_id: i64,
    cost_of_delivery: i64,
    /// The warehouses that the items are taken from, one for each item.
    item_warehouses: Vec<i64>,
    status: i64,
    logon: Logon,
}

impl ProductOrdering {
    pub(super) fn new(kind: usize, run: &Arc<OrderEntryRun>, random: &mut SeededRandom) -> Self {
        let (warehouses, categories) = (run.rows.warehouses, run.rows.categories());
        Self {
            kind,
            run: Arc::clone(run),
            customer_id: random.between(1, run.rows.customers),
            order_id: run.order_ids.draw(),
            categories: (0..random.between(1, 5))
                .map(|_| {
                    [
                        random.between(1, (categories - 1).max(1)),
                        random.between(1, warehouses),
                    ]
                })
                .collect(),
            warehouse_id: random.between(1, warehouses),
            cost_of_delivery: random.between(1, 5),
            item_warehouses: (0..random.between(2, 5))
                .map(|_| random.between(1, warehouses))
                .collect(),
            status: random.between(0, 3),
            logon: Logon::new(run),
        }
    }

    /// Inserts the order and its items, takes these from the stock, and writes the sum of their prices to the order.
    fn order(
        &self,
        session: &mut dyn WorkloadSession,
        customer: &[SqlValue],
        products: &WorkloadRows,
    ) -> Result<(), SessionError> {
        session.begin()?;
        self.insert_order(session, customer)?;
        let order_id = SqlValue::Integer(self.order_id);
        let mut total_unscaled = 0;
        let mut taken = Vec::new();
        for (index, (product, &warehouse_id)) in
            products.iter().zip(&self.item_warehouses).enumerate()
        {
            let (product_id, price) = (&product[0], &product[1]);
            let place = [product_id.clone(), SqlValue::Integer(warehouse_id)];
            let stock = session.query(STOCK, &place)?;
            let quantity = stock.first().and_then(|row| row[0].as_integer());
            if quantity.unwrap_or(0) <= 0 {
                continue;
            }
            let item = [
                order_id.clone(),
                SqlValue::Integer(index as i64 + 1),
                product_id.clone(),
                price.clone(),
                SqlValue::Date(self.run.clock.today() + 3),
            ];
            session.execute(INSERT_ITEM, &item)?;
            total_unscaled += price.as_unscaled(PRICE_SCALE).unwrap_or(0);
            taken.push(place);
        }
        let total = SqlValue::Decimal {
            unscaled: total_unscaled,
            scale: PRICE_SCALE,
        };
        let completed = [SqlValue::Integer(self.status), total, order_id];
        session.execute(COMPLETE_ORDER, &completed)?;
        for place in &taken {
            session.execute(TAKE_FROM_STOCK, place)?;
        }
        session.commit()
    }

    fn insert_order(
        &self,
        session: &mut dyn WorkloadSession,
        customer: &[SqlValue],
    ) -> Result<(), SessionError> {
        let (class, address, card) = (&customer[9], &customer[14], &customer[15]);
        let parameters = [
            SqlValue::Integer(self.order_id),
            self.run.clock.now(),
            SqlValue::Integer(self.customer_id),
            SqlValue::Integer(self.warehouse_id),
            SqlValue::Integer(self.cost_of_delivery),
            address.clone(),
            class.clone(),
            card.clone(),
            address.clone(),
        ];
        session.execute(INSERT_ORDER, &parameters)?;
        Ok(())
    }
}

impl WorkloadTransaction for ProductOrdering {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        let customers = customer(session, self.customer_id)?;
        addresses(session, self.customer_id)?;
        session.query(CARDS, &[SqlValue::Integer(self.customer_id)])?;
        self.logon.record(session, &self.run, self.customer_id)?;
        let mut products = WorkloadRows::new();
        for pair in &self.categories {
            products = session.query(PRODUCTS_OF_CATEGORY, &pair.map(SqlValue::Integer))?;
        }
        let Some(customer) = customers.first() else {
            return Err(SessionError::Failed {
                statement: "SELECT … FROM customers".into(),
                message: format!(
                    "there is no customer {}: load the data again",
                    self.customer_id
                ),
            });
        };
        self.order(session, customer, &products)?;
        Ok(TransactionEnd::Committed)
    }
}
