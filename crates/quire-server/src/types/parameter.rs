//! What a client's bytes for a parameter mean.

use quire::Value;
use quire::arrow::datatypes::DataType;

use super::PgType;
use super::array_parameter::array_text;
use super::format::WireFormat;
use super::numeric::{NumericError, WireDecimal, parse_numeric, read_numeric};
use super::parameter_error::ParameterError;
use super::scalar_parameter::{from_binary, from_text, malformed, utf8};

/// A parameter of a statement: how its bytes are read, and the type that its value has in the statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    /// As clients are told.
    oid: u32,
    wire: PgType,
    target: DataType,
}

impl Parameter {
    /// What the client declares, 0 if nothing, and what the statement tells, decide together. Within one family of types the
    /// statement does, for it is its column that is compared or filled; a declared text is what clients say that leave it to the
    /// server.
    pub(crate) fn new(declared: u32, told: Option<&DataType>) -> Self {
        let declared = Some(declared)
            .filter(|oid| *oid != 0)
            .map(|oid| (oid, PgType::of_oid(oid)));
        match (declared, told) {
            (None, None) => Self::plain(25, PgType::Text),
            (None, Some(told)) => {
                let wire = PgType::of(told);
                Self {
                    oid: wire.oid(),
                    wire,
                    target: told.clone(),
                }
            }
            // A type that we do not know is read as text.
            (Some((oid, wire)), None) => Self::plain(oid, wire.unwrap_or(PgType::Text)),
            (Some((oid, wire)), Some(told)) => {
                let wire = wire.unwrap_or(PgType::Text);
                let of_statement = PgType::of(told);
                if wire == PgType::Text && of_statement != PgType::Text {
                    Self {
                        oid,
                        wire: of_statement,
                        target: told.clone(),
                    }
                } else if wire.family() == of_statement.family() {
                    Self {
                        oid,
                        wire,
                        target: told.clone(),
                    }
                } else {
                    Self::plain(oid, wire)
                }
            }
        }
    }

    fn plain(oid: u32, wire: PgType) -> Self {
        Self {
            oid,
            target: wire.data_type(),
            wire,
        }
    }

    pub(crate) fn oid(&self) -> u32 {
        self.oid
    }

    pub(crate) fn data_type(&self) -> &DataType {
        &self.target
    }

    /// The value, and its type where that has to be another than [`Parameter::data_type`] for the value to fit.
    pub(crate) fn decode(
        &self,
        format: WireFormat,
        bytes: Option<&[u8]>,
    ) -> Result<(Value, Option<DataType>), ParameterError> {
        let Some(bytes) = bytes else {
            return Ok((Value::Null, None));
        };
        if let PgType::Numeric { .. } = self.wire {
            return self.decimal(format, bytes);
        }
        let value = match format {
            WireFormat::Text => from_text(utf8(bytes)?, &self.wire)?,
            // The statement makes numbers of a text that is declared as one.
            WireFormat::Binary if matches!(self.oid, 25 | 1043) => {
                from_text(utf8(bytes)?, &self.wire)?
            }
            WireFormat::Binary => match &self.wire {
                PgType::Array(element) => Value::Text(array_text(bytes, element)?.into()),
                wire => from_binary(bytes, wire)?,
            },
        };
        let wider = match (&value, &self.target) {
            (Value::Integer(value), DataType::Int32) => i32::try_from(*value).is_err(),
            (Value::Integer(value), DataType::Int16) => i16::try_from(*value).is_err(),
            (Value::Double(_), DataType::Float32) => {
                return Ok((value, Some(DataType::Float64)));
            }
            (Value::Real(value), DataType::Float64) => {
                return Ok((Value::Double(f64::from(*value)), None));
            }
            _ => false,
        };
        Ok((value, wider.then_some(DataType::Int64)))
    }

