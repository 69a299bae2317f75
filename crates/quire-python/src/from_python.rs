//! Python objects as values of parameters.

use arrow::datatypes::{DataType, Field, TimeUnit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyBytes, PyDate, PyDateTime, PyDelta, PyFloat, PyInt, PyList, PyString, PyTime,
    PyTuple, PyType,
};
use quire::Value;

use crate::errors;

const MICROSECONDS_PER_DAY: i64 = 86_400_000_000;

/// The values of one run of a statement, each with its type where the value or the statement tells it.
#[derive(Default)]
pub struct Parameters {
    pub values: Vec<Value>,
    pub types: Vec<Option<DataType>>,
}

/// The objects of a sequence as values; `declared` is what the statement tells of their types.
pub fn parameters(
    objects: &Bound<'_, PyAny>,
    declared: &[Option<DataType>],
) -> PyResult<Parameters> {
    let py = objects.py();
    let is_plain = objects.is_instance_of::<PyTuple>() || objects.is_instance_of::<PyList>();
    let is_text = objects.is_instance_of::<PyString>() || objects.is_instance_of::<PyBytes>();
    if !is_plain && (is_text || objects.hasattr("keys")?) {
        let text = "the parameters must be a sequence, such as a tuple or a list";
        let hint = "Parameters have places, ? or $1, and no names. A single one is (value,).";
        return Err(errors::programming(py, text, Some(hint)));
    }
    let mut found = Parameters::default();
    for (number, object) in objects.try_iter()?.enumerate() {
        // Of a parameter beside another the planner says that it is NULL, which it need not be.
        let declared = declared.get(number).and_then(Option::as_ref);
        let declared = declared.filter(|data_type| **data_type != DataType::Null);
        let (value, data_type) = value(&object?, declared, number)?;
        found.values.push(value);
        found.types.push(data_type);
    }
    if found.values.len() != declared.len() {
        let (given, expected) = (found.values.len(), declared.len());
        let text = format!("the statement has {expected} parameters, but {given} values are given");
        return Err(errors::programming(py, &text, None));
    }
    Ok(found)
}

type Typed = (Value, Option<DataType>);

