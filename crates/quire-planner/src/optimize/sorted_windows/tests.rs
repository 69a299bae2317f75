//! The operator against results that are computed row by row, and against its memory limit.
#![allow(clippy::unwrap_used)]

use datafusion::arrow::array::{
    ArrayRef, AsArray, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringViewArray,
};
use datafusion::arrow::compute::{SortOptions, cast, concat_batches};
use datafusion::arrow::datatypes::{DataType, Float64Type, SchemaRef};
use datafusion::catalog::memory::{DataSourceExec, MemorySourceConfig};
use datafusion::common::ScalarValue;
use datafusion::execution::context::{SessionConfig, SessionContext, SessionState};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::{
    WindowFrame, WindowFrameBound, WindowFrameUnits, WindowFunctionDefinition,
};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::collect;
use datafusion::physical_plan::windows::create_window_expr;
use proptest::prelude::*;

use super::*;

/// Keys of the partition and of the order, and a value.
type Row = (Option<u8>, Option<u8>, Option<i8>);

const LARGE: Holding = Holding::Within(usize::MAX);
/// Where frames end.
const ENDS: [WindowFrameUnits; 3] = [
    WindowFrameUnits::Rows,
    WindowFrameUnits::Range,
    WindowFrameUnits::Groups,
];
const FUNCTIONS: [&str; 12] = [
    "row_number",
    "rank",
    "dense_rank",
    "lag",
    "lead",
    "first_value",
    "last_value",
    "sum",
    "avg",
    "count",
    "min",
    "max",
];
/// Columns with the values: integers, decimals and floats.
const VALUES: [&str; 3] = ["integer", "decimal", "float"];

/// A function of [`FUNCTIONS`] over a column of [`VALUES`]; `whole` says that its frame is the partition, and `units` where it ends else. A frame that
/// ends with the row may begin some rows before it, `preceding`.
#[derive(Debug, Clone)]
struct Call {
    function: &'static str,
    column: &'static str,
    units: WindowFrameUnits,
    whole: bool,
    preceding: Option<u64>,
}

impl Call {
    fn is_rank(&self) -> bool {
        FUNCTIONS[..3].contains(&self.function)
    }

    fn is_of_windows(&self) -> bool {
        FUNCTIONS[..7].contains(&self.function)
    }

    /// Rows before the row that are in its frame, if not all are.
    fn preceding(&self) -> Option<u64> {
        let is_of_rows = self.units == WindowFrameUnits::Rows && !self.whole;
        self.preceding.filter(|_| is_of_rows)
    }

    fn frame(&self) -> WindowFrame {
        let end = if self.whole {
            WindowFrameBound::Following(ScalarValue::UInt64(None))
        } else {
            WindowFrameBound::CurrentRow
        };
        let start = WindowFrameBound::Preceding(ScalarValue::UInt64(self.preceding()));
        WindowFrame::new_bounds(self.units, start, end)
    }

    fn expr(&self, state: &SessionState, schema: &SchemaRef) -> Arc<dyn WindowExpr> {
        let (function, arguments) = if self.is_of_windows() {
            let function = Arc::clone(&state.window_functions()[self.function]);
            let argument = (!self.is_rank()).then(|| column(self.column, schema));
            (
                WindowFunctionDefinition::WindowUDF(function),
                Vec::from_iter(argument),
            )
        } else {
            let function = Arc::clone(&state.aggregate_functions()[self.function]);
            let argument = column(self.column, schema);
            (
                WindowFunctionDefinition::AggregateUDF(function),
                vec![argument],
            )
        };
        create_window_expr(
            &function,
            "result".to_owned(),
            &arguments,
            &[column("partition", schema)],
            &[PhysicalSortExpr::new(
                column("order", schema),
                SortOptions::default(),
            )],
            Arc::new(self.frame()),
            Arc::clone(schema),
            false,
            false,
            None,
        )
        .unwrap()
    }

