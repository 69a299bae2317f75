//! Which tables does Order Entry have?

use crate::ColumnType::{BigInteger, Date, Decimal, Integer, SmallInteger, Timestamp, Varchar};
use crate::workloads::definitions::table;
use crate::{ColumnType, WorkloadColumn, WorkloadTable};

pub(super) const CUSTOMERS: &str = "customers";
pub(super) const ADDRESSES: &str = "addresses";
pub(super) const CARD_DETAILS: &str = "card_details";
pub(super) const LOGON: &str = "logon";
pub(super) const ORDERS: &str = "orders";
pub(super) const ORDER_ITEMS: &str = "order_items";
pub(super) const PRODUCT_INFORMATION: &str = "product_information";
pub(super) const PRODUCT_DESCRIPTIONS: &str = "product_descriptions";
pub(super) const WAREHOUSES: &str = "warehouses";
pub(super) const INVENTORIES: &str = "inventories";
pub(super) const METADATA: &str = "orderentry_metadata";

/// The tables. Seeds of their rows are numbered by their order.
pub(super) fn tables() -> Vec<WorkloadTable> {
    vec![
        customers(),
        addresses(),
        card_details(),
        logon(),
        orders(),
        order_items(),
        product_information(),
        product_descriptions(),
        warehouses(),
        inventories(),
        metadata(),
    ]
}

const fn column(name: &'static str, kind: ColumnType) -> WorkloadColumn {
    WorkloadColumn::new(name, kind)
}

const fn nullable(name: &'static str, kind: ColumnType) -> WorkloadColumn {
    WorkloadColumn::nullable(name, kind)
}

const fn money(precision: u8) -> ColumnType {
    Decimal {
        precision,
        scale: 2,
    }
}

fn customers() -> WorkloadTable {
    let columns = [
        column("customer_id", BigInteger),
        column("cust_first_name", Varchar(40)),
        column("cust_last_name", Varchar(40)),
        nullable("nls_language", Varchar(3)),
        nullable("nls_territory", Varchar(30)),
        nullable("credit_limit", money(9)),
        nullable("cust_email", Varchar(100)),
        nullable("account_mgr_id", Integer),
        nullable("customer_since", Date),
        nullable("customer_class", Varchar(40)),
        nullable("suggestions", Varchar(40)),
        nullable("dob", Date),
        nullable("mailshot", Varchar(1)),
        nullable("partner_mailshot", Varchar(1)),
        nullable("preferred_address", BigInteger),
        nullable("preferred_card", BigInteger),
    ];
    let indexes: [&[&str]; 4] = [
        &["account_mgr_id"],
        &["dob"],
        &["cust_email"],
        // Names are stored in lower case: Swingbench indexes lower(cust_last_name), lower(cust_first_name).
        &["cust_last_name", "cust_first_name"],
    ];
    table(CUSTOMERS, &columns, &["customer_id"], &indexes)
}

fn addresses() -> WorkloadTable {
    let columns = [
        column("address_id", BigInteger),
        column("customer_id", BigInteger),
        column("date_created", Timestamp),
        nullable("house_no_or_name", Varchar(60)),
        nullable("street_name", Varchar(60)),
        nullable("town", Varchar(60)),
        nullable("county", Varchar(60)),
        nullable("country", Varchar(60)),
        nullable("post_code", Varchar(12)),
        nullable("zip_code", Varchar(12)),
    ];
    table(ADDRESSES, &columns, &["address_id"], &[&["customer_id"]])
}

fn card_details() -> WorkloadTable {
    let columns = [
        column("card_id", BigInteger),
        column("customer_id", BigInteger),
        column("card_type", Varchar(30)),
        column("card_number", BigInteger),
        column("expiry_date", Date),
        column("is_valid", Varchar(1)),
        nullable("security_code", Integer),
    ];
    table(CARD_DETAILS, &columns, &["card_id"], &[&["customer_id"]])
}

fn logon() -> WorkloadTable {
    let columns = [
        column("logon_id", BigInteger),
        column("customer_id", BigInteger),
        nullable("logon_date", Timestamp),
    ];
    table(LOGON, &columns, &["logon_id"], &[])
}

