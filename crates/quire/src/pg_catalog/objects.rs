//! What a snapshot has, as PostgreSQL's catalog counts it: relations, indexes and constraints, each with a number.
//!
//! Numbers stay the same as long as the object is there. Tables, views, sequences and indexes share one range of ids in our
//! catalog; a primary key has the id of its table, in a range of its own. Checks and foreign keys have no ids: theirs come from their
//! table and name.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use quire_error::Error;
use quire_sql::names::quoted;
use quire_tables::{
    ColumnDefinition, ForeignKeyDefinition, GeneratedKind, KeyDefinition, ReferentialAction,
    SequenceDefinition, Snapshot, TableDefinition, TableStorage, ViewDefinition,
};

use super::specification::{INFORMATION_SCHEMA, PG_CATALOG, TABLES};
use super::types;
use crate::definition_text::{foreign_key_text, key_columns};

/// The schema of what users make.
pub(super) const PUBLIC: &str = "public";

/// The first number that PostgreSQL gives to what users make.
const FIRST_OID: u32 = 16_384;
const PRIMARY_INDEXES: u32 = 0x2000_0000;
const PRIMARY_KEYS: u32 = 0x4000_0000;
const UNIQUE_KEYS: u32 = 0x5000_0000;
const DEFAULTS: u32 = 0x6000_0000;
const NAMED: u32 = 0x7000_0000;

/// The access methods of tables: our kinds of storage.
pub(super) const ROW_METHOD: u32 = 12_101;
pub(super) const COLUMN_METHOD: u32 = 12_102;
pub(super) const PAX_METHOD: u32 = 12_103;
pub(super) const TREE_METHOD: u32 = 403;

/// A column of a relation.
pub(super) struct CatalogAttribute {
    pub(super) name: String,
    pub(super) number: i16,
    pub(super) type_oid: u32,
    pub(super) modifier: i32,
    pub(super) is_not_null: bool,
    /// The text of its default, and the number of that.
    pub(super) default: Option<(String, u32)>,
    /// `a` always, `d` by default, nothing if it is no identity column.
    pub(super) identity: &'static str,
    pub(super) is_dropped: bool,
}

impl CatalogAttribute {
    /// A column that may be NULL and has no default.
    fn plain(name: &str, number: i16, (type_oid, modifier): (u32, i32)) -> Self {
        CatalogAttribute {
            name: name.to_owned(),
            number,
            type_oid,
            modifier,
            is_not_null: false,
            default: None,
            identity: "",
            is_dropped: false,
        }
    }
}

/// A table, view, sequence or index.
pub(super) struct CatalogRelation {
    pub(super) oid: u32,
    pub(super) schema: &'static str,
    pub(super) name: String,
    /// `r` table, `v` view, `S` sequence, `i` index.
    pub(super) kind: &'static str,
    pub(super) method: u32,
    pub(super) columns: Vec<CatalogAttribute>,
    pub(super) source: RelationOrigin,
}

/// Where a relation comes from.
pub(super) enum RelationOrigin {
    System,
    Table(Arc<TableDefinition>),
    View(Arc<ViewDefinition>),
    Sequence(Arc<SequenceDefinition>),
    Index(Index),
}

/// An index.
pub(super) struct Index {
    pub(super) table_oid: u32,
    pub(super) key: KeyDefinition,
    pub(super) is_unique: bool,
    pub(super) is_primary: bool,
    /// The statement that makes it.
    pub(super) definition: String,
}

/// A constraint.
pub(super) struct Constraint {
    pub(super) oid: u32,
    pub(super) name: String,
    pub(super) table_oid: u32,
    /// `p` primary key, `u` unique, `f` foreign key, `c` check.
    pub(super) kind: &'static str,
    /// The index behind it; 0 for none.
    pub(super) index_oid: u32,
    pub(super) referenced_oid: u32,
    pub(super) columns: Vec<i64>,
    pub(super) referenced_columns: Vec<i64>,
    pub(super) on_update: &'static str,
    pub(super) on_delete: &'static str,
    /// As `ALTER TABLE … ADD` takes it.
    pub(super) definition: String,
}

