//! What clients ask of the catalog.

use crate::client::{Client, connect, query, server};

const SETUP: [&str; 6] = [
    "create table customer (id serial primary key, name varchar(10) not null default 'x', price numeric(10,2), \
     unique (name), check (price > 0))",
    "create index customer_price on customer (price desc)",
    "create table orders (id int generated always as identity primary key, \
     customer int references customer (id) on delete cascade, note text)",
    "create table facts (a int, b text) using column",
    "create view named as select name, price from customer",
    "insert into customer (name, price) values ('a', 1)",
];

fn shop() -> (quire_server::Server, Client) {
    let server = server();
    let mut client = connect(&server);
    for sql in SETUP {
        let answers = client.query(sql);
        assert!(answers[0].starts_with("done"), "{sql}: {answers:?}");
    }
    (server, client)
}

/// The rows of a query, without what is around them.
fn rows(client: &mut Client, sql: &str) -> Vec<String> {
    let answers = client.query(sql);
    assert!(answers[0].starts_with("columns"), "{sql}: {answers:?}");
    let rows = answers
        .iter()
        .filter_map(|answer| answer.strip_prefix("row "));
    rows.map(str::to_owned).collect()
}

#[test]
fn questions_of_clients_are_answered() {
    let (_server, mut client) = shop();
    let number = rows(&mut client, "select 'customer'::regclass::oid").remove(0);
    let script = include_str!("client_queries.sql").replace("16385", &number);
    let lines = script.lines().filter(|line| !line.starts_with("--"));
    let lines: Vec<_> = lines.collect();
    let mut asked = 0;
    for sql in lines.join("\n").split(";\n") {
        if sql.trim().is_empty() {
            continue;
        }
        client.send(&[query(sql)]);
        for answer in client.until_ready() {
            assert_ne!(answer.kind, 'E', "{sql}\n{:?}", answer.field('M'));
        }
        asked += 1;
    }
    assert!(asked > 30, "{asked}");
}

#[test]
fn relations_are_in_pg_class() {
    let (_server, mut client) = shop();
    let found = rows(
        &mut client,
        "select relname, relkind from pg_class c join pg_namespace n on n.oid = relnamespace \
         where nspname = 'public' order by 1",
    );
    let expected = [
        "customer|r",
        "customer_id_seq|S",
        "customer_name_key|i",
        "customer_pkey|i",
        "customer_price|i",
        "facts|r",
        "named|v",
        "orders|r",
        "orders_id_seq|S",
        "orders_pkey|i",
    ];
    assert_eq!(found, expected);
}

#[test]
fn numbers_stay() {
    let (_server, mut client) = shop();
    let numbers =
        "select oid, relname from pg_catalog.pg_class where relname like 'customer%' order by 2";
    let before = rows(&mut client, numbers);
    client.query("create table another (a int)");
    client.query("alter table customer add column more text");
    client.query("drop table facts");
    assert_eq!(rows(&mut client, numbers), before);
}

// What PostgreSQL 15 says of the same tables.
#[test]
fn columns_and_constraints_are_spelled_as_postgresql_does() {
    let (_server, mut client) = shop();
    let columns = "select attname, format_type(atttypid, atttypmod), attnotnull, attidentity, \
                   (select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = attrelid and adnum = attnum) \
                   from pg_attribute where attrelid = 'customer'::regclass and attnum > 0 order by attnum";
    assert_eq!(
        rows(&mut client, columns),
        [
            "id|integer|t||nextval('customer_id_seq'::regclass)",
            "name|character varying(10)|t||'x'",
            "price|numeric(10,2)|f||NULL",
        ]
    );
    let constraints = "select conname, contype, pg_get_constraintdef(oid), conkey from pg_constraint \
                       where conrelid in ('customer'::regclass, 'orders'::regclass) order by 1";
    assert_eq!(
        rows(&mut client, constraints),
        [
            "customer_name_key|u|UNIQUE (name)|{2}",
            "customer_pkey|p|PRIMARY KEY (id)|{1}",
            "customer_price_check|c|CHECK (price > 0)|{}",
            "orders_customer_fkey|f|FOREIGN KEY (customer) REFERENCES customer(id) ON DELETE CASCADE|{2}",
            "orders_pkey|p|PRIMARY KEY (id)|{1}",
        ]
    );
    let indexes = "select pg_get_indexdef(indexrelid), indkey, indoption from pg_index \
                   where indrelid = 'customer'::regclass order by 1";
    assert_eq!(
        rows(&mut client, indexes),
        [
            "CREATE INDEX customer_price ON public.customer USING btree (price DESC)|3|3",
            "CREATE UNIQUE INDEX customer_name_key ON public.customer USING btree (name)|2|0",
            "CREATE UNIQUE INDEX customer_pkey ON public.customer USING btree (id)|1|0",
        ]
    );
}

