//! The texts of the queries.
//!
//! TPC-D's queries 1 to 12 and 14 to 17 are TPC-H's of the same numbers, which took them over; the validation parameters are TPC-H's. Query 13
//! is another one: TPC-D asks for what a clerk has lost by returned orders, TPC-H how many orders customers have.

/// One query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TpcdQuery {
    /// `Q1`, and `H13` for the one of TPC-H that TPC-D does not have under this number.
    pub(crate) name: &'static str,
    text: &'static str,
    is_of_tpcd: bool,
}

const fn both(name: &'static str, text: &'static str) -> TpcdQuery {
    TpcdQuery {
        name,
        text,
        is_of_tpcd: true,
    }
}

const fn tpch(name: &'static str, text: &'static str) -> TpcdQuery {
    TpcdQuery {
        name,
        text,
        is_of_tpcd: false,
    }
}

macro_rules! text {
    ($number:literal) => {
        include_str!(concat!(
            "../../../../../tests/tpch/queries/q",
            $number,
            ".sql"
        ))
    };
}

const ALL: [TpcdQuery; 23] = [
    both("Q1", text!("01")),
    both("Q2", text!("02")),
    both("Q3", text!("03")),
    both("Q4", text!("04")),
    both("Q5", text!("05")),
    both("Q6", text!("06")),
    both("Q7", text!("07")),
    both("Q8", text!("08")),
    both("Q9", text!("09")),
    both("Q10", text!("10")),
    both("Q11", text!("11")),
    both("Q12", text!("12")),
    both("Q13", include_str!("d13.sql")),
    both("Q14", text!("14")),
    both("Q15", text!("15")),
    both("Q16", text!("16")),
    both("Q17", text!("17")),
    tpch("H13", text!("13")),
    tpch("H18", text!("18")),
    tpch("H19", text!("19")),
    tpch("H20", text!("20")),
    tpch("H21", text!("21")),
    tpch("H22", text!("22")),
];

/// The 17 of TPC-D, and those that TPC-H has besides if they are wanted.
pub(crate) fn queries(with_tpch: bool) -> impl Iterator<Item = TpcdQuery> {
    ALL.into_iter()
        .filter(move |query| query.is_of_tpcd || with_tpch)
}

impl TpcdQuery {
    /// Whether it is one of TPC-D's.
    pub(crate) fn is_of_tpcd(&self) -> bool {
        self.is_of_tpcd
    }

    /// The statement. A parameter of query 11 depends on the scale.
    pub(crate) fn sql(&self, scale: f64) -> String {
        let lines = self.text.lines().filter(|line| !line.starts_with("--"));
        let text = lines.collect::<Vec<_>>().join("\n");
        let text = text.trim().trim_end_matches(';');
        text.replace("0.0001000000", &format!("{:.10}", 0.0001 / scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_17_queries_of_tpcd_and_6_more_of_tpch() {
        assert_eq!(queries(false).count(), 17);
        assert_eq!(queries(true).count(), 23);
    }

    #[test]
    fn the_fraction_of_query_11_follows_the_scale() {
        let query = queries(false).find(|query| query.name == "Q11");
        let text = query.map(|query| query.sql(0.1)).unwrap_or_default();
        assert!(text.contains("0.0010000000"));
        assert!(!text.contains("--") && !text.ends_with(';'));
    }
}
