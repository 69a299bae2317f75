//! Arrow arrays as Python objects, a column at a time.

use std::collections::HashMap;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType, IntervalUnit, Time64MicrosecondType,
    TimeUnit, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyList, PyString, PyTuple, PyType};

use crate::errors;

const MICROSECONDS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
/// As PostgreSQL's drivers for Python count them.
const DAYS_PER_MONTH: i64 = 30;

type Objects<'py> = PyResult<Vec<Bound<'py, PyAny>>>;

/// The rows of a batch as tuples.
pub fn tuples<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    let schema = batch.schema();
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(array, field)| objects(py, array, field.name()));
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    let none = py.None().into_bound(py);
    let tuple = |_| {
        let values = columns.iter_mut();
        PyTuple::new(
            py,
            values.map(|column| column.next().unwrap_or_else(|| none.clone())),
        )
    };
    (0..batch.num_rows()).map(tuple).collect()
}

/// Each value of an array that is not NULL by `make`.
fn each<'py, A: Array>(
    py: Python<'py>,
    array: &A,
    mut make: impl FnMut(&A, usize) -> PyResult<Bound<'py, PyAny>>,
) -> Objects<'py> {
    let none = py.None().into_bound(py);
    let object = |row| {
        if array.is_null(row) {
            Ok(none.clone())
        } else {
            make(array, row)
        }
    };
    (0..array.len()).map(object).collect()
}

macro_rules! numbers {
    ($py:ident, $array:ident, $type:ty) => {
        each($py, $array.as_primitive::<$type>(), |array, row| {
            array.value(row).into_bound_py_any($py)
        })
    };
}

fn objects<'py>(py: Python<'py>, array: &ArrayRef, name: &str) -> Objects<'py> {
    match array.data_type() {
        DataType::Null => each(py, array, |_, _| Ok(py.None().into_bound(py))),
        DataType::Boolean => each(py, array.as_boolean(), |array, row| {
            Ok(PyBool::new(py, array.value(row)).to_owned().into_any())
        }),
        DataType::Int8 => numbers!(py, array, Int8Type),
        DataType::Int16 => numbers!(py, array, Int16Type),
        DataType::Int32 => numbers!(py, array, Int32Type),
        DataType::Int64 => numbers!(py, array, Int64Type),
        DataType::UInt8 => numbers!(py, array, UInt8Type),
        DataType::UInt16 => numbers!(py, array, UInt16Type),
        DataType::UInt32 => numbers!(py, array, UInt32Type),
        DataType::UInt64 => numbers!(py, array, UInt64Type),
        DataType::Float32 => each(py, array.as_primitive::<Float32Type>(), |array, row| {
            Ok(PyFloat::new(py, f64::from(array.value(row))).into_any())
        }),
        DataType::Float64 => each(py, array.as_primitive::<Float64Type>(), |array, row| {
            Ok(PyFloat::new(py, array.value(row)).into_any())
        }),
        DataType::Decimal128(..) | DataType::Decimal256(..) => decimals(py, array),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => texts(py, array),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => binaries(py, array),
        DataType::Date32 => dates(py, array, name),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            timestamps(py, array, name, zone.is_some())
        }
        DataType::Time64(TimeUnit::Microsecond) => times(py, array),
        DataType::Interval(IntervalUnit::MonthDayNano) => intervals(py, array, name),
        DataType::List(_) => each(py, array.as_list::<i32>(), |array, row| {
            let elements = objects(py, &array.value(row), name)?;
            Ok(PyList::new(py, elements)?.into_any())
        }),
        DataType::Struct(_) => structs(py, array, name),
        other => match counterpart(other) {
            Some(simpler) => {
                let simpler = cast(array, &simpler).map_err(|error| {
                    let text = format!("column \"{name}\": {error}");
                    errors::data(py, &text, None)
                })?;
                objects(py, &simpler, name)
            }
            None => {
                let text =
                    format!("column \"{name}\" has the type {other}, which Python does not have");
                let hint = format!("Cast it in the statement: CAST({name} AS TEXT).");
                Err(errors::own(
                    py,
                    "NotSupportedError",
                    "0A000",
                    &text,
                    Some(&hint),
                ))
            }
        },
    }
}

/// A type of which there are objects, for one of which there are none.
fn counterpart(data_type: &DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Float16 => DataType::Float32,
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Date64 => DataType::Date32,
        DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
        DataType::Time32(_) | DataType::Time64(_) => DataType::Time64(TimeUnit::Microsecond),
        DataType::Duration(_) | DataType::Interval(_) => {
            DataType::Interval(IntervalUnit::MonthDayNano)
        }
        DataType::FixedSizeBinary(_) => DataType::Binary,
        DataType::LargeList(element) | DataType::FixedSizeList(element, _) => {
            DataType::List(element.clone())
        }
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        _ => return None,
    })
}

fn class<'py>(
    py: Python<'py>,
    known: &'static PyOnceLock<Py<PyType>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyType>> {
    known.import(py, module, name)
}

/// Values that come again are made once.
fn decimals<'py>(py: Python<'py>, array: &ArrayRef) -> Objects<'py> {
    static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = class(py, &DECIMAL, "decimal", "Decimal")?;
    if array.as_primitive_opt::<Decimal256Type>().is_some() {
        return each(py, array.as_primitive::<Decimal256Type>(), |array, row| {
            class.call1((array.value_as_string(row),))
        });
    }
    let mut made: HashMap<i128, Bound<'py, PyAny>> = HashMap::new();
    each(py, array.as_primitive::<Decimal128Type>(), |array, row| {
        let value = array.value(row);
        if let Some(known) = made.get(&value) {
            return Ok(known.clone());
        }
        let decimal = class.call1((array.value_as_string(row),))?;
        made.insert(value, decimal.clone());
        Ok(decimal)
    })
}

