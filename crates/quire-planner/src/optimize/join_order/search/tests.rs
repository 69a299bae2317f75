//! Orders that follow from sizes, worked out by hand.

use datafusion::common::Column;
use datafusion::logical_expr::{Expr, LogicalPlan};
use quire_exec::costs::CostModel;
use quire_exec::tuple::batch_fields_ns;

use super::*;

/// Inputs whose keys are columns that are called by the number of their class.
fn graph(input_count: usize, classes: &[&[usize]]) -> JoinGraph {
    let class = |(number, inputs): (usize, &&[usize])| EqualityClass {
        members: inputs
            .iter()
            .map(|input| (*input, Expr::Column(key(*input, number))))
            .collect(),
    };
    JoinGraph {
        inputs: vec![LogicalPlan::default(); input_count],
        semi_joins: Vec::new(),
        classes: classes.iter().enumerate().map(class).collect(),
        conditions: Vec::new(),
        current: Tree::Input(0),
    }
}

fn key(input: usize, class: usize) -> Column {
    Column::new(Some(format!("t{input}")), format!("k{class}"))
}

/// `rows` of `base_rows`, with the distinct values of keys by class, and the bytes of a row.
fn input(
    number: usize,
    (rows, base_rows): (f64, f64),
    keys: &[(usize, f64)],
    row_bytes: f64,
) -> SearchInput {
    let keys = keys.iter();
    let keys: Vec<_> = keys
        .map(|(class, distinct)| (key(number, *class), *distinct))
        .collect();
    let estimate = JoinEstimate::of_columns(rows, base_rows, &keys);
    let fields_ns = batch_fields_ns(&CostModel::default(), 2, 0);
    SearchInput::of_bytes(estimate, row_bytes, fields_ns)
}

fn best(graph: &JoinGraph, inputs: &[SearchInput], memory: usize, by_tuples: bool) -> Tree {
    let pricing = JoinPricing::new(&CostModel::default(), memory, inputs.len(), by_tuples);
    JoinOrderSearch::new(graph, inputs, &pricing).run().tree
}

fn joined(left: Tree, right: Tree) -> Tree {
    Tree::Join(Box::new(left), Box::new(right))
}

/// The middle of query 5 of TPC-H at scale 1: customers of some nations, the orders of a year, all lines. Customers and orders leave 228,000 · 30,000 / 150,000 =
/// 45,600 rows to keep, orders and lines 6,000,000 · 228,000 / 1,500,000 = 912,000. Both engines keep customers, then these.
#[test]
fn large_inputs_are_read_last_by_the_rows_of_those_before() {
    let graph = graph(3, &[&[0, 1], &[1, 2]]);
    let inputs = [
        input(0, (30_000.0, 150_000.0), &[(0, 30_000.0)], 8.0),
        input(
            1,
            (228_000.0, 1.5e6),
            &[(0, 150_000.0), (1, 228_000.0)],
            8.0,
        ),
        input(2, (6e6, 6e6), &[(1, 1.5e6)], 16.0),
    ];
    let expected = joined(joined(Tree::Input(0), Tree::Input(1)), Tree::Input(2));
    for by_tuples in [false, true] {
        assert_eq!(best(&graph, &inputs, 1 << 30, by_tuples), expected);
    }
}

/// A million rows of 80 bytes meet 100,000 of 8 bytes and 100,000 of 400, each of which leaves half of them. A join has 32 MiB and keeps what takes half
/// of that: 100,000 rows of 8 bytes, with 100 besides, take 11 MB; those of 400 bytes take 50 MB, and all that meets them is written and read.
/// With 24 bytes a record these are 42 MB, and 104 MB of the million if they come first, but 56 MB of the half that is left if they come
/// last: 99 ms less at 2.1 µs a KiB, where both orders take some 300 ms of the processor.
#[test]
fn what_does_not_fit_memory_is_joined_when_fewer_rows_are_left() {
    let graph = graph(3, &[&[0, 2], &[1, 2]]);
    for wide in [0, 1] {
        let side = |number: usize| {
            let row_bytes = if number == wide { 400.0 } else { 8.0 };
            input(number, (1e5, 2e5), &[(number, 1e5)], row_bytes)
        };
        let many = input(2, (1e6, 1e6), &[(0, 2e5), (1, 2e5)], 80.0);
        let inputs = [side(0), side(1), many];
        let narrow = 1 - wide;
        let first = joined(Tree::Input(narrow), Tree::Input(2));
        // Of 500,000 rows each is inserted for 150 ns; looking into 100,000 that are in no cache takes 220.
        let expected = joined(first, Tree::Input(wide));
        assert_eq!(best(&graph, &inputs, 64 << 20, true), expected);
    }
}

/// The walk over subsets that `exhaustive` uses.
fn subsets(all: InputSet) -> Vec<InputSet> {
    let mut found = Vec::new();
    let mut set = 0;
    loop {
        set = (set as i64 | !(all as i64)).wrapping_add(1) as InputSet & all;
        if set == 0 {
            return found;
        }
        found.push(set);
    }
}

#[test]
fn subsets_come_in_increasing_order() {
    assert_eq!(subsets(0b1011), [1, 2, 3, 8, 9, 10, 11]);
    assert_eq!(subsets(1 << 62), [1 << 62]);
}
