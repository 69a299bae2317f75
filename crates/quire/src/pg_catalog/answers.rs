//! What each function of the catalog says.

use datafusion::common::{Result, ScalarValue};
use quire_error::Error;
use quire_sql::names::quoted;

use super::arguments::{ends, integer, oid, string};
use super::objects::{CatalogRelation, Objects, PUBLIC, RelationOrigin};
use super::role_entry::OWNER;
use super::rows::{flag, list, number, optional, text};
use super::specification::CatalogColumnKind as Kind;
use super::{PG_CATALOG, PgCatalog, backends, relations, sizes, surroundings, types};
use crate::settings::{DatabaseSettings, SERVER_VERSION};

/// A function: what it is called, gives and does.
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) returns: Kind,
    pub(super) answer: Answer,
}

/// What a function gives for one row.
pub(super) type Answer = fn(&PgCatalog, &[ScalarValue]) -> Result<ScalarValue>;

const fn function(name: &'static str, returns: Kind, answer: Answer) -> Function {
    Function {
        name,
        returns,
        answer,
    }
}

const NONE: Answer = |_, _| Ok(ScalarValue::Null);
const YES: Answer = |_, _| Ok(flag(true));
const NO: Answer = |_, _| Ok(flag(false));
const USER: Answer = |catalog, _| Ok(text(&catalog.user));
const DATABASE: Answer = |catalog, _| Ok(text(&catalog.database));
const FILE_BYTES: Answer = |catalog, _| {
    let bytes = i64::try_from(catalog.file_bytes);
    Ok(number(bytes.unwrap_or(i64::MAX)))
};
const FIRST: Answer = |_, args| Ok(args.first().cloned().unwrap_or(ScalarValue::Null));