fn texts<'py>(py: Python<'py>, array: &ArrayRef) -> Objects<'py> {
    let text = |text: &str| Ok(PyString::new(py, text).into_any());
    match array.data_type() {
        DataType::Utf8View => each(py, array.as_string_view(), |a, row| text(a.value(row))),
        DataType::LargeUtf8 => each(py, array.as_string::<i64>(), |a, row| text(a.value(row))),
        _ => each(py, array.as_string::<i32>(), |a, row| text(a.value(row))),
    }
}

fn binaries<'py>(py: Python<'py>, array: &ArrayRef) -> Objects<'py> {
    let bytes = |bytes: &[u8]| Ok(PyBytes::new(py, bytes).into_any());
    match array.data_type() {
        DataType::BinaryView => each(py, array.as_binary_view(), |a, row| bytes(a.value(row))),
        DataType::LargeBinary => each(py, array.as_binary::<i64>(), |a, row| bytes(a.value(row))),
        _ => each(py, array.as_binary::<i32>(), |a, row| bytes(a.value(row))),
    }
}

fn out_of_range(py: Python<'_>, name: &str, what: &str, text: &str) -> PyErr {
    let message =
        format!("column \"{name}\": Python has no {what} {text}: its years are 1 to 9999");
    let hint = format!("Read it as text, CAST({name} AS TEXT), or as Arrow.");
    errors::data(py, &message, Some(&hint))
}

/// Days since 1970-01-01 as year, month and day of the Gregorian calendar.
fn civil(days: i64) -> (i64, u8, u8) {
    // By H. Hinnant, "chrono-compatible low-level date algorithms": years begin in March, eras have 400 of them.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month as u8, day as u8)
}

fn dates<'py>(py: Python<'py>, array: &ArrayRef, name: &str) -> Objects<'py> {
    static DATE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = class(py, &DATE, "datetime", "date")?;
    let mut made: HashMap<i32, Bound<'py, PyAny>> = HashMap::new();
    each(py, array.as_primitive::<Date32Type>(), |array, row| {
        let days = array.value(row);
        if let Some(known) = made.get(&days) {
            return Ok(known.clone());
        }
        let (year, month, day) = civil(days.into());
        if !(1..=9999).contains(&year) {
            let mut text = String::new();
            quire_text::temporal::write_date(days.into(), &mut text);
            return Err(out_of_range(py, name, "date", &text));
        }
        let date = class.call1((year, month, day))?;
        made.insert(days, date.clone());
        Ok(date)
    })
}

/// Hour, minute, second and microsecond of a time of day.
fn clock(microseconds: i64) -> (i64, i64, i64, i64) {
    let seconds = microseconds / MICROSECONDS_PER_SECOND;
    (
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        microseconds % MICROSECONDS_PER_SECOND,
    )
}

fn timestamps<'py>(py: Python<'py>, array: &ArrayRef, name: &str, is_utc: bool) -> Objects<'py> {
    static DATETIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static TIMEZONE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = self::class(py, &DATETIME, "datetime", "datetime")?;
    let zone = if is_utc {
        self::class(py, &TIMEZONE, "datetime", "timezone")?.getattr("utc")?
    } else {
        py.None().into_bound(py)
    };
    each(
        py,
        array.as_primitive::<TimestampMicrosecondType>(),
        |array, row| {
            let ticks = array.value(row);
            let day_ticks = SECONDS_PER_DAY * MICROSECONDS_PER_SECOND;
            let (year, month, day) = civil(ticks.div_euclid(day_ticks));
            if !(1..=9999).contains(&year) {
                let mut text = String::new();
                let offset = is_utc.then_some(0);
                quire_text::temporal::write_timestamp(
                    ticks,
                    MICROSECONDS_PER_SECOND,
                    offset,
                    &mut text,
                );
                return Err(out_of_range(py, name, "datetime", &text));
            }
            let (hour, minute, second, microsecond) = clock(ticks.rem_euclid(day_ticks));
            class.call1((year, month, day, hour, minute, second, microsecond, &zone))
        },
    )
}

fn times<'py>(py: Python<'py>, array: &ArrayRef) -> Objects<'py> {
    static TIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = class(py, &TIME, "datetime", "time")?;
    each(
        py,
        array.as_primitive::<Time64MicrosecondType>(),
        |array, row| class.call1(clock(array.value(row))),
    )
}

fn intervals<'py>(py: Python<'py>, array: &ArrayRef, name: &str) -> Objects<'py> {
    static TIMEDELTA: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = class(py, &TIMEDELTA, "datetime", "timedelta")?;
    each(
        py,
        array.as_primitive::<IntervalMonthDayNanoType>(),
        |array, row| {
            let interval = array.value(row);
            let days = i64::from(interval.months) * DAYS_PER_MONTH + i64::from(interval.days);
            if interval.nanoseconds % 1000 != 0 {
                let text =
                    format!("column \"{name}\": an interval has nanoseconds, a timedelta has none");
                return Err(errors::data(
                    py,
                    &text,
                    Some("Read it as text or as Arrow."),
                ));
            }
            class.call1((days, 0, interval.nanoseconds / 1000))
        },
    )
}

fn structs<'py>(py: Python<'py>, array: &ArrayRef, name: &str) -> Objects<'py> {
    let rows = array.as_struct();
    let fields = rows
        .columns()
        .iter()
        .map(|column| objects(py, column, name));
    let fields = fields.collect::<PyResult<Vec<_>>>()?;
    each(py, rows, |rows, row| {
        let dictionary = PyDict::new(py);
        for (field, values) in rows.fields().iter().zip(&fields) {
            dictionary.set_item(field.name(), values.get(row))?;
        }
        Ok(dictionary.into_any())
    })
}