fn orders() -> WorkloadTable {
    let columns = [
        column("order_id", BigInteger),
        column("order_date", Timestamp),
        nullable("order_mode", Varchar(8)),
        column("customer_id", BigInteger),
        nullable("order_status", SmallInteger),
        // Four digits more than in the original: a long run of a small scale adds to the same totals over and over.
        nullable("order_total", money(12)),
        nullable("sales_rep_id", Integer),
        nullable("promotion_id", Integer),
        nullable("warehouse_id", Integer),
        nullable("delivery_type", Varchar(15)),
        nullable("cost_of_delivery", Integer),
        nullable("wait_till_all_available", Varchar(15)),
        nullable("delivery_address_id", BigInteger),
        nullable("customer_class", Varchar(30)),
        nullable("card_id", BigInteger),
        nullable("invoice_address_id", BigInteger),
    ];
    let indexes: [&[&str]; 4] = [
        &["customer_id"],
        &["order_date"],
        &["sales_rep_id"],
        &["warehouse_id", "order_status"],
    ];
    table(ORDERS, &columns, &["order_id"], &indexes)
}

fn order_items() -> WorkloadTable {
    let columns = [
        column("order_id", BigInteger),
        column("line_item_id", SmallInteger),
        column("product_id", Integer),
        nullable("unit_price", money(8)),
        nullable("quantity", Integer),
        nullable("dispatch_date", Date),
        nullable("return_date", Date),
        nullable("gift_wrap", Varchar(20)),
        // `condition` in the original, which MariaDB reserves.
        nullable("item_condition", Varchar(20)),
        nullable("supplier_id", Integer),
        nullable("estimated_delivery", Date),
    ];
    let indexes: [&[&str]; 2] = [&["order_id"], &["product_id"]];
    table(
        ORDER_ITEMS,
        &columns,
        &["order_id", "line_item_id"],
        &indexes,
    )
}

fn product_information() -> WorkloadTable {
    let columns = [
        column("product_id", Integer),
        column("product_name", Varchar(50)),
        nullable("product_description", Varchar(2_000)),
        column("category_id", Integer),
        nullable("weight_class", SmallInteger),
        // An interval of years and months in the original.
        nullable("warranty_months", Integer),
        nullable("supplier_id", Integer),
        nullable("product_status", Varchar(20)),
        nullable("list_price", money(8)),
        nullable("min_price", money(8)),
        nullable("catalog_url", Varchar(50)),
    ];
    let indexes: [&[&str]; 2] = [&["supplier_id"], &["category_id"]];
    table(PRODUCT_INFORMATION, &columns, &["product_id"], &indexes)
}

fn product_descriptions() -> WorkloadTable {
    let columns = [
        column("product_id", Integer),
        column("language_id", Varchar(3)),
        column("translated_name", Varchar(50)),
        column("translated_description", Varchar(2_000)),
    ];
    let key = ["product_id", "language_id"];
    table(
        PRODUCT_DESCRIPTIONS,
        &columns,
        &key,
        &[&["translated_name"]],
    )
}

fn warehouses() -> WorkloadTable {
    let columns = [
        column("warehouse_id", Integer),
        nullable("warehouse_name", Varchar(35)),
        nullable("location_id", Integer),
    ];
    table(WAREHOUSES, &columns, &["warehouse_id"], &[&["location_id"]])
}

fn inventories() -> WorkloadTable {
    let columns = [
        column("product_id", Integer),
        column("warehouse_id", Integer),
        column("quantity_on_hand", Integer),
    ];
    let indexes: [&[&str]; 2] = [&["product_id"], &["warehouse_id"]];
    table(
        INVENTORIES,
        &columns,
        &["product_id", "warehouse_id"],
        &indexes,
    )
}

fn metadata() -> WorkloadTable {
    let columns = [
        column("metadata_key", Varchar(30)),
        nullable("metadata_value", Varchar(30)),
    ];
    table(METADATA, &columns, &["metadata_key"], &[])
}
