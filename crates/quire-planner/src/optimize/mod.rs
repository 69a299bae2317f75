//! Planning steps of our own, beside DataFusion's.

mod aggregate_orders;
mod aggregate_states;
mod batches_once;
mod before_physical_planning;
mod bounded;
mod build_sides;
mod cancellation;
mod checked_operators;
mod collected_aggregates;
mod column_origin;
mod common_expressions;
mod decimals_beside_floats;
mod direct_groups;
mod distinct_limits;
mod eager_aggregation;
mod excepted_plans;
mod filter_places;
mod float_keys;
mod group_accumulators;
mod group_dependencies;
mod grouped_rows;
mod hashed_groups;
mod hidden_operators;
mod hybrid_joins;
mod idle_keys;
mod inferred_filters;
mod integer_sums;
mod join_keys;
mod join_order;
mod join_stand_in;
mod key_columns;
mod known_aggregates;
mod late_dimensions;
mod late_values;
mod leading_groups;
mod limited_groups;
mod lost_constants;
mod many_wildcards;
mod materialized_rows;
mod merge_joins;
mod merged_groups;
mod new_inputs;
mod null_keys;
mod offsets;
mod open_literals;
mod ordered_results;
mod outer_aggregates;
mod outer_joins;
mod outer_references;
mod outer_types;
mod own_analysis;
mod own_names;
mod own_rule;
mod packed_keys;
mod passed_rows;
mod physical_joins;
mod promises;
mod recorded_keys;
mod recursion;
mod row_sizes;
mod set_members;
mod settled_nodes;
mod shared_planner;
mod shared_rows;
mod shared_subplans;
mod shared_task;
mod small_integers;
mod sorted_inputs;
mod sorted_windows;
mod spilled_parts;
mod staged_sets;
mod strict_types;
mod switches;
mod times;
mod totals;
mod typing_gaps;
mod ungrouped_columns;
mod union_names;
mod unique_names;
mod unnesting;
mod unread_marked_inputs;
mod values_types;
mod vector_joins;
mod vector_sorts;
mod whole_merges;
mod wrapped_rule;

pub use bounded::{Holding, WINDOW_ROWS, has_hash_joins};
pub use cancellation::yielding_joins;
pub use grouped_rows::read_groups;
pub use materialized_rows::is_out_of_memory;
pub use outer_aggregates::hoist_outer_aggregates;
pub use own_names::without_own_names;
pub use shared_rows::SharedRows;
pub use shared_subplans::{shared_for_tuples, shared_place, shared_subplan};
pub use staged_sets::has_staged_sets;
pub use strict_types::{check_assignment, is_assignable};
pub use times::TimePlanner;
pub use totals::TOTALS;
pub use ungrouped_columns::check_grouped_columns;
pub use unique_names::UniqueNamesPlanner;

use std::sync::Arc;

use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::Expr;
use datafusion::optimizer::analyzer::Analyzer;
use datafusion::optimizer::analyzer::type_coercion::TypeCoercionRewriter;
use datafusion::optimizer::{AnalyzerRule, Optimizer, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;

use excepted_plans::ExceptedPlans;
use own_analysis::OwnAnalysis;
use own_rule::OwnRule;
use wrapped_rule::WrappedRule;

use crate::scan::vector_aggregate;

/// DataFusion's analyzer rules, which settle types, between ours.
pub fn analyzer_rules() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    let mut rules = Analyzer::new().rules;
    let first = [
        OwnAnalysis::of_nodes("open_literals", open_literals::settle_node),
        OwnAnalysis::of_plans("integer_sums", integer_sums::narrow_all_sums),
        OwnAnalysis::of_plans("strict_types", strict_types::check_plan),
        OwnAnalysis::of_nodes("decimals_beside_floats", decimals_beside_floats::widen_node),
        OwnAnalysis::of_nodes("time_operators", times::replace_operators),
        OwnAnalysis::of_nodes("typing_gaps", typing_gaps::fill_node),
        OwnAnalysis::of_nodes("aggregate_orders", aggregate_orders::order_node),
    ];
    rules.splice(0..0, first.map(|rule| Arc::new(rule) as _));
    let settling = rules.iter().position(|rule| rule.name() == "type_coercion");
    let members = OwnAnalysis::of_nodes("set_members", set_members::named_members);
    rules.insert(settling.unwrap_or(rules.len()), Arc::new(members));
    // From where the types of operands are widened on.
    let settling = rules[3..].to_vec();
    rules.push(Arc::new(outer_types::OuterTypes::new(settling)));
    for rule in [
        OwnAnalysis::of_nodes("time_types", times::settle_node),
        OwnAnalysis::of_nodes("checked_operators", checked_operators::check_node),
        OwnAnalysis::of_nodes("work_tables", recursion::with_own_table),
    ] {
        rules.push(Arc::new(rule));
    }
    rules.push(Arc::new(unnesting::Unnesting));
    for rule in [
        OwnAnalysis::of_nodes("float_keys", float_keys::key_node),
        OwnAnalysis::of_plans("settled_nodes", settled_nodes::settle_nodes),
        OwnAnalysis::of_nodes("collected_aggregates", collected_aggregates::collect),
        OwnAnalysis::of_nodes("late_values", late_values::below_limit),
    ] {
        rules.push(Arc::new(rule));
    }
    rules
}