    /// The result for a row of a partition that is in order.
    fn expected(&self, partition: &[Row], row: usize) -> Option<f64> {
        let order = |other: &Row| other.1;
        let own = order(&partition[row]);
        let peers_start = partition.iter().position(|it| order(it) == own).unwrap();
        match self.function {
            "row_number" => return Some(row as f64 + 1.0),
            "rank" => return Some(peers_start as f64 + 1.0),
            "dense_rank" => {
                let mut orders: Vec<_> = partition[..=row].iter().map(order).collect();
                orders.dedup();
                return Some(orders.len() as f64);
            }
            _ => {}
        }
        let end = match self.units {
            _ if self.whole => partition.len(),
            WindowFrameUnits::Rows => row + 1,
            _ => partition.iter().rposition(|it| order(it) == own).unwrap() + 1,
        };
        let scale = if self.column == "decimal" { 100.0 } else { 1.0 };
        let start = self.preceding();
        let start = start.map_or(0, |rows| row.saturating_sub(rows as usize));
        let neighbour = match self.function {
            "lag" => Some(row.checked_sub(1)),
            "lead" => Some(Some(row + 1)),
            "first_value" => Some(Some(start)),
            "last_value" => Some(Some(end - 1)),
            _ => None,
        };
        if let Some(neighbour) = neighbour {
            let value = partition.get(neighbour?)?.2?;
            return Some(f64::from(value) / scale);
        }
        let values = partition[start..end].iter().filter_map(|row| row.2);
        let values: Vec<f64> = values.map(|value| f64::from(value) / scale).collect();
        let count = values.len() as f64;
        match self.function {
            "count" => Some(count),
            _ if values.is_empty() => None,
            "sum" => Some(values.iter().sum()),
            "avg" => Some(values.iter().sum::<f64>() / count),
            "min" => values.into_iter().reduce(f64::min),
            _ => values.into_iter().reduce(f64::max),
        }
    }
}

fn column(name: &str, schema: &SchemaRef) -> Arc<dyn PhysicalExpr> {
    Arc::new(Column::new_with_schema(name, schema).unwrap())
}