#[test]
fn the_standard_has_its_own_catalog() {
    let (_server, mut client) = shop();
    let tables = "select table_name, table_type from information_schema.tables \
                  where table_schema = 'public' order by 1";
    assert_eq!(
        rows(&mut client, tables),
        [
            "customer|BASE TABLE",
            "facts|BASE TABLE",
            "named|VIEW",
            "orders|BASE TABLE"
        ]
    );
    let columns = "select column_name, data_type, is_nullable, character_maximum_length, numeric_scale \
                   from information_schema.columns where table_name = 'customer' order by ordinal_position";
    assert_eq!(
        rows(&mut client, columns),
        [
            "id|integer|NO|NULL|0",
            "name|character varying|NO|10|NULL",
            "price|numeric|YES|NULL|2"
        ]
    );
    let keys = "select constraint_name, column_name from information_schema.key_column_usage \
                where table_name = 'orders' order by 1";
    assert_eq!(
        rows(&mut client, keys),
        ["orders_customer_fkey|customer", "orders_pkey|id"]
    );
}

#[test]
fn functions_say_who_and_where() {
    let (_server, mut client) = shop();
    assert_eq!(
        rows(
            &mut client,
            "select current_user, current_schema, current_database(), current_schemas(true)"
        ),
        ["ada|public|ada|{pg_catalog,public}"]
    );
    let version = rows(
        &mut client,
        "select version(), current_setting('server_version')",
    );
    assert!(
        version[0].starts_with("PostgreSQL 15.0 (Quire "),
        "{version:?}"
    );
    assert_eq!(
        rows(
            &mut client,
            "select 'customer'::regclass, 23::regtype, to_regclass('nothing')"
        ),
        ["customer|integer|NULL"]
    );
    assert_eq!(
        rows(
            &mut client,
            "select set_config('application_name', 'x', false), current_setting('jit')"
        ),
        ["x|off"]
    );
    let mut state_of = |sql: &str| {
        client
            .query(sql)
            .into_iter()
            .find(|one| one.starts_with("error"))
    };
    assert_eq!(
        state_of("select 'nothing'::regclass").unwrap(),
        "error 42P01"
    );
    assert_eq!(
        state_of("select 'nothing'::regtype").unwrap(),
        "error 42704"
    );
}

#[test]
fn sizes_are_those_of_the_stored_pages() {
    let (_server, mut client) = shop();
    client.query(
        "insert into customer (name, price) select 'n' || i, i from generate_series(1, 5000) g(i)",
    );
    client.query("insert into facts select i, 'same' from generate_series(1, 5000) g(i)");
    client.query("checkpoint");
    let stored = |client: &mut Client, which: &str| {
        let sql = format!("select sum(encoded_bytes) from quire_storage('customer') where {which}");
        rows(client, &sql).remove(0)
    };
    let trees = "tree in ('rows', 'overflow')";
    let (table, indexes) = (
        stored(&mut client, trees),
        stored(&mut client, &format!("not {trees}")),
    );
    let sizes = "select pg_table_size('customer'), pg_indexes_size('customer'), \
                 pg_total_relation_size('customer') = pg_table_size('customer') + pg_indexes_size('customer'), \
                 pg_relation_size('customer_price') > 0, pg_relation_size('customer_pkey'), \
                 pg_table_size('facts') > 0, pg_relation_size('named'), pg_relation_size(1) is null";
    assert_eq!(
        rows(&mut client, sizes),
        [format!("{table}|{indexes}|t|t|0|t|0|t")]
    );
    let whole = "select pg_database_size(current_database()) = \
                 (select value from quire_file() where name = 'file_bytes')";
    assert_eq!(rows(&mut client, whole), ["t"]);
    let failed = client.query("select pg_table_size('nothing')");
    assert!(failed.contains(&"error 42P01".to_owned()), "{failed:?}");
}

#[test]
fn tables_of_the_catalog_have_numbers_as_hidden_columns() {
    let (_server, mut client) = shop();
    let sql = "select l.tableoid, (select count(*) from pg_class l where l.oid = pg_type.tableoid), \
               (select max(l.tableoid) from pg_namespace l) from pg_catalog.pg_language l, pg_type \
               where l.tableoid = 'pg_language'::regclass and typname = 'int4'";
    assert_eq!(rows(&mut client, sql), ["2612|1|2615"]);
}