/// Everything.
#[derive(Default)]
pub(super) struct Objects {
    pub(super) relations: BTreeMap<u32, CatalogRelation>,
    pub(super) constraints: BTreeMap<u32, Constraint>,
}

/// Names and types of the columns of views, for those that could be planned.
pub(crate) type ViewColumns = BTreeMap<String, Vec<(String, quire_tables::SqlType)>>;

impl Objects {
    pub(super) fn new(snapshot: &Snapshot, views: &ViewColumns) -> Result<Self, Error> {
        let mut objects = Self::default();
        objects.add_system_tables();
        for definition in snapshot.definitions() {
            let id = match definition.storage {
                TableStorage::Row => snapshot.row_table_entry(&definition.name).map(|e| e.id),
                TableStorage::Column => snapshot.table(&definition.name)?.map(|table| table.id()),
            };
            objects.add_table(snapshot, &definition, id.unwrap_or_default());
        }
        for view in snapshot.views() {
            let known = views.get(&view.name);
            objects.add_view(view, known.map_or(&[], Vec::as_slice));
        }
        for sequence in snapshot.sequences() {
            objects.add(CatalogRelation {
                oid: oid(FIRST_OID, sequence.id),
                schema: PUBLIC,
                name: sequence.name.clone(),
                kind: "S",
                method: 0,
                columns: Vec::new(),
                source: RelationOrigin::Sequence(Arc::clone(sequence)),
            });
        }
        for definition in snapshot.definitions() {
            objects.add_foreign_keys(snapshot, &definition);
        }
        Ok(objects)
    }

    /// The relation of that name; without a schema, one of the user before one of the catalog.
    pub(super) fn relation(&self, schema: Option<&str>, name: &str) -> Option<&CatalogRelation> {
        let find = |schema: &str| {
            let mut relations = self.relations.values();
            relations.find(|relation| relation.schema == schema && relation.name == name)
        };
        match schema {
            Some(schema) => find(schema),
            None => find(PUBLIC).or_else(|| find(PG_CATALOG)),
        }
    }

    fn add(&mut self, relation: CatalogRelation) {
        self.relations.insert(relation.oid, relation);
    }

    fn add_system_tables(&mut self) {
        for table in TABLES.iter() {
            let columns = table.columns.iter().zip(1..);
            let columns = columns.map(|((name, kind), number)| {
                CatalogAttribute::plain(name, number, (kind.type_oid(), -1))
            });
            self.add(CatalogRelation {
                oid: table.oid,
                schema: table.schema,
                name: table.name.to_owned(),
                kind: if table.schema == INFORMATION_SCHEMA {
                    "v"
                } else {
                    "r"
                },
                method: ROW_METHOD,
                columns: columns.collect(),
                source: RelationOrigin::System,
            });
        }
    }

    fn add_table(&mut self, snapshot: &Snapshot, definition: &Arc<TableDefinition>, id: u64) {
        let table_oid = oid(FIRST_OID, id);
        let columns = definition.columns.iter().zip(1..);
        let columns =
            columns.map(|(column, number)| attribute(snapshot, table_oid, column, number));
        self.add(CatalogRelation {
            oid: table_oid,
            schema: PUBLIC,
            name: definition.name.clone(),
            kind: "r",
            method: match definition.storage {
                TableStorage::Row => ROW_METHOD,
                TableStorage::Column if definition.options.block_bytes.is_some() => PAX_METHOD,
                TableStorage::Column => COLUMN_METHOD,
            },
            columns: columns.collect(),
            source: RelationOrigin::Table(Arc::clone(definition)),
        });
        if let Some(key) = &definition.primary_key {
            let index_oid = oid(PRIMARY_INDEXES, id);
            self.add_index(definition, table_oid, index_oid, key, true, true);
            let columns = key_columns(definition, key);
            let text = format!("PRIMARY KEY ({columns})");
            let oid = oid(PRIMARY_KEYS, id);
            self.add_constraint(key_constraint(oid, "p", table_oid, index_oid, key, text));
        }
        for index in &definition.indexes {
            let index_oid = oid(FIRST_OID, index.id);
            let key = &index.key;
            self.add_index(
                definition,
                table_oid,
                index_oid,
                key,
                index.is_unique,
                false,
            );
            if index.is_constraint {
                let text = format!("UNIQUE ({})", key_columns(definition, key));
                let oid = oid(UNIQUE_KEYS, index.id);
                self.add_constraint(key_constraint(oid, "u", table_oid, index_oid, key, text));
            }
        }
        for check in &definition.checks {
            let oid = self.named_oid(table_oid, &check.name);
            let text = format!("CHECK ({})", check.condition);
            let key = KeyDefinition {
                name: check.name.clone(),
                ..KeyDefinition::default()
            };
            self.add_constraint(key_constraint(oid, "c", table_oid, 0, &key, text));
        }
    }

