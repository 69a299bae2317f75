//! Text within SVG and HTML.

/// Text as XML and HTML show it, between tags and in attributes within quotes. Control characters are no part of XML: they are shown as
/// what they are.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            other if other.is_control() => escaped.extend(other.escape_default()),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_is_markup_is_shown_and_not_read() {
        assert_eq!(
            escaped("a < b & c > \"d\"\n"),
            "a &lt; b &amp; c &gt; &quot;d&quot;\n"
        );
        assert_eq!(escaped("\u{1b}[31m µ ⇒"), "\\u{1b}[31m µ ⇒");
    }
}