/// Settles the types of one expression as the analyzer rules do those of a plan.
pub fn settle_types(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let open = |part| Ok(open_literals::settle(part, schema));
    let expr = expr.transform_up(open)?.data;
    let expr = expr.transform_up(|part| Ok(integer_sums::narrow_sum(part, schema)))?;
    let expr = expr.data;
    strict_types::check_parts(&expr, schema)?;
    let widen = |part| decimals_beside_floats::widen_expression(part, schema);
    let expr = expr.transform_up(widen)?;
    let replace = |part| times::replace_operator(part, schema);
    let expr = expr.data.transform_up(replace)?;
    let fill = |part| Ok(typing_gaps::fill(part, schema));
    let expr = expr.data.transform_up(fill)?;
    let expr = expr.data.rewrite(&mut TypeCoercionRewriter::new(schema))?;
    let settle = |part| times::settle_expression(part, schema);
    let expr = expr.data.transform_up(settle)?;
    let check = |part| checked_operators::check_expression(part, schema);
    let expr = expr.data.transform_up(check)?;
    let compare = |part| float_keys::compare_by_keys(part, schema);
    Ok(expr.data.transform_up(compare)?.data)
}

type Rules = Vec<Arc<dyn OptimizerRule + Send + Sync>>;

/// DataFusion's rules for subqueries. [`unnesting`] leaves them nothing to do.
const SUBQUERY_RULES: [&str; 4] = [
    "rewrite_set_comparison",
    "decorrelate_predicate_subquery",
    "scalar_subquery_to_join",
    "decorrelate_lateral_join",
];

/// DataFusion's rule that takes trees of inner joins apart. It loses a key one of whose sides reads two inputs, as `a.x + b.y = c.z`, or has become
/// a constant, and what NULL equals in one join it takes for all. [`join_order`] makes joins of the conditions of a tree.
const FLATTENING_RULE: &str = "eliminate_cross_join";

/// DataFusion's optimizer rules with ours among them: the join order as soon as filters are where they belong, so that the sizes
/// of a join's inputs can be told.
pub fn optimizer_rules() -> Rules {
    let mut rules = Optimizer::new().rules;
    rules.retain(|rule| rule.name() != FLATTENING_RULE && !SUBQUERY_RULES.contains(&rule.name()));
    for rule in &mut rules {
        *rule = match rule.name() {
            "extract_equijoin_predicate" => ExceptedPlans::of(rule, join_keys::has_equal_nulls),
            "common_sub_expression_eliminate" => {
                ExceptedPlans::of(rule, common_expressions::has_equal_times)
            }
            "eliminate_join" => {
                ExceptedPlans::of(rule, unread_marked_inputs::has_unread_marked_input)
            }
            "push_down_filter" => Arc::new(filter_places::FilterPlaces::default()),
            "simplify_expressions" => Arc::new(hidden_operators::HiddenOperators(Arc::clone(rule))),
            _ => continue,
        };
    }
    // Filters go down on both sides of an inner join.
    insert_at(
        &mut rules,
        "push_down_filter",
        0,
        Arc::new(outer_joins::OuterJoins),
    );
    insert_at(
        &mut rules,
        "push_down_filter",
        1,
        Arc::new(join_order::JoinOrder),
    );
    insert_at(
        &mut rules,
        "push_down_filter",
        2,
        Arc::new(cancellation::StopWhenCancelled),
    );
    // Before the joins that it leaves in a tree are ordered.
    insert_at(
        &mut rules,
        "push_down_filter",
        1,
        Arc::new(late_dimensions::LateDimensions),
    );
    // Which rows a join has on each side is known by then.
    insert_at(
        &mut rules,
        "push_down_filter",
        4,
        Arc::new(eager_aggregation::EagerAggregation),
    );
    rules.push(Arc::new(many_wildcards::ManyWildcards));
    rules.push(Arc::new(idle_keys::IdleKeys));
    rules.push(Arc::new(cancellation::StopWhenCancelled));
    rules
}