/// All functions, by name.
pub(super) const FUNCTIONS: [Function; 103] = [
    function("array_lower", Kind::Integer, |_, args| {
        Ok(ends(args).map_or(ScalarValue::Null, |_| number(1)))
    }),
    function("array_upper", Kind::Integer, |_, args| {
        Ok(ends(args).map_or(ScalarValue::Null, number))
    }),
    function("col_description", Kind::Text, NONE),
    function("current_catalog", Kind::Text, DATABASE),
    function("current_database", Kind::Text, DATABASE),
    function("current_role", Kind::Text, USER),
    function("current_schema", Kind::Text, |_, _| Ok(text(PUBLIC))),
    function("current_schemas", Kind::Texts, schemas),
    function("current_setting", Kind::Text, setting),
    function("current_user", Kind::Text, USER),
    function("format_type", Kind::Text, |_, args| {
        let modifier = integer(args, 1).and_then(|value| i32::try_from(value).ok());
        Ok(oid(args, 0).map_or(ScalarValue::Null, |oid| {
            text(types::format_type(oid, modifier.unwrap_or(-1)))
        }))
    }),
    function("generate_subscripts", Kind::SmallInts, |_, args| {
        Ok(ends(args).map_or(ScalarValue::Null, |count| list(1..=count)))
    }),
    function("getdatabaseencoding", Kind::Text, |_, _| Ok(text("UTF8"))),
    function("has_any_column_privilege", Kind::Boolean, YES),
    function("has_column_privilege", Kind::Boolean, YES),
    function("has_database_privilege", Kind::Boolean, YES),
    function("has_foreign_data_wrapper_privilege", Kind::Boolean, YES),
    function("has_function_privilege", Kind::Boolean, YES),
    function("has_language_privilege", Kind::Boolean, YES),
    function("has_schema_privilege", Kind::Boolean, YES),
    function("has_sequence_privilege", Kind::Boolean, YES),
    function("has_server_privilege", Kind::Boolean, YES),
    function("has_table_privilege", Kind::Boolean, YES),
    function("has_tablespace_privilege", Kind::Boolean, YES),
    function("has_type_privilege", Kind::Boolean, YES),
    function("inet_client_addr", Kind::Text, NONE),
    function("inet_client_port", Kind::Integer, NONE),
    function("inet_server_addr", Kind::Text, NONE),
    function("inet_server_port", Kind::Integer, NONE),
    function("json_build_object", Kind::Text, json_object),
    function("obj_description", Kind::Text, NONE),
    function("pg_advisory_unlock_all", Kind::Text, NONE),
    function("pg_backend_pid", Kind::Integer, backends::own_number),
    function("pg_blocking_pids", Kind::Integers, backends::blocking),
    function("pg_cancel_backend", Kind::Boolean, backends::cancel),
    function("pg_char_to_encoding", Kind::Integer, |_, args| {
        let is_utf8 = string(args, 0).is_some_and(|name| name.eq_ignore_ascii_case("utf8"));
        Ok(number(if is_utf8 { surroundings::UTF8 } else { -1 }))
    }),
    function("pg_client_encoding", Kind::Text, |_, _| Ok(text("UTF8"))),
    function("pg_collation_is_visible", Kind::Boolean, YES),
    function("pg_conversion_is_visible", Kind::Boolean, YES),
    function("pg_database_size", Kind::BigInt, FILE_BYTES),
    function("pg_encoding_max_length", Kind::Integer, |_, _| {
        Ok(number(4))
    }),
    function("pg_encoding_to_char", Kind::Text, |_, args| {
        let is_utf8 = integer(args, 0) == Some(surroundings::UTF8.into());
        Ok(text(if is_utf8 { "UTF8" } else { "" }))
    }),
    function("pg_function_is_visible", Kind::Boolean, YES),
    function("pg_get_constraintdef", Kind::Text, |catalog, args| {
        let constraint = oid(args, 0).and_then(|oid| catalog.objects.constraints.get(&oid));
        Ok(optional(constraint.map(|found| found.definition.clone())))
    }),
    function("pg_get_expr", Kind::Text, FIRST),
    function("pg_get_function_arguments", Kind::Text, NONE),
    function("pg_get_function_identity_arguments", Kind::Text, NONE),
    function("pg_get_function_result", Kind::Text, NONE),
    function("pg_get_functiondef", Kind::Text, NONE),
    function("pg_get_indexdef", Kind::Text, index_definition),
    function("pg_get_partition_constraintdef", Kind::Text, NONE),
    function("pg_get_partkeydef", Kind::Text, NONE),
    function("pg_get_ruledef", Kind::Text, NONE),
    function("pg_get_serial_sequence", Kind::Text, serial_sequence),
    function("pg_get_statisticsobjdef_columns", Kind::Text, NONE),
    function("pg_get_triggerdef", Kind::Text, NONE),
    function("pg_get_userbyid", Kind::Text, |catalog, args| {
        Ok(text(match oid(args, 0) {
            Some(OWNER) => catalog.user.clone(),
            other => {
                let other = other.unwrap_or_default();
                let role = catalog.roles.iter().find(|role| role.oid == other);
                role.map_or_else(
                    || format!("unknown (OID={other})"),
                    |role| role.name.clone(),
                )
            }
        }))
    }),
    function("pg_get_viewdef", Kind::Text, |catalog, args| {
        let relation = relation(catalog, args)?;
        Ok(optional(relation.and_then(|found| match &found.source {
            RelationOrigin::View(view) => Some(format!(" {};", view.query)),
            _ => None,
        })))
    }),
    function("pg_indexes_size", Kind::BigInt, |catalog, args| {
        size(catalog, args, sizes::of_indexes)
    }),
    function("pg_is_in_recovery", Kind::Boolean, NO),
    function("pg_is_other_temp_schema", Kind::Boolean, NO),
    function("pg_jit_available", Kind::Boolean, NO),
    function("pg_my_temp_schema", Kind::Oid, |_, _| Ok(number(0))),
    function("pg_opclass_is_visible", Kind::Boolean, YES),
    function("pg_operator_is_visible", Kind::Boolean, YES),
    function("pg_opfamily_is_visible", Kind::Boolean, YES),
    function("pg_partition_ancestors", Kind::Oids, |_, _| Ok(list([]))),
    function("pg_relation_is_publishable", Kind::Boolean, NO),
    function("pg_relation_size", Kind::BigInt, |catalog, args| {
        size(catalog, args, sizes::of_relation)
    }),
    function("pg_size_pretty", Kind::Text, |_, args| {
        Ok(integer(args, 0).map_or(ScalarValue::Null, |bytes| text(pretty(bytes))))
    }),
    function("pg_stat_get_numscans", Kind::BigInt, NONE),
    function("pg_statistics_obj_is_visible", Kind::Boolean, YES),
    function("pg_table_is_visible", Kind::Boolean, |catalog, args| {
        let relation = relation(catalog, args)?;
        Ok(relation.map_or(ScalarValue::Null, |found| {
            flag(found.schema == PUBLIC || found.schema == PG_CATALOG)
        }))
    }),
    function("pg_table_size", Kind::BigInt, |catalog, args| {
        size(catalog, args, sizes::of_relation)
    }),
    function("pg_tablespace_databases", Kind::Oids, |_, _| {
        Ok(list([surroundings::DATABASE.into()]))
    }),
    function("pg_tablespace_location", Kind::Text, |_, _| Ok(text(""))),
    function("pg_tablespace_size", Kind::BigInt, FILE_BYTES),
    function("pg_terminate_backend", Kind::Boolean, backends::terminate),
    function("pg_total_relation_size", Kind::BigInt, |catalog, args| {
        size(catalog, args, sizes::of_all)
    }),
    function("pg_ts_config_is_visible", Kind::Boolean, YES),
    function("pg_ts_dict_is_visible", Kind::Boolean, YES),
    function("pg_ts_parser_is_visible", Kind::Boolean, YES),
    function("pg_ts_template_is_visible", Kind::Boolean, YES),
    function("pg_type_is_visible", Kind::Boolean, YES),
    function("quote_ident", Kind::Text, |_, args| {
        Ok(optional(string(args, 0).map(|name| quoted(&name))))
    }),
    function("quote_literal", Kind::Text, |_, args| {
        Ok(optional(
            string(args, 0).map(|value| quoted_literal(&value)),
        ))
    }),
    function("regclass", Kind::Oid, |catalog, args| {
        let found = relation(catalog, args)?.map(|relation| relation.oid);
        Ok(found.or(oid(args, 0)).map_or(ScalarValue::Null, number))
    }),
    function("regclass_name", Kind::Text, |catalog, args| {
        let found = relation(catalog, args)?.map(shown_name);
        let number = || oid(args, 0).map(|oid| oid.to_string());
        Ok(optional(found.or_else(number)))
    }),
    function("regnamespace", Kind::Oid, |_, args| {
        let of_name = |name: String| number(relations::namespace(&name));
        let oid = oid(args, 0).map(number);
        Ok(oid
            .or_else(|| string(args, 0).map(of_name))
            .unwrap_or(ScalarValue::Null))
    }),
    function("regnamespace_name", Kind::Text, |_, args| {
        Ok(match oid(args, 0) {
            Some(surroundings::PG_CATALOG_OID) => text(PG_CATALOG),
            Some(surroundings::PUBLIC_OID) => text(PUBLIC),
            Some(surroundings::STANDARD_OID) => text(super::INFORMATION_SCHEMA),
            Some(other) => text(other.to_string()),
            None => optional(string(args, 0)),
        })
    }),
    function("regproc", Kind::Oid, |_, args| {
        Ok(oid(args, 0).map_or(number(0), number))
    }),
    function("regproc_name", Kind::Text, |_, args| {
        Ok(match oid(args, 0) {
            Some(0) => text("-"),
            _ => optional(string(args, 0)),
        })
    }),
    function("regrole", Kind::Oid, |_, _| Ok(number(OWNER))),
    function("regrole_name", Kind::Text, USER),
    function("regtype", Kind::Oid, |_, args| {
        Ok(type_oid(args)?.map_or(ScalarValue::Null, number))
    }),
    function("regtype_name", Kind::Text, |_, args| {
        let name = |oid| text(types::format_type(oid, -1));
        Ok(type_oid(args)?.map_or(ScalarValue::Null, name))
    }),
    function("session_user", Kind::Text, USER),
    function("set_config", Kind::Text, set_setting),
    function("shobj_description", Kind::Text, NONE),
    function("to_regclass", Kind::Oid, |catalog, args| {
        let name = string(args, 0).unwrap_or_default();
        Ok(by_name(&catalog.objects, &name).map_or(ScalarValue::Null, |r| number(r.oid)))
    }),
    function("to_regtype", Kind::Oid, |_, args| {
        let found = string(args, 0).and_then(|name| types::oid_of_spelling(&name));
        Ok(found.map_or(ScalarValue::Null, number))
    }),
    function("user", Kind::Text, USER),
    function("version", Kind::Text, |_, _| {
        Ok(text(format!("PostgreSQL {SERVER_VERSION}")))
    }),
];

