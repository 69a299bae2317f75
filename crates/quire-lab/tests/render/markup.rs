//! A strict reader of the markup that is written.

/// The text of all elements, after a check that every element is closed in order, attributes are quoted, and no
/// character is bare that must be escaped.
pub fn parse_xml(text: &str) -> Vec<String> {
    let (mut open, mut texts, mut rest) = (Vec::<&str>::new(), vec![], text.trim_end());
    while let Some(start) = rest.find('<') {
        let between = &rest[..start];
        assert!(!between.contains('>'), "bare >");
        for entity in between.split('&').skip(1) {
            assert!(
                ["amp;", "lt;", "gt;", "quot;"]
                    .iter()
                    .any(|one| entity.starts_with(one))
            );
        }
        texts.push(between.to_owned());
        let end = start + rest[start..].find('>').unwrap();
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else {
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            assert_eq!(
                tag.matches("=\"").count() * 2,
                tag.matches('"').count(),
                "{tag}"
            );
            assert!(!tag.contains("NaN") && !tag.contains("inf"), "{tag}");
            if !tag.ends_with('/') {
                open.push(tag.split_whitespace().next().unwrap());
            }
        }
        assert!(!open.is_empty() || rest.is_empty(), "more than one root");
    }
    assert!(open.is_empty() && rest.is_empty());
    texts
}
