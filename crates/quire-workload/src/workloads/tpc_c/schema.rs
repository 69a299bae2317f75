//! The nine tables (TPC-C, clause 1.3).

use crate::{ColumnType, WorkloadColumn, WorkloadIndex, WorkloadTable};

const ID: ColumnType = ColumnType::Integer;
const COUNT: ColumnType = ColumnType::Integer;
const RATE: ColumnType = decimal(4, 4);

const fn decimal(precision: u8, scale: u8) -> ColumnType {
    ColumnType::Decimal { precision, scale }
}

const fn column(name: &'static str, kind: ColumnType) -> WorkloadColumn {
    WorkloadColumn::new(name, kind)
}

const fn text(name: &'static str, characters: u32) -> WorkloadColumn {
    WorkloadColumn::new(name, ColumnType::Varchar(characters))
}

const fn fixed(name: &'static str, characters: u32) -> WorkloadColumn {
    WorkloadColumn::new(name, ColumnType::Char(characters))
}

fn table(name: &str, primary_key: &[&'static str], columns: Vec<WorkloadColumn>) -> WorkloadTable {
    WorkloadTable {
        name: name.to_owned(),
        columns,
        primary_key: primary_key.to_vec(),
        indexes: Vec::new(),
    }
}

fn index(name: &str, columns: &[&'static str], unique: bool) -> WorkloadIndex {
    WorkloadIndex {
        name: name.to_owned(),
        columns: columns.to_vec(),
        unique,
    }
}

/// The tables with the two customary indexes: customers by last name, orders by customer. `ORDER` and `NEW-ORDER` are called `orders` and
/// `new_order`, as their names are words of SQL.
pub fn tables() -> Vec<WorkloadTable> {
    vec![
        item(),
        warehouse(),
        stock(),
        district(),
        customer(),
        history(),
        orders(),
        order_line(),
        new_order(),
    ]
}

fn warehouse() -> WorkloadTable {
    let columns = vec![
        column("w_id", ID),
        text("w_name", 10),
        text("w_street_1", 20),
        text("w_street_2", 20),
        text("w_city", 20),
        fixed("w_state", 2),
        fixed("w_zip", 9),
        column("w_tax", RATE),
        column("w_ytd", decimal(12, 2)),
    ];
    table("warehouse", &["w_id"], columns)
}

fn district() -> WorkloadTable {
    let columns = vec![
        column("d_id", ID),
        column("d_w_id", ID),
        text("d_name", 10),
        text("d_street_1", 20),
        text("d_street_2", 20),
        text("d_city", 20),
        fixed("d_state", 2),
        fixed("d_zip", 9),
        column("d_tax", RATE),
        column("d_ytd", decimal(12, 2)),
        column("d_next_o_id", ID),
    ];
    table("district", &["d_w_id", "d_id"], columns)
}

fn customer() -> WorkloadTable {
    let columns = vec![
        column("c_id", ID),
        column("c_d_id", ID),
        column("c_w_id", ID),
        text("c_first", 16),
        fixed("c_middle", 2),
        text("c_last", 16),
        text("c_street_1", 20),
        text("c_street_2", 20),
        text("c_city", 20),
        fixed("c_state", 2),
        fixed("c_zip", 9),
        fixed("c_phone", 16),
        column("c_since", ColumnType::Timestamp),
        fixed("c_credit", 2),
        column("c_credit_lim", decimal(12, 2)),
        column("c_discount", RATE),
        column("c_balance", decimal(12, 2)),
        column("c_ytd_payment", decimal(12, 2)),
        column("c_payment_cnt", COUNT),
        column("c_delivery_cnt", COUNT),
        text("c_data", 500),
    ];
    let mut customer = table("customer", &["c_w_id", "c_d_id", "c_id"], columns);
    let by_name = ["c_w_id", "c_d_id", "c_last", "c_first"];
    customer.indexes = vec![index("customer_by_name", &by_name, false)];
    customer
}

fn history() -> WorkloadTable {
    let columns = vec![
        column("h_c_id", ID),
        column("h_c_d_id", ID),
        column("h_c_w_id", ID),
        column("h_d_id", ID),
        column("h_w_id", ID),
        column("h_date", ColumnType::Timestamp),
        column("h_amount", decimal(6, 2)),
        text("h_data", 24),
    ];
    table("history", &[], columns)
}

fn new_order() -> WorkloadTable {
    let columns = vec![
        column("no_o_id", ID),
        column("no_d_id", ID),
        column("no_w_id", ID),
    ];
    table("new_order", &["no_w_id", "no_d_id", "no_o_id"], columns)
}

fn orders() -> WorkloadTable {
    let columns = vec![
        column("o_id", ID),
        column("o_d_id", ID),
        column("o_w_id", ID),
        column("o_c_id", ID),
        column("o_entry_d", ColumnType::Timestamp),
        WorkloadColumn::nullable("o_carrier_id", ID),
        column("o_ol_cnt", COUNT),
        column("o_all_local", COUNT),
    ];
    let mut orders = table("orders", &["o_w_id", "o_d_id", "o_id"], columns);
    let by_customer = ["o_w_id", "o_d_id", "o_c_id", "o_id"];
    orders.indexes = vec![index("orders_by_customer", &by_customer, true)];
    orders
}

fn order_line() -> WorkloadTable {
    let columns = vec![
        column("ol_o_id", ID),
        column("ol_d_id", ID),
        column("ol_w_id", ID),
        column("ol_number", COUNT),
        column("ol_i_id", ID),
        column("ol_supply_w_id", ID),
        WorkloadColumn::nullable("ol_delivery_d", ColumnType::Timestamp),
        column("ol_quantity", COUNT),
        column("ol_amount", decimal(6, 2)),
        fixed("ol_dist_info", 24),
    ];
    let key = ["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"];
    table("order_line", &key, columns)
}

fn item() -> WorkloadTable {
    let columns = vec![
        column("i_id", ID),
        column("i_im_id", ID),
        text("i_name", 24),
        column("i_price", decimal(5, 2)),
        text("i_data", 50),
    ];
    table("item", &["i_id"], columns)
}

fn stock() -> WorkloadTable {
    let mut columns = vec![
        column("s_i_id", ID),
        column("s_w_id", ID),
        column("s_quantity", COUNT),
    ];
    columns.extend(STOCK_OF_DISTRICT.map(|name| fixed(name, 24)));
    columns.extend([
        column("s_ytd", ColumnType::Integer),
        column("s_order_cnt", COUNT),
        column("s_remote_cnt", COUNT),
        text("s_data", 50),
    ]);
    table("stock", &["s_w_id", "s_i_id"], columns)
}

const STOCK_OF_DISTRICT: [&str; 10] = [
    "s_dist_01",
    "s_dist_02",
    "s_dist_03",
    "s_dist_04",
    "s_dist_05",
    "s_dist_06",
    "s_dist_07",
    "s_dist_08",
    "s_dist_09",
    "s_dist_10",
];