fn schemas(_: &PgCatalog, args: &[ScalarValue]) -> Result<ScalarValue> {
    let with_catalog = matches!(args.first(), Some(ScalarValue::Boolean(Some(true))));
    let names = [PG_CATALOG, PUBLIC].into_iter();
    let names: Vec<_> = names
        .skip(usize::from(!with_catalog))
        .map(ScalarValue::from)
        .collect();
    let data_type = arrow::datatypes::DataType::Utf8;
    Ok(ScalarValue::List(ScalarValue::new_list_nullable(
        &names, &data_type,
    )))
}

fn setting(catalog: &PgCatalog, args: &[ScalarValue]) -> Result<ScalarValue> {
    let Some(name) = string(args, 0) else {
        return Ok(ScalarValue::Null);
    };
    match catalog.settings().show(&name) {
        Ok(value) => Ok(text(value)),
        Err(_) if args.get(1) == Some(&ScalarValue::Boolean(Some(true))) => Ok(ScalarValue::Null),
        Err(error) => Err(error.into()),
    }
}

fn set_setting(catalog: &PgCatalog, args: &[ScalarValue]) -> Result<ScalarValue> {
    let (Some(name), Some(value)) = (string(args, 0), string(args, 1)) else {
        return Ok(ScalarValue::Null);
    };
    if DatabaseSettings::has(&name.to_lowercase()) && !catalog.is_superuser() {
        let message = format!("permission denied to set parameter \"{name}\"");
        return Err(Error::new("42501", message).into());
    }
    catalog.settings().set(&name, &value)?;
    Ok(text(value))
}

