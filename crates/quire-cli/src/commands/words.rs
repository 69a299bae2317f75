//! The words of a command line.

/// Splits at blanks; `'…'` and `"…"` keep them together, and a doubled quote stands for itself. A
/// semicolon at the very end is dropped, as people type it out of habit.
///
/// # Errors
/// When a quote is not closed.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let line = line.trim();
    let line = line.strip_suffix(';').unwrap_or(line);
    let mut words = Vec::new();
    let mut characters = line.chars().peekable();
    loop {
        while characters.next_if(|c| c.is_whitespace()).is_some() {}
        if characters.peek().is_none() {
            return Ok(words);
        }
        let mut word = String::new();
        while let Some(character) = characters.next_if(|c| !c.is_whitespace()) {
            if character == '\'' || character == '"' {
                push_quoted(character, &mut characters, &mut word)?;
            } else {
                word.push(character);
            }
        }
        words.push(word);
    }
}

fn push_quoted(
    quote: char,
    characters: &mut std::iter::Peekable<std::str::Chars>,
    word: &mut String,
) -> Result<(), String> {
    while let Some(character) = characters.next() {
        if character != quote {
            word.push(character);
        } else if characters.next_if_eq(&quote).is_some() {
            word.push(quote);
        } else {
            return Ok(());
        }
    }
    Err(format!("the quote {quote} is not closed"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::split;

    #[test]
    fn blanks_separate_and_quotes_hold_together() {
        assert_eq!(split(".import a.csv t").unwrap(), [".import", "a.csv", "t"]);
        assert_eq!(
            split("  .import 'my file.csv'  \"T 1\" ").unwrap(),
            [".import", "my file.csv", "T 1"]
        );
        assert_eq!(split(".nullvalue ''").unwrap(), [".nullvalue", ""]);
        assert_eq!(
            split(".print it''s 'it''s'").unwrap(),
            [".print", "its", "it's"]
        );
        assert_eq!(split("\\d t;").unwrap(), ["\\d", "t"]);
        assert_eq!(split("").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn an_open_quote_is_an_error() {
        assert_eq!(split(".read 'a").unwrap_err(), "the quote ' is not closed");
    }
}
