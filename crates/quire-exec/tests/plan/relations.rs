//! The check of plans finds what does not fit, by name.

use arrow::datatypes::DataType;
use quire_exec::plan::{
    Aggregate, AggregateCall, AggregateFunction, ComparisonExpression, Expression, Join, JoinKey,
    JoinKind, Plan, PlanColumn, PlanError, PlanNode, PlanQuery, PlanSortKey, ScanNode, SortNode,
    SumKind, ValueKind,
};
use quire_tables::row_table::Value;

/// Columns `id` (never NULL), `name` and `price`.
fn scan() -> Plan {
    let column = |name: &str, data_type, nullable| PlanColumn {
        name: name.to_owned(),
        data_type,
        nullable,
    };
    Plan {
        node: PlanNode::Scan(ScanNode {
            table: "item".to_owned(),
            columns: vec![0, 1, 2],
            conditions: Vec::new(),
        }),
        columns: vec![
            column("id", DataType::Int32, false),
            column("name", DataType::Utf8View, true),
            column("price", DataType::Decimal128(10, 2), true),
        ],
    }
}

fn id() -> Expression {
    Expression::Column {
        slot: 0,
        kind: ValueKind::Integer,
        nullable: false,
    }
}

fn name() -> Expression {
    Expression::Column {
        slot: 1,
        kind: ValueKind::Bytes,
        nullable: true,
    }
}

fn is_one(expression: Expression) -> Expression {
    let one = Expression::Constant(Value::Integer(1));
    Expression::Compare(ComparisonExpression::Equal, Box::new([expression, one]))
}

fn join(kind: JoinKind, keys: Vec<JoinKey>) -> Join {
    Join {
        kind,
        left: scan(),
        right: scan(),
        keys,
        nulls_match: false,
        residual: None,
        is_null_aware: false,
    }
}

#[test]
fn what_fits_is_accepted() {
    let plan = scan().filter(is_one(id())).distinct();
    let column = PlanColumn::of("id", DataType::Int32, &id());
    let plan = plan.project(vec![(column, id())]);
    assert!(!plan.columns[0].nullable);
    let keys = vec![PlanSortKey {
        expression: id(),
        is_descending: true,
        nulls_first: true,
    }];
    let input = Plan::union_all(vec![plan.clone(), plan]);
    let plan = Plan::sort(SortNode {
        input,
        keys,
        fetch: Some(3),
    });
    assert_eq!(plan.check(), Ok(()));
    let text = plan.to_string();
    assert_eq!(
        text.lines().collect::<Vec<_>>()[..4],
        [
            "first 3 by id desc",
            "  union all",
            "    project: id",
            "      distinct",
        ]
    );
}

#[test]
fn outer_joins_make_columns_nullable() {
    let key = || {
        vec![JoinKey {
            left: id(),
            right: id(),
        }]
    };
    for (kind, left, right) in [
        (JoinKind::Inner, false, Some(false)),
        (JoinKind::Left, false, Some(true)),
        (JoinKind::Right, true, Some(false)),
        (JoinKind::Full, true, Some(true)),
        (JoinKind::Semi, false, None),
        (JoinKind::Anti, false, None),
    ] {
        let mut plan = Plan::join(join(kind, key()), "mark");
        assert_eq!(plan.check(), Ok(()));
        assert_eq!(plan.columns[0].nullable, left);
        assert_eq!(plan.columns.get(3).map(|column| column.nullable), right);
        if left {
            plan.columns[0].nullable = false;
            assert!(matches!(plan.check(), Err(PlanError::Null { .. })));
        }
    }
    let plan = Plan::join(join(JoinKind::Mark, key()), "mark");
    assert_eq!(plan.check(), Ok(()));
    assert_eq!(plan.columns[3].name, "mark");
}

