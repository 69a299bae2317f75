//! How are the parameters `$1`, `$2`, … of a statement written for systems that have other ones?

/// The statement with `?1`, `?2`, … as SQLite has them.
pub(super) fn numbered(sql: &str) -> String {
    replaced(sql, |number, text| {
        text.push('?');
        text.push_str(&number.to_string());
    })
}

/// The statement with `?` for each parameter, and for each `?` the index of its parameter: one that is used twice is there twice.
pub(super) fn positional(sql: &str) -> (String, Vec<usize>) {
    let mut order = Vec::new();
    let text = replaced(sql, |number, text| {
        text.push('?');
        order.push(number.saturating_sub(1));
    });
    (text, order)
}

/// The statement with each `$n` outside of quotes replaced by what `write` appends.
fn replaced(sql: &str, mut write: impl FnMut(usize, &mut String)) -> String {
    let mut text = String::with_capacity(sql.len());
    let mut quote = None;
    let mut rest = sql;
    while let Some(next) = rest.chars().next() {
        let behind = &rest[next.len_utf8()..];
        let digits = behind.len()
            - behind
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        if next == '$'
            && quote.is_none()
            && let Ok(number) = behind[..digits].parse()
        {
            write(number, &mut text);
            rest = &behind[digits..];
            continue;
        }
        // A quote within quotes is doubled: that closes and opens them.
        match quote {
            None if matches!(next, '\'' | '"') => quote = Some(next),
            Some(open) if open == next => quote = None,
            _ => {}
        }
        text.push(next);
        rest = behind;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{numbered, positional};

    #[test]
    fn parameters_are_passed_in_the_order_of_their_use() {
        let sql = "UPDATE t SET a = $2, b = $2 + $10 WHERE c = $1";
        assert_eq!(
            numbered(sql),
            "UPDATE t SET a = ?2, b = ?2 + ?10 WHERE c = ?1"
        );
        let (text, order) = positional(sql);
        assert_eq!(text, "UPDATE t SET a = ?, b = ? + ? WHERE c = ?");
        assert_eq!(order, [1, 1, 9, 0]);
    }

    #[test]
    fn quotes_are_left_alone() {
        let sql = "SELECT 'it''s $1', \"$2\", '\"$3', $, é$1";
        assert_eq!(numbered(sql), "SELECT 'it''s $1', \"$2\", '\"$3', $, é?1");
        assert_eq!(positional(sql).1, [0]);
    }
}