/// The relation that the first argument names, by number or by name.
fn relation<'c>(
    catalog: &'c PgCatalog,
    args: &[ScalarValue],
) -> Result<Option<&'c CatalogRelation>> {
    if let Some(oid) = oid(args, 0) {
        return Ok(catalog.objects.relations.get(&oid));
    }
    let Some(name) = string(args, 0) else {
        return Ok(None);
    };
    let missing = || Error::new("42P01", format!("relation \"{name}\" does not exist"));
    Ok(Some(by_name(&catalog.objects, &name).ok_or_else(missing)?))
}

/// What a relation takes in the file; nothing for a number that none has.
fn size(
    catalog: &PgCatalog,
    args: &[ScalarValue],
    of: fn(&PgCatalog, &CatalogRelation) -> Result<ScalarValue>,
) -> Result<ScalarValue> {
    relation(catalog, args)?.map_or(Ok(ScalarValue::Null), |found| of(catalog, found))
}

fn by_name<'o>(objects: &'o Objects, name: &str) -> Option<&'o CatalogRelation> {
    let parts = parts_of(name);
    match parts.as_slice() {
        [name] => objects.relation(None, name),
        [.., schema, name] => objects.relation(Some(schema), name),
        [] => None,
    }
}

/// The parts of a name as it is written in SQL.
fn parts_of(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_quoted = false;
    for letter in name.trim().chars() {
        let Some(part) = parts.last_mut() else { break };
        match letter {
            '"' => is_quoted = !is_quoted,
            '.' if !is_quoted => parts.push(String::new()),
            _ if is_quoted => part.push(letter),
            _ => part.extend(letter.to_lowercase()),
        }
    }
    parts
}

