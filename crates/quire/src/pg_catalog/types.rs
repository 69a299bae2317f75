//! `pg_type`: the types that columns and values have, and how clients spell them.

use quire_tables::SqlType;

/// A type that is no array.
pub(super) struct TypeEntry {
    pub(super) oid: u32,
    pub(super) name: &'static str,
    /// As `format_type` says it.
    pub(super) spelling: &'static str,
    /// Bytes of a value; -1 where they differ.
    pub(super) size_bytes: i16,
    pub(super) category: char,
    /// The number of the type of its arrays; 0 for none.
    pub(super) array_oid: u32,
    /// `b` for a type of values, `p` for a pseudo-type.
    pub(super) kind: char,
}

const fn base(
    oid: u32,
    name: &'static str,
    spelling: &'static str,
    size_bytes: i16,
    category: char,
    array_oid: u32,
) -> TypeEntry {
    TypeEntry {
        oid,
        name,
        spelling,
        size_bytes,
        category,
        array_oid,
        kind: 'b',
    }
}

const fn pseudo(oid: u32, name: &'static str, size_bytes: i16) -> TypeEntry {
    TypeEntry {
        oid,
        name,
        spelling: name,
        size_bytes,
        category: 'P',
        array_oid: 0,
        kind: 'p',
    }
}

/// Numbers, sizes and categories as in PostgreSQL's `pg_type.dat`.
pub(super) const TYPES: [TypeEntry; 32] = [
    base(16, "bool", "boolean", 1, 'B', 1000),
    base(17, "bytea", "bytea", -1, 'U', 1001),
    base(18, "char", "\"char\"", 1, 'Z', 1002),
    base(19, "name", "name", 64, 'S', 1003),
    base(20, "int8", "bigint", 8, 'N', 1016),
    base(21, "int2", "smallint", 2, 'N', 1005),
    base(22, "int2vector", "int2vector", -1, 'A', 0),
    base(23, "int4", "integer", 4, 'N', 1007),
    base(24, "regproc", "regproc", 4, 'N', 1008),
    base(25, "text", "text", -1, 'S', 1009),
    base(26, "oid", "oid", 4, 'N', 1028),
    base(30, "oidvector", "oidvector", -1, 'A', 0),
    base(114, "json", "json", -1, 'U', 199),
    base(194, "pg_node_tree", "pg_node_tree", -1, 'Z', 0),
    base(700, "float4", "real", 4, 'N', 1021),
    base(701, "float8", "double precision", 8, 'N', 1022),
    pseudo(705, "unknown", -2),
    base(1042, "bpchar", "character", -1, 'S', 1014),
    base(1043, "varchar", "character varying", -1, 'S', 1015),
    base(1082, "date", "date", 4, 'D', 1182),
    base(1083, "time", "time without time zone", 8, 'D', 1183),
    base(
        1114,
        "timestamp",
        "timestamp without time zone",
        8,
        'D',
        1115,
    ),
    base(
        1184,
        "timestamptz",
        "timestamp with time zone",
        8,
        'D',
        1185,
    ),
    base(1186, "interval", "interval", 16, 'T', 1187),
    base(1700, "numeric", "numeric", -1, 'N', 1231),
    base(2205, "regclass", "regclass", 4, 'N', 2210),
    base(2206, "regtype", "regtype", 4, 'N', 2211),
    pseudo(2249, "record", -1),
    pseudo(2276, "any", 4),
    pseudo(2277, "anyarray", -1),
    pseudo(2278, "void", 4),
    base(2950, "uuid", "uuid", 16, 'U', 2951),
];

/// The collation of text: the order of bytes.
pub(super) const DEFAULT_COLLATION: u32 = 100;

impl TypeEntry {
    /// Its collation; 0 where it has none.
    pub(super) fn collation(&self) -> u32 {
        match self.category {
            'S' => DEFAULT_COLLATION,
            _ => 0,
        }
    }
}

pub(super) fn by_oid(oid: u32) -> Option<&'static TypeEntry> {
    TYPES.iter().find(|entry| entry.oid == oid)
}