/// DataFusion's rule that refuses a plan one of whose inputs is not in the order that is asked for.
const CHECKING_RULE: &str = "SanityCheckPlan";

/// DataFusion's rule that hands the filters of joins to the scans below them.
const DYNAMIC_FILTERS: &str = "FilterPushdown(Post)";

/// DataFusion's rules for physical plans, behind ours.
pub fn physical_rules(holding: Holding) -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let mut rules = bounded::rules(holding);
    for rule in &mut rules {
        *rule = match rule.name() {
            known_aggregates::NAME => WrappedRule::of(rule, known_aggregates::optimize),
            leading_groups::NAME => WrappedRule::of(rule, leading_groups::optimize),
            _ => continue,
        };
    }
    // Behind DataFusion's own choice, and before what joins need of their inputs is placed below them.
    let sides = OwnRule::of_operators("build_sides", build_sides::smaller_build_side)
        .switched(|options| options.build_sides);
    bounded::insert_before(&mut rules, bounded::SPILLING_JOINS, sides);
    let collecting = vector_joins::collecting_rule();
    bounded::insert_before(&mut rules, bounded::SPILLING_JOINS, collecting);
    bounded::insert_before(
        &mut rules,
        DYNAMIC_FILTERS,
        vector_joins::rule_of_transfer(),
    );
    // Behind all rules that look into windows, and before the one that has other windows count what they keep.
    let windows = OwnRule::of_operators("sorted_windows", move |plan| {
        sorted_windows::sorted_windows(plan, holding)
    })
    .switched(|options| options.sorted_windows);
    bounded::insert_before(&mut rules, "windows", windows);
    // Before all others: the terms of a recursion are planned like other plans, and everything relies on promises.
    let first = [
        OwnRule::of_operators("recursions", |plan| Ok(recursion::own_recursion(plan))),
        OwnRule::of_plans("promises", promises::kept_promises),
        OwnRule::of_plans("offsets", offsets::fixed_offsets),
    ];
    rules.splice(0..0, first.map(|rule| Arc::new(rule) as _));
    // Behind the rule that puts rows in order.
    let limits = |plan: &_| Ok(distinct_limits::without_undirected_limit(plan));
    let limits = OwnRule::of_operators("distinct_limits", limits);
    bounded::insert_before(&mut rules, leading_groups::NAME, limits);
    // Behind those that move sorts.
    for rule in [
        OwnRule::of_operators("sorted_inputs", sorted_inputs::with_sorts),
        OwnRule::of_operators("limited_groups", limited_groups::without_wrong_limits),
    ] {
        bounded::insert_before(&mut rules, CHECKING_RULE, rule);
    }
    let own = own_operators(holding).into_iter();
    rules.extend(own.map(|rule| Arc::new(rule) as _));
    rules
}

/// The rules that put operators of ours in the place of DataFusion's, which come last.
fn own_operators(holding: Holding) -> Vec<OwnRule> {
    vec![
        OwnRule::of_operators("whole_merges", |plan| Ok(whole_merges::whole_merge(plan))),
        OwnRule::of_plans("ordered_results", ordered_results::ordered_results),
        OwnRule::of_operators("recorded_keys", recorded_keys::with_records)
            .switched(|options| options.recorded_keys),
        OwnRule::of_operators("staged_sets", move |plan| match holding {
            Holding::Within(_) => staged_sets::staged(plan),
            Holding::Parts(_) | Holding::Nothing => Ok(None),
        })
        .switched(|options| options.staged_sets),
        // Behind all that look for aggregations.
        OwnRule::of_operators("vector_aggregates", |plan| {
            vector_aggregate(plan, hashed_groups::hashed_where_on)
        }),
        // What is left of them.
        merged_groups::rule(),
        hashed_groups::rule_of_distinct(),
        OwnRule::of_operators("direct_groups", |plan| Ok(direct_groups::direct(plan)))
            .switched(|options| options.direct_groups),
        hashed_groups::rule(),
        totals::rule(),
        totals::rule_of_extremes(),
        // Behind all that look for hash joins.
        vector_joins::rule(),
        vector_joins::rule_of_not_in(),
        // Behind all that look for sorts.
        vector_sorts::rule(),
    ]
}

/// Puts a rule `places` behind the place of the one called `name`.
fn insert_at(
    rules: &mut Rules,
    name: &str,
    places: usize,
    rule: Arc<dyn OptimizerRule + Send + Sync>,
) {
    let position = rules.iter().position(|rule| rule.name() == name);
    rules.insert(
        position.map_or(rules.len(), |position| position + places),
        rule,
    );
}
