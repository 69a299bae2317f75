//! The transforms as the paper writes them (§III), with a value as a vector of bytes and a column as a vector of
//! values; nothing shared with the crate but the names.

use quire_codec::transform::{LayoutColumn, Transform};

type Value = Vec<u8>;

fn width(column: &LayoutColumn) -> usize {
    match *column {
        LayoutColumn::Number(width) | LayoutColumn::Bytes(width) => width.into(),
        LayoutColumn::Length1 => 1,
        LayoutColumn::Length2 => 2,
    }
}

fn is_length(column: &LayoutColumn) -> bool {
    matches!(column, LayoutColumn::Length1 | LayoutColumn::Length2)
}

/// The image of a page.
pub fn to_storage(
    transform: Transform,
    columns: &[LayoutColumn],
    lead_bytes: usize,
    row_count: usize,
    page: &[u8],
) -> Vec<u8> {
    if transform == Transform::Rows {
        return page.to_vec();
    }
    let mut rest = page[lead_bytes..].iter().copied();
    let mut values: Vec<Vec<Value>> = vec![Vec::new(); columns.len()];
    let mut fields: Vec<Vec<Value>> = vec![Vec::new(); columns.len()];
    for _ in 0..row_count {
        for (column, values) in columns.iter().zip(&mut values) {
            values.push(rest.by_ref().take(width(column)).collect());
        }
        for (index, column) in columns.iter().enumerate() {
            if is_length(column) {
                let number = values[index].last().unwrap();
                let length = (number.iter().rev()).fold(0, |sum, &byte| sum * 256 + byte as usize);
                fields[index].push(rest.by_ref().take(length).collect());
            }
        }
    }
    let tail: Vec<u8> = rest.collect();
    let mut image = page[..lead_bytes].to_vec();
    for (column, values) in columns.iter().zip(values) {
        image.extend(column_on_storage(transform, column, &values));
    }
    image.extend(fields.concat().concat());
    image.extend(tail);
    image
}

fn column_on_storage(transform: Transform, column: &LayoutColumn, values: &[Value]) -> Vec<u8> {
    let register_values = (16 / width(column)).max(1);
    let registers = values.chunks(register_values);
    if !matches!(column, LayoutColumn::Number(_)) {
        return values.concat();
    }
    match transform {
        Transform::Rows | Transform::R2c => values.concat(),
        Transform::Rlt => registers.flat_map(transposed).collect(),
        Transform::Clt => transposed(values),
        Transform::Xor => registers
            .flat_map(|one| differences(one).concat())
            .collect(),
        Transform::XorRlt => registers
            .flat_map(|one| transposed(&differences(one)))
            .collect(),
        Transform::XorClt => {
            let differences: Vec<Value> = registers.flat_map(differences).collect();
            transposed(&differences)
        }
    }
}

/// `[t_1, …, t_b]`, where `t_i` holds byte `i` of each value.
fn transposed(values: &[Value]) -> Vec<u8> {
    let width = values.first().map_or(0, Vec::len);
    (0..width)
        .flat_map(|byte| values.iter().map(move |value| value[byte]))
        .collect()
}

/// `d'_1 = d_1` and `d'_{i+1} = d_i ⊕ d_{i+1}`.
fn differences(values: &[Value]) -> Vec<Value> {
    let mut differences = values.to_vec();
    for (i, pair) in values.windows(2).enumerate() {
        differences[i + 1] = (pair[0].iter().zip(&pair[1]))
            .map(|(before, value)| before ^ value)
            .collect();
    }
    differences
}