    fn add_index(
        &mut self,
        definition: &TableDefinition,
        table_oid: u32,
        oid: u32,
        key: &KeyDefinition,
        is_unique: bool,
        is_primary: bool,
    ) {
        let columns = key.columns.iter().zip(1..).filter_map(|(part, number)| {
            let column = definition.columns.get(part.column)?;
            let sql_type = types::of_sql_type(column.sql_type);
            Some(CatalogAttribute::plain(&column.name, number, sql_type))
        });
        let unique = if is_unique { "UNIQUE " } else { "" };
        let (name, table) = (quoted(&key.name), quoted(&definition.name));
        let parts = key_columns(definition, key);
        self.add(CatalogRelation {
            oid,
            schema: PUBLIC,
            name: key.name.clone(),
            kind: "i",
            method: TREE_METHOD,
            columns: columns.collect(),
            source: RelationOrigin::Index(Index {
                table_oid,
                key: key.clone(),
                is_unique,
                is_primary,
                definition: format!(
                    "CREATE {unique}INDEX {name} ON public.{table} USING btree ({parts})"
                ),
            }),
        });
    }

    fn add_constraint(&mut self, constraint: Constraint) {
        self.constraints.insert(constraint.oid, constraint);
    }

    fn add_view(&mut self, view: &Arc<ViewDefinition>, known: &[(String, quire_tables::SqlType)]) {
        let columns = view.columns.iter().zip(1..);
        let columns = columns.map(|(name, number)| {
            let found = known.get(usize::try_from(number - 1).unwrap_or_default());
            let sql_type = found.map_or((25, -1), |(_, sql_type)| types::of_sql_type(*sql_type));
            CatalogAttribute::plain(name, number, sql_type)
        });
        self.add(CatalogRelation {
            oid: oid(FIRST_OID, view.id),
            schema: PUBLIC,
            name: view.name.clone(),
            kind: "v",
            method: 0,
            columns: columns.collect(),
            source: RelationOrigin::View(Arc::clone(view)),
        });
    }

    fn add_foreign_keys(&mut self, snapshot: &Snapshot, definition: &TableDefinition) {
        let oid_of = |objects: &Self, name: &str| {
            let found = objects.relation(Some(PUBLIC), name);
            found.map_or(0, |relation| relation.oid)
        };
        let table_oid = oid_of(self, &definition.name);
        for key in &definition.foreign_keys {
            let numbers = |places: &[usize]| places.iter().map(|place| *place as i64 + 1).collect();
            let referenced_oid = oid_of(self, &key.referenced_table);
            let constraint = Constraint {
                oid: self.named_oid(table_oid, &key.name),
                name: key.name.clone(),
                table_oid,
                kind: "f",
                index_oid: self.key_index(referenced_oid, &key.referenced_columns),
                referenced_oid,
                columns: numbers(&key.columns),
                referenced_columns: numbers(&key.referenced_columns),
                on_update: action(key.on_update),
                on_delete: action(key.on_delete),
                definition: without_blank(&foreign_key_text(snapshot, definition, key), key),
            };
            self.add_constraint(constraint);
        }
    }