    fn decimal(
        &self,
        format: WireFormat,
        bytes: &[u8],
    ) -> Result<(Value, Option<DataType>), ParameterError> {
        let read = match format {
            WireFormat::Text => parse_numeric(utf8(bytes)?),
            WireFormat::Binary => read_numeric(bytes),
        };
        let decimal: WireDecimal = read.map_err(|error| match (error, format) {
            (NumericError::OutOfRange, _) => ParameterError::OutOfRange("numeric"),
            (NumericError::Malformed, WireFormat::Binary) => ParameterError::Binary("numeric"),
            (NumericError::Malformed, WireFormat::Text) => malformed(&self.wire, bytes),
        })?;
        if let DataType::Decimal128(precision, scale) = self.target
            && let Some(units) = u8::try_from(scale)
                .ok()
                .and_then(|scale| decimal.with_scale(scale))
            && units.unsigned_abs() < 10_u128.pow(u32::from(precision).min(38))
        {
            return Ok((Value::Decimal(units.into()), None));
        }
        // It has digits that the type has no room for; the statement decides what becomes of them.
        let fitting = DataType::Decimal128(38, decimal.scale.cast_signed());
        Ok((Value::Decimal(decimal.units.into()), Some(fitting)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(
        parameter: &Parameter,
        text: &str,
    ) -> Result<(Value, Option<DataType>), ParameterError> {
        parameter.decode(WireFormat::Text, Some(text.as_bytes()))
    }

    #[test]
    fn client_and_statement_decide_the_type() {
        let told = |oid, told: &DataType| Parameter::new(oid, Some(told)).target;
        assert_eq!(told(0, &DataType::Int32), DataType::Int32);
        assert_eq!(told(21, &DataType::Int64), DataType::Int64);
        assert_eq!(told(25, &DataType::Int32), DataType::Int32);
        assert_eq!(told(23, &DataType::Utf8View), DataType::Int32);
        assert_eq!(
            told(1700, &DataType::Decimal128(10, 2)),
            DataType::Decimal128(10, 2)
        );
        assert_eq!(Parameter::new(0, None).oid(), 25);
        assert_eq!(Parameter::new(23, Some(&DataType::Int64)).oid(), 23);
    }

    #[test]
    fn values_that_do_not_fit_the_statement_keep_their_own_type() {
        let column = Parameter::new(20, Some(&DataType::Int32));
        assert_eq!(text(&column, "5").unwrap(), (Value::Integer(5), None));
        let large = text(&column, "5000000000").unwrap();
        assert_eq!(
            large,
            (Value::Integer(5_000_000_000), Some(DataType::Int64))
        );
        let price = Parameter::new(0, Some(&DataType::Decimal128(10, 2)));
        assert_eq!(
            text(&price, "1.5").unwrap(),
            (Value::Decimal(150.into()), None)
        );
        let precise = text(&price, "1.005").unwrap();
        assert_eq!(
            precise,
            (
                Value::Decimal(1005.into()),
                Some(DataType::Decimal128(38, 3))
            )
        );
    }

    #[test]
    fn wrong_bytes_are_errors() {
        for (oid, wrong) in [
            (23, "x"),
            (23, ""),
            (16, "maybe"),
            (701, "1.2.3"),
            (17, "\\xq"),
            (1700, "-"),
        ] {
            let error = text(&Parameter::new(oid, None), wrong).unwrap_err();
            assert_eq!(error.sqlstate(), "22P02", "{oid} {wrong}");
        }
        let error = text(&Parameter::new(23, None), "3000000000").unwrap_err();
        assert_eq!(error.sqlstate(), "22003");
        for oid in [16, 20, 21, 23, 700, 701, 1082, 1083, 1114, 1184, 1186, 1700] {
            let parameter = Parameter::new(oid, None);
            let error = parameter
                .decode(WireFormat::Binary, Some(&[1, 2, 3]))
                .unwrap_err();
            assert_eq!(error.sqlstate(), "22P03", "{oid}");
        }
        let name = Parameter::new(25, None);
        assert_eq!(
            name.decode(WireFormat::Text, Some(&[0xFF]))
                .unwrap_err()
                .sqlstate(),
            "22021"
        );
        assert_eq!(text(&name, "a\0b").unwrap_err().sqlstate(), "22021");
    }
}