/// The number and the modifier of the type of a column.
pub(super) fn of_sql_type(sql_type: SqlType) -> (u32, i32) {
    let modified = |length: u32| i32::try_from(length).map_or(-1, |length| length + 4);
    match sql_type {
        SqlType::Boolean => (16, -1),
        SqlType::SmallInt => (21, -1),
        SqlType::Integer => (23, -1),
        SqlType::BigInt => (20, -1),
        SqlType::Real => (700, -1),
        SqlType::Double => (701, -1),
        SqlType::Decimal { precision, scale } => {
            let modifier = (i32::from(precision) << 16) | i32::from(scale);
            (1700, modifier + 4)
        }
        SqlType::Date => (1082, -1),
        SqlType::Timestamp => (1114, -1),
        SqlType::TimestampTz => (1184, -1),
        SqlType::Text => (25, -1),
        SqlType::VarChar(length) => (1043, modified(length)),
        SqlType::Char(length) => (1042, modified(length)),
        SqlType::Bytea => (17, -1),
    }
}

/// `character varying(10)`, as `format_type` says it; `???` for no type.
pub(super) fn format_type(oid: u32, modifier: i32) -> String {
    if let Some(element) = TYPES
        .iter()
        .find(|entry| entry.array_oid == oid && oid != 0)
    {
        return format_type(element.oid, modifier) + "[]";
    }
    let Some(entry) = by_oid(oid) else {
        return if oid == 0 { "-" } else { "???" }.to_owned();
    };
    match (entry.oid, modifier) {
        (1042 | 1043, 4..) => format!("{}({})", entry.spelling, modifier - 4),
        (1700, 4..) => {
            let digits = modifier - 4;
            format!("numeric({},{})", digits >> 16, digits & 0xFFFF)
        }
        _ => entry.spelling.to_owned(),
    }
}

/// The number of the type that is spelled so.
pub(super) fn oid_of_spelling(spelled: &str) -> Option<u32> {
    let spelled = spelled.trim().to_lowercase();
    let spelled = spelled.strip_prefix("pg_catalog.").unwrap_or(&spelled);
    if let Some(element) = spelled.strip_suffix("[]") {
        let oid = oid_of_spelling(element)?;
        return by_oid(oid).map(|entry| entry.array_oid);
    }
    let spelled = spelled.split('(').next().unwrap_or(spelled).trim_end();
    let spelled = match spelled {
        "int" => "integer",
        "decimal" => "numeric",
        "float" => "double precision",
        "bool" => "boolean",
        "timestamp" => "timestamp without time zone",
        "time" => "time without time zone",
        other => other,
    };
    let found = TYPES
        .iter()
        .find(|entry| entry.spelling == spelled || entry.name == spelled);
    if let Some(element) = spelled.strip_prefix('_') {
        let element = TYPES.iter().find(|entry| entry.name == element);
        return element.map(|entry| entry.array_oid).filter(|oid| *oid != 0);
    }
    found.map(|entry| entry.oid)
}

#[cfg(test)]
mod tests {
    use super::*;

    // From PostgreSQL 15.
    #[test]
    fn types_are_spelled_as_postgresql_does() {
        assert_eq!(format_type(23, -1), "integer");
        assert_eq!(format_type(1043, 14), "character varying(10)");
        assert_eq!(format_type(1700, 655_366), "numeric(10,2)");
        assert_eq!(format_type(1007, -1), "integer[]");
        assert_eq!(format_type(0, -1), "-");
        let char_of_five = of_sql_type(SqlType::Char(5));
        assert_eq!(format_type(char_of_five.0, char_of_five.1), "character(5)");
    }

    #[test]
    fn spellings_have_numbers() {
        for (spelled, oid) in [
            ("int4", Some(23)),
            ("pg_catalog.int8", Some(20)),
            ("Character Varying(3)", Some(1043)),
            ("text[]", Some(1009)),
            ("_int2", Some(1005)),
            ("hstore", None),
        ] {
            assert_eq!(oid_of_spelling(spelled), oid, "{spelled}");
        }
    }
}
