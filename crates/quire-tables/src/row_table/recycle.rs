//! The memory of a vector whose elements borrow, for the next vector.

/// A vector without elements, in the memory of one with elements of the same size: those of another lifetime, mostly. Where
/// sizes differ it allocates when it is filled.
#[must_use]
pub fn recycled<A, B>(mut vector: Vec<A>) -> Vec<B> {
    vector.clear();
    // Vectors are collected in place.
    vector.into_iter().filter_map(|_| None).collect()
}

#[cfg(test)]
mod tests {
    use super::super::TupleValue;
    use super::*;

    #[test]
    fn a_vector_of_another_lifetime_has_the_memory_of_the_one_before() {
        let mut memory: Vec<TupleValue<'static>> = Vec::with_capacity(7);
        let place = memory.as_ptr() as usize;
        for number in 0..3_u8 {
            let bytes = [number; 4];
            let mut values: Vec<TupleValue<'_>> = recycled(memory);
            values.push(TupleValue::Bytes(&bytes));
            assert_eq!(values.as_ptr() as usize, place);
            memory = recycled(values);
            assert!(memory.is_empty() && memory.capacity() >= 7);
        }
    }
}
