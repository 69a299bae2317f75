//! Random rows and random expressions.

use quire_tables::row_table::Value;

/// SplitMix64 (Steele, Lea and Flood 2014).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

/// A row of the test's table.
pub(super) fn row(random: &mut Random, id: i64) -> Vec<Value> {
    let mut row = vec![Value::Integer(id)];
    let small = random.between(-3, 8);
    let big = match random.below(8) {
        0 => i64::MAX,
        1 => i64::MIN,
        _ => random.between(-50, 50),
    };
    row.push(Value::Integer(small));
    row.push(Value::Integer(big));
    row.push(Value::Decimal(
        i128::from(random.between(-999, 999) * 25).into(),
    ));
    row.push(Value::Double(random.between(-40, 40) as f64 / 8.0));
    row.push(Value::Real(random.between(-40, 40) as f32 / 4.0));
    row.push(Value::Text(text(random).into()));
    row.push(Value::Text(text(random).into()));
    row.push(Value::Integer(random.between(19_000, 19_020)));
    row.push(Value::Integer(
        random.between(1_600_000_000, 1_600_000_100) * 1_000_000,
    ));
    row.push(Value::Boolean(random.below(2) == 0));
    for value in row.iter_mut().skip(1) {
        if random.below(7) == 0 {
            *value = Value::Null;
        }
    }
    row
}

fn text(random: &mut Random) -> String {
    let alphabet = ["a", "b", "ab", "%", "_", "é", "7", "\\", "."];
    (0..random.below(4))
        .map(|_| random.one_of(&alphabet))
        .collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A value as SQL writes it for a column of the test's table.
pub(super) fn written(value: &Value, column: usize) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Boolean(value) => value.to_string(),
        Value::Integer(days) if column == 8 => format!("DATE '1970-01-01' + {days}"),
        Value::Integer(micros) if column == 9 => {
            format!("to_timestamp({})", micros / 1_000_000)
        }
        Value::Integer(i64::MIN) => "(-9223372036854775807 - 1)".to_owned(),
        Value::Integer(value) => value.to_string(),
        Value::Decimal(value) => {
            let value = i128::from(*value);
            format!("CAST({value} AS DECIMAL(20,0)) / 100")
        }
        Value::Real(value) => format!("CAST('{value}' AS REAL)"),
        Value::Double(value) => format!("CAST('{value}' AS DOUBLE PRECISION)"),
        Value::Text(text) => quoted(text),
        Value::Bytes(_) => "NULL".to_owned(),
    }
}

/// A numeric expression.
pub(super) fn number(random: &mut Random, depth: u32) -> String {
    if depth == 0 {
        return match random.below(10) {
            0 => "id".to_owned(),
            1 => "s".to_owned(),
            2 => "b".to_owned(),
            3 => "d".to_owned(),
            4 => "f".to_owned(),
            5 => "r".to_owned(),
            6 => random.between(-5, 60).to_string(),
            7 => format!("{}.{}", random.between(0, 20), random.below(100)),
            8 => format!("{}e{}", random.between(1, 9), random.between(-2, 2)),
            _ => random
                .one_of(&["0", "1", "NULL", "2147483647", "32767"])
                .to_owned(),
        };
    }
    let left = number(random, depth - 1);
    match random.below(11) {
        0..=4 => {
            let operator = random.one_of(&["+", "-", "*", "/", "%"]);
            format!("({left} {operator} {})", number(random, depth - 1))
        }
        5 => format!("(- {left})"),
        6 => format!("coalesce({left}, {})", number(random, depth - 1)),
        7 => format!(
            "CASE WHEN {} THEN {left} ELSE {} END",
            condition(random, depth - 1),
            number(random, depth - 1)
        ),
        8 => {
            let name = random.one_of(&[
                "INTEGER",
                "BIGINT",
                "SMALLINT",
                "DOUBLE PRECISION",
                "REAL",
                "DECIMAL(20,3)",
                "DECIMAL(6,1)",
            ]);
            format!("CAST({left} AS {name})")
        }
        9 => format!("abs({left})"),
        _ => format!("length({})", string(random, depth - 1)),
    }
}