    /// The unique index of a table over these columns.
    fn key_index(&self, table_oid: u32, columns: &[usize]) -> u32 {
        let wanted: HashSet<_> = columns.iter().copied().collect();
        let is_it = |relation: &&CatalogRelation| match &relation.source {
            RelationOrigin::Index(index) => {
                let parts: HashSet<_> = index.key.columns.iter().map(|p| p.column).collect();
                index.table_oid == table_oid && index.is_unique && parts == wanted
            }
            _ => false,
        };
        let found = self.relations.values().find(is_it);
        found.map_or(0, |relation| relation.oid)
    }

    /// A number from a name, free among constraints.
    fn named_oid(&self, table_oid: u32, name: &str) -> u32 {
        let mut oid = NAMED | (hash(table_oid, name) & 0x0FFF_FFFE);
        while self.constraints.contains_key(&oid) {
            oid += 1;
        }
        oid
    }
}

fn key_constraint(
    oid: u32,
    kind: &'static str,
    table_oid: u32,
    index_oid: u32,
    key: &KeyDefinition,
    definition: String,
) -> Constraint {
    let columns = key.columns.iter().map(|part| part.column as i64 + 1);
    Constraint {
        oid,
        name: key.name.clone(),
        table_oid,
        kind,
        index_oid,
        referenced_oid: 0,
        columns: columns.collect(),
        referenced_columns: Vec::new(),
        on_update: " ",
        on_delete: " ",
        definition,
    }
}

fn attribute(
    snapshot: &Snapshot,
    table_oid: u32,
    column: &ColumnDefinition,
    number: i16,
) -> CatalogAttribute {
    let (type_oid, modifier) = types::of_sql_type(column.sql_type);
    let kind = column.sequence.map(|sequence| sequence.kind);
    let default = match column.sequence {
        Some(sequence) if sequence.kind == GeneratedKind::Serial => {
            let sequence = snapshot.sequence_by_id(sequence.id);
            sequence.map(|found| format!("nextval('{}'::regclass)", quoted(&found.name)))
        }
        Some(_) => None,
        None => column.default.clone(),
    };
    CatalogAttribute {
        name: column.name.clone(),
        number,
        type_oid: if column.is_dropped { 0 } else { type_oid },
        modifier,
        is_not_null: !column.nullable,
        default: default.map(|text| {
            (
                text,
                DEFAULTS | (hash(table_oid, &column.name) & 0x0FFF_FFFF),
            )
        }),
        identity: match kind {
            Some(GeneratedKind::Always) => "a",
            Some(GeneratedKind::ByDefault) => "d",
            _ => "",
        },
        is_dropped: column.is_dropped,
    }
}

/// PostgreSQL writes no blank between the table that is referred to and its columns, and clients take the text apart.
fn without_blank(text: &str, key: &ForeignKeyDefinition) -> String {
    let table = quoted(&key.referenced_table);
    let (spaced, close) = (
        format!(" REFERENCES {table} ("),
        format!(" REFERENCES {table}("),
    );
    text.replacen(&spaced, &close, 1)
}

fn action(action: ReferentialAction) -> &'static str {
    match action {
        ReferentialAction::NoAction => "a",
        ReferentialAction::Restrict => "r",
        ReferentialAction::Cascade => "c",
        ReferentialAction::SetNull => "n",
        ReferentialAction::SetDefault => "d",
    }
}

/// Ids count from 1; far fewer are given than a range has numbers.
/// The number of a table or view in `pg_class`.
pub(super) fn table_oid(id: u64) -> u32 {
    oid(FIRST_OID, id)
}

fn oid(range: u32, id: u64) -> u32 {
    range.wrapping_add((id & 0x0FFF_FFFF) as u32)
}

/// FNV-1a over a number and a name.
fn hash(number: u32, name: &str) -> u32 {
    let bytes = number.to_le_bytes().into_iter().chain(name.bytes());
    bytes.fold(0x811C_9DC5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

impl Constraint {
    /// What a check demands.
    pub(super) fn condition(&self) -> Option<&str> {
        let inner = self.definition.strip_prefix("CHECK (")?;
        inner.strip_suffix(')').filter(|_| self.kind == "c")
    }
}
