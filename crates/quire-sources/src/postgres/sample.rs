//! Rows from evenly spread places of a table of PostgreSQL.

use std::sync::Arc;

use postgres::Client;

use quire_files::CopyControl;

use super::catalog::PostgresRelation;
use super::described_table::DescribedRelation;
use super::reader::copy;
use super::server::{PostgresServer, PostgresStop};
use crate::definition::SourceRowCount;
use crate::error::SourceError;
use crate::sample::SourceSample;

/// A table of no more pages is counted, not estimated: 128 MiB.
const COUNTED_PAGES_MAX: i64 = 16_384;
/// A table that has the rows, its size, and what the last ANALYZE saw; of a partitioned table each partition.
const STORED: &str = "SELECT format('%I.%I', n.nspname, c.relname), pg_relation_size(c.oid) / current_setting('block_size')::int8, c.reltuples::float8, c.relpages::float8 \
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     WHERE c.oid IN (SELECT relid FROM pg_catalog.pg_partition_tree($1) WHERE isleaf) AND c.relkind IN ('r', 'm') ORDER BY c.oid";
/// The same of one that is not partitioned.
const STORED_WHOLE: &str = "SELECT format('%I.%I', n.nspname, c.relname), pg_relation_size(c.oid) / current_setting('block_size')::int8, c.reltuples::float8, c.relpages::float8 \
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1";

/// A relation with pages.
struct StoredRelation {
    from: String,
    page_count: i64,
    /// What the last ANALYZE saw.
    analyzed_rows: f64,
    analyzed_pages: f64,
}

pub(super) fn sample(
    server: &PostgresServer,
    table: &DescribedRelation,
    piece_count: usize,
    rows_per_piece: usize,
    control: &CopyControl,
) -> Result<SourceSample, SourceError> {
    let (query, schema) = table.selection(None)?;
    server.run(control, |client| {
        let stored = stored(client, &table.relation)?;
        let row_count = row_count(client, &table.relation, &stored)?;
        let wanted = (piece_count as u64).saturating_mul(rows_per_piece as u64);
        let queries = match row_count {
            SourceRowCount::Exact(rows) if rows <= wanted => vec![query.clone()],
            SourceRowCount::Exact(rows) if stored.is_empty() => {
                let position = |piece: usize| rows * piece as u64 / piece_count as u64;
                (0..piece_count)
                    .map(|piece| {
                        format!("{query} OFFSET {} LIMIT {rows_per_piece}", position(piece))
                    })
                    .collect()
            }
            _ => page_queries(
                &table.expressions.join(", "),
                &stored,
                piece_count,
                rows_per_piece,
            ),
        };
        let mut pieces = Vec::new();
        for query in queries {
            copy(
                server,
                client,
                &table.definition.name,
                &query,
                &schema,
                |batch| {
                    pieces.push(batch);
                    true
                },
            )?;
        }
        Ok(SourceSample {
            schema: Arc::clone(&schema),
            pieces,
            row_count,
        })
    })
}

fn stored(
    client: &mut Client,
    relation: &PostgresRelation,
) -> Result<Vec<StoredRelation>, PostgresStop> {
    if !relation.has_pages && !relation.is_partitioned {
        return Ok(Vec::new());
    }
    if relation.is_partitioned {
        // Its type is regclass, which the library does not have.
        let sql = STORED.replace("$1", &format!("{}::regclass", relation.oid));
        return Ok(client
            .query(&sql, &[])?
            .iter()
            .map(stored_relation)
            .collect());
    }
    Ok(client
        .query(STORED_WHOLE, &[&relation.oid])?
        .iter()
        .map(stored_relation)
        .collect())
}

fn stored_relation(row: &postgres::Row) -> StoredRelation {
    StoredRelation {
        from: row.get(0),
        page_count: row.get(1),
        analyzed_rows: row.get(2),
        analyzed_pages: row.get(3),
    }
}

/// Counted, unless the table is large and was analyzed: then the rows of a page as ANALYZE saw them, times the pages there are now.
fn row_count(
    client: &mut Client,
    relation: &PostgresRelation,
    stored: &[StoredRelation],
) -> Result<SourceRowCount, PostgresStop> {
    let pages: i64 = stored.iter().map(|part| part.page_count).sum();
    let is_analyzed = stored
        .iter()
        .all(|part| part.analyzed_pages > 0.0 && part.analyzed_rows >= 0.0);
    if pages > COUNTED_PAGES_MAX && is_analyzed {
        let rows = stored
            .iter()
            .map(|part| part.analyzed_rows / part.analyzed_pages * part.page_count as f64);
        return Ok(SourceRowCount::Estimated(rows.sum::<f64>() as u64));
    }
    let rows: i64 = client
        .query_one(&format!("SELECT count(*) FROM {}", relation.from), &[])?
        .get(0);
    Ok(SourceRowCount::Exact(rows.unsigned_abs()))
}

/// A query for each piece: the rows from one page on, and before the page where the next piece begins.
fn page_queries(
    columns: &str,
    stored: &[StoredRelation],
    piece_count: usize,
    rows_per_piece: usize,
) -> Vec<String> {
    let pages: i64 = stored.iter().map(|part| part.page_count).sum();
    let start =
        |piece: usize| (i128::from(pages) * piece as i128 / piece_count.max(1) as i128) as i64;
    let mut queries = Vec::with_capacity(piece_count);
    for piece in 0..piece_count {
        let (mut first, mut end) = (start(piece), start(piece + 1));
        // The pages of all parts, one part behind the other: a piece lies in the part where it begins.
        for part in stored {
            if first < part.page_count {
                end = end.min(part.page_count).max(first + 1);
                let from = &part.from;
                queries.push(format!("SELECT {columns} FROM {from} WHERE ctid >= '({first},0)' AND ctid < '({end},0)' LIMIT {rows_per_piece}"));
                break;
            }
            first -= part.page_count;
            end -= part.page_count;
        }
    }
    // More pieces than pages: two begin at the same page.
    queries.dedup();
    queries
}

#[cfg(test)]
mod tests {
    use super::{StoredRelation, page_queries};

    fn part(name: &str, page_count: i64) -> StoredRelation {
        StoredRelation {
            from: name.to_owned(),
            page_count,
            analyzed_rows: 0.0,
            analyzed_pages: 0.0,
        }
    }

    #[test]
    fn pieces_begin_at_evenly_spread_pages_of_all_parts() {
        let queries = page_queries("x", &[part("a", 4), part("b", 0), part("c", 6)], 5, 3);
        let expected = [
            ("a", 0, 2),
            ("a", 2, 4),
            ("c", 0, 2),
            ("c", 2, 4),
            ("c", 4, 6),
        ];
        let query = |(from, first, end): (&str, i64, i64)| {
            format!(
                "SELECT x FROM {from} WHERE ctid >= '({first},0)' AND ctid < '({end},0)' LIMIT 3"
            )
        };
        assert_eq!(queries, expected.map(query));
    }

    #[test]
    fn no_page_is_read_twice() {
        assert_eq!(page_queries("x", &[part("a", 2)], 4, 3).len(), 2);
    }
}