/// A text expression.
pub(super) fn string(random: &mut Random, depth: u32) -> String {
    if depth == 0 {
        return match random.below(4) {
            0 => "t".to_owned(),
            1 => "v".to_owned(),
            _ => quoted(&text(random)),
        };
    }
    let left = string(random, depth - 1);
    match random.below(6) {
        0 => format!("({left} || {})", string(random, depth - 1)),
        1 => format!("upper({left})"),
        2 => format!(
            "CAST({} AS TEXT)",
            random.one_of(&["id", "s", "b", "d", "day", "at", "ok"])
        ),
        3 => format!("coalesce({left}, {})", string(random, depth - 1)),
        4 => format!("CAST({left} AS VARCHAR({}))", random.between(1, 3)),
        _ => format!(
            "CASE {} WHEN {} THEN {left} END",
            string(random, 0),
            string(random, 0)
        ),
    }
}

/// A condition.
pub(super) fn condition(random: &mut Random, depth: u32) -> String {
    let comparison = random.one_of(&["=", "<>", "<", "<=", ">", ">="]);
    let below = depth.saturating_sub(1);
    if depth > 0 {
        match random.below(5) {
            0 => {
                let operator = random.one_of(&["AND", "OR"]);
                let (left, right) = (condition(random, below), condition(random, below));
                return format!("({left} {operator} {right})");
            }
            1 => return format!("(NOT {})", condition(random, below)),
            _ => {}
        }
    }
    match random.below(10) {
        0 | 1 => format!(
            "{} {comparison} {}",
            number(random, below),
            number(random, below)
        ),
        2 => format!(
            "{} {comparison} {}",
            string(random, below),
            string(random, below)
        ),
        3 => format!(
            "{} {} {} AND {}",
            number(random, below),
            random.one_of(&["BETWEEN", "NOT BETWEEN"]),
            number(random, 0),
            number(random, 0)
        ),
        4 => format!(
            "{} {} ({}, {}, {})",
            random.one_of(&["id", "s", "b", "d"]),
            random.one_of(&["IN", "NOT IN"]),
            random.between(-3, 20),
            random.between(-3, 20),
            random.one_of(&["NULL", "5", "7.50"])
        ),
        5 => {
            let negation = random.one_of(&["LIKE", "NOT LIKE"]);
            format!(
                "{} {negation} {}",
                string(random, below),
                quoted(&pattern(random))
            )
        }
        6 => format!(
            "{} IS {}",
            number(random, below),
            random.one_of(&["NULL", "NOT NULL"])
        ),
        7 => format!(
            "day {comparison} DATE '2022-01-{:02}'",
            random.between(7, 27)
        ),
        8 => format!(
            "at {comparison} TIMESTAMP '2020-09-13 12:2{}:00'",
            random.between(6, 8)
        ),
        _ => random
            .one_of(&["ok", "ok IS TRUE", "ok IS NOT FALSE", "ok IS UNKNOWN"])
            .to_owned(),
    }
}

fn pattern(random: &mut Random) -> String {
    let parts = ["a", "b", "%", "%", "_", "é", "7", "\\%", "\\\\", "."];
    (0..random.below(5))
        .map(|_| random.one_of(&parts))
        .collect()
}

/// A condition that a key of the test's table answers.
pub(super) fn key_condition(random: &mut Random) -> String {
    let mut number = || random.between(-2, 45);
    let (low, high) = (number(), number());
    match random.below(14) {
        0 | 1 => format!("id = {low}"),
        2 => format!("id BETWEEN {low} AND {high}"),
        3 => format!("id > {low} AND {high} >= id"),
        4 => format!("id IN ({low}, {high}, 3, 3, 99999999999)"),
        5 => format!("s = {}", low % 8),
        6 => format!("s = {} AND b > {high}", low % 8),
        7 => format!("s = {} AND b BETWEEN -20 AND {high}", low % 8),
        8 => format!("s IN ({}, {})", low % 8, high % 8),
        9 => format!("t = {}", quoted(&text(random))),
        10 => format!("t > {} AND t <= 'é'", quoted(&text(random))),
        11 => format!(
            "d = {}",
            random.one_of(&["2.50", "0", "-2.25", "1.125", "'2.5'"])
        ),
        12 => format!("d >= {low} AND d < {high}.5"),
        _ => format!("s > -5 AND s < {} AND id <> {low}", high % 40_000),
    }
}