fn batch(rows: &[Row]) -> RecordBatch {
    let values = || rows.iter().map(|row| row.2);
    let texts = rows.iter().map(|row| {
        row.0
            .map(|key| format!("a key that is not inline, number {key}"))
    });
    let decimals: Decimal128Array = values().map(|value| value.map(i128::from)).collect();
    let columns: [(&str, ArrayRef); 5] = [
        ("partition", Arc::new(texts.collect::<StringViewArray>())),
        (
            "order",
            Arc::new(
                rows.iter()
                    .map(|row| row.1.map(i32::from))
                    .collect::<Int32Array>(),
            ),
        ),
        (
            "integer",
            Arc::new(
                values()
                    .map(|value| value.map(i64::from))
                    .collect::<Int64Array>(),
            ),
        ),
        (
            "decimal",
            Arc::new(decimals.with_precision_and_scale(10, 2).unwrap()),
        ),
        (
            "float",
            Arc::new(
                values()
                    .map(|value| value.map(f64::from))
                    .collect::<Float64Array>(),
            ),
        ),
    ];
    let columns = columns.map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// The rows in batches of these sizes, and the rest in one.
fn batches(rows: &[Row], sizes: &[usize]) -> Vec<RecordBatch> {
    let mut rest = rows;
    let mut batches = Vec::new();
    for size in sizes {
        let (first, others) = rest.split_at(rest.len().min(*size));
        batches.push(batch(first));
        rest = others;
    }
    batches.push(batch(rest));
    batches
}

fn state() -> SessionState {
    let mut state = SessionContext::new().state();
    quire_functions::register_pure(&mut state).unwrap();
    state
}

fn sorted_input(batches: Vec<RecordBatch>) -> Arc<dyn ExecutionPlan> {
    let schema = batches[0].schema();
    let keys = ["partition", "order"]
        .map(|name| PhysicalSortExpr::new(column(name, &schema), SortOptions::default()));
    let order = LexOrdering::new(keys).unwrap();
    let rows = MemorySourceConfig::try_new(&[batches], schema, None).unwrap();
    let rows = rows.try_with_sort_information(vec![order]).unwrap();
    DataSourceExec::from_data_source(rows)
}

fn window(calls: Vec<Arc<dyn WindowExpr>>, batches: Vec<RecordBatch>) -> Arc<dyn ExecutionPlan> {
    let window = WindowAggExec::try_new(calls, sorted_input(batches), false).unwrap();
    Arc::new(window)
}

async fn computed(calls: &[Call], rows: &[Row], sizes: &[usize]) -> RecordBatch {
    let (state, batches) = (state(), batches(rows, sizes));
    let schema = batches[0].schema();
    let exprs = calls.iter().map(|call| call.expr(&state, &schema));
    let window = window(exprs.collect(), batches);
    let replaced = sorted_windows(&window, LARGE).unwrap().unwrap();
    let found = collect(Arc::clone(&replaced), state.task_ctx())
        .await
        .unwrap();
    assert!(found.iter().all(|batch| batch.num_rows() > 0));
    concat_batches(&replaced.schema(), &found).unwrap()
}

fn results(rows: &RecordBatch, place: usize) -> Vec<Option<f64>> {
    let column = cast(rows.column(place), &DataType::Float64).unwrap();
    column.as_primitive::<Float64Type>().iter().collect()
}

fn call() -> impl Strategy<Value = Call> {
    let parts = (
        prop::sample::select(&FUNCTIONS[..]),
        prop::sample::select(&VALUES[..]),
        prop::sample::select(&ENDS[..]),
        any::<bool>(),
        prop::option::of(0..5_u64),
    );
    parts.prop_map(|(function, column, units, whole, preceding)| Call {
        function,
        column: match function {
            "min" | "max" if column == "float" => "integer",
            _ => column,
        },
        units,
        whole,
        preceding,
    })
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let key = || prop::option::weighted(0.8, 0..4_u8);
    let row = (key(), key(), prop::option::weighted(0.8, any::<i8>()));
    prop::collection::vec(row, 0..60).prop_map(|mut rows| {
        rows.sort_by_key(|row| (row.0, row.1));
        rows
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn results_are_those_of_each_row(
        calls in prop::collection::vec(call(), 1..5),
        rows in rows(),
        sizes in prop::collection::vec(0..12_usize, 0..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let found = runtime.block_on(computed(&calls, &rows, &sizes));
        prop_assert_eq!(found.num_rows(), rows.len());
        let given: Vec<usize> = (0..5).collect();
        prop_assert_eq!(found.project(&given).unwrap(), batch(&rows));
        let partitions = rows.chunk_by(|one, other| one.0 == other.0);
        let places: Vec<_> = partitions
            .flat_map(|rows| (0..rows.len()).map(move |row| (rows, row)))
            .collect();
        for (number, call) in calls.iter().enumerate() {
            let results = results(&found, 5 + number);
            for ((partition, row), result) in places.iter().zip(results) {
                let expected = call.expected(partition, *row);
                let is_near = match (result, expected) {
                    (Some(result), Some(expected)) => (result - expected).abs() < 1e-5,
                    (result, expected) => result == expected,
                };
                prop_assert!(is_near, "{:?}: {:?} for {:?}", call, result, expected);
            }
        }
    }
}

/// One partition of 20,000 rows.
fn one_partition() -> Vec<RecordBatch> {
    let rows: Vec<Row> = (0..20_000).map(|_| (Some(1), None, Some(1))).collect();
    batches(&rows, &[1000; 20])
}

async fn within_memory(
    bytes: usize,
    function: &'static str,
    whole: bool,
) -> Result<Vec<RecordBatch>> {
    let batches = one_partition();
    let call = Call {
        function,
        column: "integer",
        units: WindowFrameUnits::Rows,
        whole,
        preceding: None,
    };
    let expr = call.expr(&state(), &batches[0].schema());
    let window = window(vec![expr], batches);
    let replaced = sorted_windows(&window, LARGE).unwrap().unwrap();
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(bytes, 1.0);
    let context =
        SessionContext::new_with_config_rt(SessionConfig::new(), runtime.build_arc().unwrap());
    collect(replaced, context.task_ctx()).await
}

#[tokio::test]
async fn rows_of_a_whole_partition_are_reserved() {
    for function in ["sum", "lead"] {
        assert!(within_memory(10_000_000, function, true).await.is_ok());
        let error = within_memory(100_000, function, true).await.unwrap_err();
        assert!(crate::optimize::is_out_of_memory(&error), "{error}");
    }
}

#[tokio::test]
async fn a_running_frame_keeps_no_rows() {
    let found = within_memory(10, "sum", false).await.unwrap();
    let rows: usize = found.iter().map(RecordBatch::num_rows).sum();
    assert_eq!((rows, found.len()), (20_000, 20));
}

/// A window that DataFusion computes of some rows at a time stays where a partition may not fit into memory.
#[test]
fn what_needs_a_few_rows_does_not_get_all() {
    let (state, batches) = (state(), one_partition());
    let schema = batches[0].schema();
    let replaced = |function, holding| {
        let call = Call {
            function,
            column: "integer",
            units: WindowFrameUnits::Rows,
            whole: false,
            preceding: None,
        };
        let calls = vec![call.expr(&state, &schema)];
        let input = sorted_input(batches.clone());
        let mode = InputOrderMode::Sorted;
        let window = BoundedWindowAggExec::try_new(calls, input, mode, false).unwrap();
        let window: Arc<dyn ExecutionPlan> = Arc::new(window);
        sorted_windows(&window, holding).unwrap().is_some()
    };
    assert!(replaced("sum", Holding::Within(1000)));
    assert!(replaced("lag", LARGE));
    assert!(!replaced("lag", Holding::Within(1000)));
}
