//! What relations take in the file, compressed, as PostgreSQL's functions of sizes are asked for it.

use datafusion::common::{DataFusionError, Result, ScalarValue};
use quire_error::Error;
use quire_tables::{Snapshot, TreeSize};

use super::PgCatalog;
use super::objects::{CatalogRelation, RelationOrigin};
use super::rows::number;

/// The bytes of a table that are not those of its secondary indexes, and those that are.
struct TableBytes {
    own: u64,
    indexes: u64,
}

/// `pg_relation_size`: a table without its indexes, or one index. The index of a primary key is the table itself.
pub(super) fn of_relation(catalog: &PgCatalog, relation: &CatalogRelation) -> Result<ScalarValue> {
    of(catalog, relation, |bytes| bytes.own)
}

/// `pg_indexes_size`
pub(super) fn of_indexes(catalog: &PgCatalog, relation: &CatalogRelation) -> Result<ScalarValue> {
    match relation.source {
        RelationOrigin::Table(_) => of(catalog, relation, |bytes| bytes.indexes),
        _ => Ok(number(0)),
    }
}

/// `pg_total_relation_size`
pub(super) fn of_all(catalog: &PgCatalog, relation: &CatalogRelation) -> Result<ScalarValue> {
    of(catalog, relation, |bytes| bytes.own + bytes.indexes)
}

fn of(
    catalog: &PgCatalog,
    relation: &CatalogRelation,
    choose: fn(TableBytes) -> u64,
) -> Result<ScalarValue> {
    let bytes = match &relation.source {
        RelationOrigin::Table(definition) => {
            choose(table_bytes(&catalog.snapshot, &definition.name)?)
        }
        RelationOrigin::Index(index) if !index.is_primary => {
            let table = catalog.objects.relations.get(&index.table_oid);
            let name = table.map_or("", |table| table.name.as_str());
            let trees = catalog.snapshot.tree_sizes(name).map_err(external)?;
            let own = trees.iter().find(|tree| tree.name == relation.name);
            own.map_or(0, |tree| tree.stored_bytes)
        }
        _ => 0,
    };
    Ok(number(i64::try_from(bytes).unwrap_or(i64::MAX)))
}

fn table_bytes(snapshot: &Snapshot, name: &str) -> Result<TableBytes> {
    let trees = snapshot.tree_sizes(name).map_err(external)?;
    let is_index = |tree: &&TreeSize| snapshot.table_of_index(&tree.name).is_some();
    let (indexes, own): (Vec<_>, Vec<_>) = trees.iter().partition(is_index);
    let sum = |trees: Vec<&TreeSize>| trees.iter().map(|tree| tree.stored_bytes).sum::<u64>();
    let table = snapshot.table(name).map_err(external)?;
    let segments = table.map_or(0, |table| {
        let columns = 0..table.definition().columns.len();
        let columns = columns.filter_map(|column| table.statistics(column));
        columns.map(|statistics| statistics.encoded_bytes).sum()
    });
    Ok(TableBytes {
        own: segments + sum(own),
        indexes: sum(indexes),
    })
}

fn external(error: quire_tables::EngineError) -> DataFusionError {
    Error::from(error).into()
}