#[test]
fn slots_and_kinds_that_are_not_there_are_rejected() {
    let beyond = Expression::Column {
        slot: 3,
        kind: ValueKind::Integer,
        nullable: false,
    };
    let found = scan().filter(is_one(beyond)).check();
    let expected = PlanError::Slot {
        node: "filter",
        slot: 3,
        column_count: 3,
    };
    assert_eq!(found, Err(expected));
    let kinds = [
        scan().filter(is_one(name())),
        scan().filter(id()),
        scan().project(vec![(scan().columns[1].clone(), id())]),
        Plan::join(
            join(
                JoinKind::Inner,
                vec![JoinKey {
                    left: id(),
                    right: name(),
                }],
            ),
            "mark",
        ),
    ];
    for plan in kinds {
        assert!(
            matches!(plan.check(), Err(PlanError::Kind { .. })),
            "{plan}"
        );
    }
    let mut certain = name();
    if let Expression::Column { nullable, .. } = &mut certain {
        *nullable = false;
    }
    let plan = scan().filter(Expression::IsNull(Box::new(certain), true));
    assert!(matches!(plan.check(), Err(PlanError::Null { .. })));
    let plan = scan().limit(None, Some(id()));
    let error = PlanError::NotFixed { node: "limit" };
    assert_eq!(plan.check(), Err(error));
}

#[test]
fn totals_take_values_of_their_kind() {
    let total = |function, argument| {
        let call = AggregateCall {
            function,
            argument,
            is_distinct: false,
            filter: None,
        };
        let aggregate = Aggregate {
            input: scan(),
            groups: vec![name()],
            calls: vec![call],
        };
        let names = vec![
            ("name".to_owned(), DataType::Utf8View),
            ("total".to_owned(), DataType::Int64),
        ];
        Plan::aggregate(aggregate, names).check()
    };
    let sum = AggregateFunction::Sum(SumKind::BigInt);
    assert_eq!(total(sum, Some(id())), Ok(()));
    assert_eq!(total(AggregateFunction::Count, None), Ok(()));
    let found = total(sum, Some(name()));
    assert!(matches!(found, Err(PlanError::Operand { .. })), "{found:?}");
    let found = total(AggregateFunction::Max, None);
    assert!(matches!(found, Err(PlanError::Empty { .. })), "{found:?}");
    let found = total(AggregateFunction::Max, Some(name()));
    assert!(matches!(found, Err(PlanError::Kind { .. })), "{found:?}");
}

#[test]
fn values_are_used_only_after_they_are_there() {
    let value = |number| Expression::Parameter {
        number,
        kind: ValueKind::Integer,
    };
    let one_column = |condition: Expression| {
        let column = PlanColumn::of("id", DataType::Int32, &id());
        scan()
            .filter(is_one(condition))
            .project(vec![(column, id())])
    };
    let query = |first: usize, second: usize, rows: usize| PlanQuery {
        parameter_count: 1,
        values: vec![one_column(value(first)), one_column(value(second))],
        plan: scan().filter(is_one(value(rows))),
    };
    assert_eq!(query(0, 1, 2).check(), Ok(()));
    for (query, number) in [
        (query(1, 1, 2), 1),
        (query(0, 2, 2), 2),
        (query(0, 1, 3), 3),
    ] {
        assert!(
            matches!(query.check(), Err(PlanError::Parameter { number: found, .. }) if found == number)
        );
    }
}

#[test]
fn only_an_anti_join_on_one_key_is_not_in() {
    let key = || JoinKey {
        left: id(),
        right: id(),
    };
    let not_in = |kind, keys| {
        let mut join = join(kind, keys);
        join.is_null_aware = true;
        Plan::join(join, "mark").check()
    };
    assert_eq!(not_in(JoinKind::Anti, vec![key()]), Ok(()));
    assert_eq!(not_in(JoinKind::Semi, vec![key()]), Err(PlanError::NotIn));
    let two = vec![key(), key()];
    assert_eq!(not_in(JoinKind::Anti, two), Err(PlanError::NotIn));
}
