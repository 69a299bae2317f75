//! Members of grouping sets keep their names when their types are settled.
//!
//! DataFusion's rule that settles types gives a whole grouping set an alias when the name of a member changes, as that of `NOT (a IN (b, c))` does, which
//! becomes `a NOT IN (b, c)`. No operator is made of such a set, and the column is not found again. Here each computed member has its name as an
//! alias before.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan};

/// The node with named members. The rule comes right before the one that settles types, behind all that look for members as they were written.
pub(super) fn named_members(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match node {
        LogicalPlan::Aggregate(aggregate) => named(aggregate),
        other => Ok(Transformed::no(other)),
    }
}

fn named(mut aggregate: Aggregate) -> Result<Transformed<LogicalPlan>> {
    let mut has_named = false;
    if let [sets @ Expr::GroupingSet(_)] = aggregate.group_expr.as_mut_slice() {
        let members = std::mem::take(sets).map_children(|member| {
            Ok(match member {
                Expr::Column(_) | Expr::Alias(_) => Transformed::no(member),
                computed => {
                    let (relation, name) = computed.qualified_name();
                    Transformed::yes(computed.alias_qualified(relation, name))
                }
            })
        })?;
        has_named = members.transformed;
        *sets = members.data;
    }
    let plan = LogicalPlan::Aggregate(aggregate);
    Ok(if has_named {
        Transformed::yes(plan)
    } else {
        Transformed::no(plan)
    })
}
