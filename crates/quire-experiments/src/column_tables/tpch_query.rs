//! TPC-H's queries by their numbers.

use crate::tpcd::queries::queries;

/// The text of a query of TPC-H; `None` for a number that it does not have. A parameter of query 11 depends on the scale.
pub(crate) fn tpch_query(number: u32, scale: f64) -> Option<String> {
    // TPC-D's query 13 is another one.
    let of_tpch = format!("H{number}");
    let of_both = format!("Q{number}");
    let find = |name: &str| queries(true).find(|query| query.name == name);
    let query = find(&of_tpch).or_else(|| find(&of_both))?;
    Some(query.sql(scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_22_and_each_has_its_own_text() {
        let mut texts: Vec<String> = (0..=23)
            .filter_map(|number| tpch_query(number, 1.0))
            .collect();
        assert_eq!(texts.len(), 22);
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), 22);
        let eighteenth = tpch_query(18, 1.0).unwrap_or_default();
        assert!(eighteenth.contains("having sum(l_quantity) > 300"));
        let thirteenth = tpch_query(13, 1.0).unwrap_or_default();
        assert!(thirteenth.contains("left outer join"));
    }
}