fn value(object: &Bound<'_, PyAny>, declared: Option<&DataType>, number: usize) -> PyResult<Typed> {
    let plain = |value| Ok((value, declared.cloned()));
    if object.is_none() {
        return plain(Value::Null);
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return plain(Value::Boolean(value.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return integer(object, declared);
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return plain(Value::Double(value.value()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return plain(text_value(&text.to_cow()?));
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return plain(Value::Bytes(bytes.as_bytes().into()));
    }
    rare_value(object, declared, number)
}

fn text_value(text: &str) -> Value {
    Value::Text(text.into())
}

fn integer(object: &Bound<'_, PyAny>, declared: Option<&DataType>) -> PyResult<Typed> {
    if let Ok(value) = object.extract::<i64>() {
        return Ok((Value::Integer(value), declared.cloned()));
    }
    let text = object.str()?.to_string();
    match (declared, text.parse::<i128>()) {
        (Some(declared), _) => Ok((text_value(&text), Some(declared.clone()))),
        (None, Ok(value)) if text.trim_start_matches('-').len() <= 38 => Ok((
            Value::Decimal(value.into()),
            Some(DataType::Decimal128(38, 0)),
        )),
        _ => {
            let text = "an integer has more digits than SQL's numbers, which have 38";
            Err(errors::data(object.py(), text, None))
        }
    }
}

/// Objects that are neither numbers nor texts.
fn rare_value(
    object: &Bound<'_, PyAny>,
    declared: Option<&DataType>,
    number: usize,
) -> PyResult<Typed> {
    static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static UUID: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = object.py();
    let class = object.get_type();
    let (class_name, module) = (class.name()?.to_string(), class.module()?.to_string());
    if module.starts_with("pandas") && matches!(class_name.as_str(), "NaTType" | "NAType") {
        return Ok((Value::Null, declared.cloned()));
    }
    if object.is_instance(DECIMAL.import(py, "decimal", "Decimal")?)? {
        return decimal(object, declared);
    }
    if let Ok(point) = object.cast::<PyDateTime>() {
        return timestamp(point, declared);
    }
    if let Ok(date) = object.cast::<PyDate>() {
        return self::date(date, declared);
    }
    if object.is_instance_of::<PyTime>() {
        let text = object.call_method0("isoformat")?.to_string();
        return Ok((text_value(&text), Some(DataType::Utf8)));
    }
    if let Ok(span) = object.cast::<PyDelta>() {
        return interval(span);
    }
    if object.is_instance(UUID.import(py, "uuid", "UUID")?)? {
        return Ok((text_value(&object.str()?.to_cow()?), declared.cloned()));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return array(object, declared, number);
    }
    if module == "numpy" && object.hasattr("item")? {
        return value(&object.call_method0("item")?, declared, number);
    }
    if matches!(class_name.as_str(), "bytearray" | "memoryview") {
        let bytes = py.get_type::<PyBytes>().call1((object,))?;
        return value(&bytes, declared, number);
    }
    let text = format!(
        "parameter {}: SQL has no value for a {class_name}",
        number + 1
    );
    Err(errors::programming(
        py,
        &text,
        Some("Convert it, for example to str."),
    ))
}

fn decimal(object: &Bound<'_, PyAny>, declared: Option<&DataType>) -> PyResult<Typed> {
    let text = object.call_method1("__format__", ("f",))?.to_string();
    if matches!(declared, Some(DataType::Float32 | DataType::Float64)) {
        return Ok((Value::Double(object.extract()?), declared.cloned()));
    }
    let Some((unscaled, scale)) = unscaled(&text) else {
        // Not a number, infinite, or too long: the database says what is wrong with it.
        return Ok((text_value(&text), declared.cloned()));
    };
    let digits = unscaled.unsigned_abs().to_string().len();
    match declared {
        Some(DataType::Decimal128(_, places)) if scale <= *places => {
            let factor = 10_i128.checked_pow(u32::from((places - scale).unsigned_abs()));
            match factor.and_then(|factor| unscaled.checked_mul(factor)) {
                Some(scaled) => Ok((Value::Decimal(scaled.into()), declared.cloned())),
                None => Ok((text_value(&text), declared.cloned())),
            }
        }
        Some(_) => Ok((text_value(&text), declared.cloned())),
        None => {
            let precision = digits.max(usize::from(scale.unsigned_abs())).max(1);
            let precision = u8::try_from(precision).unwrap_or(38);
            let data_type = DataType::Decimal128(precision, scale);
            Ok((Value::Decimal(unscaled.into()), Some(data_type)))
        }
    }
}

/// A decimal number without its point, and its digits behind the point; at most 38 digits.
fn unscaled(text: &str) -> Option<(i128, i8)> {
    let (before, behind) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{before}{behind}");
    let count = digits.trim_start_matches('-').trim_start_matches('0').len();
    let scale = i8::try_from(behind.len()).ok()?;
    (count <= 38 && scale <= 38).then_some((digits.parse().ok()?, scale))
}

/// Days since 1970-01-01.
fn days_of(date: &Bound<'_, PyAny>) -> PyResult<i64> {
    /// What Python calls the first of January 1970, counted from the first day of year 1.
    const ORDINAL_1970: i64 = 719_163;
    Ok(date.call_method0("toordinal")?.extract::<i64>()? - ORDINAL_1970)
}

fn date(date: &Bound<'_, PyDate>, declared: Option<&DataType>) -> PyResult<Typed> {
    let days = days_of(date)?;
    Ok(match declared {
        None | Some(DataType::Date32) => (Value::Integer(days), Some(DataType::Date32)),
        Some(DataType::Timestamp(..)) => (
            Value::Integer(days * MICROSECONDS_PER_DAY),
            declared.cloned(),
        ),
        Some(_) => (text_value(&date.str()?.to_cow()?), declared.cloned()),
    })
}

fn timestamp(point: &Bound<'_, PyDateTime>, declared: Option<&DataType>) -> PyResult<Typed> {
    let field = |name: &str| point.getattr(name)?.extract::<i64>();
    let seconds = (field("hour")? * 60 + field("minute")?) * 60 + field("second")?;
    let mut microseconds =
        days_of(point)? * MICROSECONDS_PER_DAY + seconds * 1_000_000 + field("microsecond")?;
    let offset = point.call_method0("utcoffset")?;
    let is_aware = !offset.is_none();
    if is_aware {
        microseconds -= delta_microseconds(&offset)?;
    }
    let natural = || {
        let zone = is_aware.then(|| "+00:00".into());
        DataType::Timestamp(TimeUnit::Microsecond, zone)
    };
    Ok(match declared {
        None => (Value::Integer(microseconds), Some(natural())),
        Some(DataType::Timestamp(TimeUnit::Microsecond, _)) => {
            (Value::Integer(microseconds), declared.cloned())
        }
        Some(DataType::Date32) => {
            let days = microseconds.div_euclid(MICROSECONDS_PER_DAY);
            (Value::Integer(days), declared.cloned())
        }
        Some(_) => (text_value(&point.str()?.to_cow()?), declared.cloned()),
    })
}

fn delta_microseconds(span: &Bound<'_, PyAny>) -> PyResult<i64> {
    let field = |name: &str| span.getattr(name)?.extract::<i64>();
    Ok(field("days")? * MICROSECONDS_PER_DAY
        + field("seconds")? * 1_000_000
        + field("microseconds")?)
}

fn interval(span: &Bound<'_, PyDelta>) -> PyResult<Typed> {
    let field = |name: &str| span.getattr(name)?.extract::<i64>();
    let (days, seconds, microseconds) = (field("days")?, field("seconds")?, field("microseconds")?);
    let text = format!("{days} days {seconds}.{microseconds:06} seconds");
    Ok((text_value(&text), Some(DataType::Utf8)))
}

/// An array is its text, `{1,NULL,"a"}`, with the type of its elements.
fn array(
    elements: &Bound<'_, PyAny>,
    declared: Option<&DataType>,
    number: usize,
) -> PyResult<Typed> {
    let element_type = match declared {
        Some(DataType::List(element)) => Some(element.data_type().clone()),
        _ => None,
    };
    let mut natural: Option<DataType> = element_type.clone();
    let mut texts = Vec::new();
    for element in elements.try_iter()? {
        let element = element?;
        if element.is_none() {
            texts.push("NULL".to_owned());
            continue;
        }
        let (value, data_type) = value(&element, None, number)?;
        natural = natural.or(data_type).or(match value {
            Value::Boolean(_) => Some(DataType::Boolean),
            Value::Integer(_) => Some(DataType::Int64),
            Value::Double(_) => Some(DataType::Float64),
            _ => Some(DataType::Utf8),
        });
        let text = element
            .str()?
            .to_string()
            .replace('\\', "\\\\")
            .replace('"', "\\\"");
        texts.push(format!("\"{text}\""));
    }
    let data_type = natural.unwrap_or(DataType::Utf8);
    let data_type = DataType::List(std::sync::Arc::new(Field::new_list_field(data_type, true)));
    Ok((
        text_value(&format!("{{{}}}", texts.join(","))),
        Some(data_type),
    ))
}