/// A relation as `regclass` shows it.
fn shown_name(relation: &CatalogRelation) -> String {
    match relation.schema {
        PUBLIC | PG_CATALOG => quoted(&relation.name),
        schema => format!("{schema}.{}", quoted(&relation.name)),
    }
}

fn type_oid(args: &[ScalarValue]) -> Result<Option<u32>> {
    let Some(name) = string(args, 0) else {
        return Ok(None);
    };
    let found = oid(args, 0).or_else(|| types::oid_of_spelling(&name));
    let missing = || Error::new("42704", format!("type \"{name}\" does not exist"));
    Ok(Some(found.ok_or_else(missing)?))
}

/// The statement that makes an index, or with a second argument the name of one of its columns.
fn index_definition(catalog: &PgCatalog, args: &[ScalarValue]) -> Result<ScalarValue> {
    let Some(relation) = relation(catalog, args)? else {
        return Ok(ScalarValue::Null);
    };
    let RelationOrigin::Index(index) = &relation.source else {
        return Ok(ScalarValue::Null);
    };
    Ok(match integer(args, 1) {
        None | Some(0) => text(&index.definition),
        Some(position) => {
            let mut columns = relation.columns.iter();
            let column = columns.find(|column| i64::from(column.number) == position);
            optional(column.map(|column| quoted(&column.name)))
        }
    })
}

/// The sequence of a serial or identity column.
fn serial_sequence(catalog: &PgCatalog, args: &[ScalarValue]) -> Result<ScalarValue> {
    let (Some(table), Some(column)) = (relation(catalog, args)?, string(args, 1)) else {
        return Ok(ScalarValue::Null);
    };
    let RelationOrigin::Table(definition) = &table.source else {
        return Ok(ScalarValue::Null);
    };
    let column = definition.columns.iter().find(|known| known.name == column);
    let Some(wanted) = column.and_then(|column| column.sequence) else {
        return Ok(ScalarValue::Null);
    };
    let mut relations = catalog.objects.relations.values();
    let found = relations.find(|relation| match &relation.source {
        RelationOrigin::Sequence(sequence) => sequence.id == wanted.id,
        _ => false,
    });
    let name = found.map(|sequence| format!("{PUBLIC}.{}", quoted(&sequence.name)));
    Ok(optional(name))
}

fn json_object(_: &PgCatalog, args: &[ScalarValue]) -> Result<ScalarValue> {
    let quote = |value: &str| {
        let escaped = value.chars().flat_map(|letter| match letter {
            '"' | '\\' => vec!['\\', letter],
            letter if (letter as u32) < 0x20 => {
                format!("\\u{:04x}", letter as u32).chars().collect()
            }
            letter => vec![letter],
        });
        format!("\"{}\"", escaped.collect::<String>())
    };
    let parts = args.chunks(2).map(|pair| {
        let key = quote(&string(pair, 0).unwrap_or_default());
        let value = match pair.get(1) {
            Some(value) if value.is_null() => "null".to_owned(),
            Some(ScalarValue::Boolean(Some(value))) => value.to_string(),
            Some(value) if value.data_type().is_numeric() => value.to_string(),
            _ => quote(&string(pair, 1).unwrap_or_default()),
        };
        format!("{key} : {value}")
    });
    let parts: Vec<_> = parts.collect();
    Ok(text(format!("{{{}}}", parts.join(", "))))
}

/// `12 kB`, as PostgreSQL rounds it.
fn pretty(bytes: i64) -> String {
    let (mut size, mut unit) = (i128::from(bytes), "bytes");
    for next in ["kB", "MB", "GB", "TB", "PB"] {
        if size.abs() < 10 * 1024 {
            break;
        }
        size = (size + 512) / 1024;
        unit = next;
    }
    format!("{size} {unit}")
}

/// A text as a literal.
fn quoted_literal(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    if text.contains('\\') {
        format!("E'{}'", doubled.replace('\\', "\\\\"))
    } else {
        format!("'{doubled}'")
    }
}
