//! The parts as one page that needs nothing else: a treemap drawn as SVG, and tables.

use std::fmt::Write as _;

use super::part::FilePart;
use super::text::codecs;
use super::treemap::{Area, divided};
use crate::shell::bytes_text;

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 640.0;

/// Room for the name of what has parts, and around them.
const TITLE_HEIGHT: f64 = 18.0;
const BORDER: f64 = 2.0;

/// Smaller rectangles have no name in them.
const LABEL_WIDTH: f64 = 46.0;
const LABEL_HEIGHT: f64 = 15.0;

/// About what a character of a label takes.
const CHARACTER_WIDTH: f64 = 6.6;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1d2430;--paper:#fbfaf7;--line:#d9d5cb;--quiet:#6b7280}\
@media(prefers-color-scheme:dark){:root{--ink:#e6e3dc;--paper:#16181d;--line:#363a44;--quiet:#9aa1ad}}\
body{margin:2rem auto;max-width:76rem;padding:0 1rem;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}\
h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:2rem 0 .5rem}p{color:var(--quiet);margin:.2rem 0 1rem}\
svg{width:100%;height:auto;font:11px system-ui,sans-serif}svg rect{stroke:var(--paper);stroke-width:1}svg text{fill:#16181d;pointer-events:none}\
svg .title{font-weight:600}svg g:hover>rect{stroke:var(--ink)}\
table{border-collapse:collapse;width:100%}td,th{text-align:right;padding:.2rem .6rem;border-bottom:1px solid var(--line)}\
td:first-child,th:first-child{text-align:left}th{color:var(--quiet);font-weight:500}.bar{display:inline-block;height:.6em;background:#7f9cc0}";

/// One page.
pub fn page(whole: &FilePart) -> String {
    let mut html = String::new();
    let name = escaped(&whole.name);
    let all = bytes_text(whole.bytes);
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>{name}: where the bytes are</title>\
         <style>{STYLE}</style></head>\n<body><h1>{name}</h1><p>{all} in {}. An area is a share of the file; its colour says how well it is compressed.</p>\n",
        escaped(&whole.kind)
    );
    let _ = writeln!(
        html,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Treemap of the file\">"
    );
    let area = Area {
        x: 0.0,
        y: 0.0,
        width: WIDTH,
        height: HEIGHT,
    };
    draw_parts(&mut html, whole, &[], area, whole.bytes);
    html.push_str("</svg>\n");
    legend(&mut html);
    html.push_str("<h2>Tables, columns and trees</h2>\n");
    table(&mut html, whole);
    html.push_str("<h2>Codecs</h2>\n");
    let mut of_codecs = whole.clone();
    of_codecs.parts = codecs(whole);
    table(&mut html, &of_codecs);
    html.push_str("</body></html>\n");
    html
}

fn draw_parts(html: &mut String, part: &FilePart, path: &[&str], area: Area, file_bytes: u64) {
    let shown: Vec<&FilePart> = part.parts.iter().filter(|part| part.bytes > 0).collect();
    let sizes: Vec<f64> = shown.iter().map(|part| part.bytes as f64).collect();
    for (part, area) in shown.into_iter().zip(divided(&sizes, area)) {
        let path = [path, &[part.name.as_str()]].concat();
        draw(html, part, &path, area, file_bytes);
    }
}

fn draw(html: &mut String, part: &FilePart, path: &[&str], area: Area, file_bytes: u64) {
    let Area {
        x,
        y,
        width,
        height,
    } = area;
    let has_label = width >= LABEL_WIDTH && height >= LABEL_HEIGHT;
    let title_class = if part.parts.is_empty() {
        ""
    } else {
        " class=\"title\""
    };
    let _ = write!(
        html,
        "<g><rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{}\"><title>{}</title></rect>",
        colour(part),
        escaped(&told(part, path, file_bytes)),
    );
    if has_label {
        let count = (width - 8.0) / CHARACTER_WIDTH;
        let label = escaped(&cut(&part.name, count as usize));
        let (x, y) = (x + 4.0, y + 12.0);
        let _ = write!(
            html,
            "<text{title_class} x=\"{x:.2}\" y=\"{y:.2}\">{label}</text>"
        );
    }
    if !part.parts.is_empty() {
        let top = if has_label { TITLE_HEIGHT } else { BORDER };
        draw_parts(html, part, path, area.within(BORDER, top), file_bytes);
    }
    html.push_str("</g>\n");
}

/// What is shown of a rectangle that is pointed at.
fn told(part: &FilePart, path: &[&str], file_bytes: u64) -> String {
    let share = 100.0 * part.bytes as f64 / file_bytes.max(1) as f64;
    let mut told = format!(
        "{} ({}): {}, {share:.1} % of the file",
        path.join(" › "),
        part.kind,
        bytes_text(part.bytes)
    );
    if let (Some(raw), Some(ratio)) = (part.raw_bytes, part.ratio()) {
        told += &format!("; raw {}, ratio {ratio:.3}", bytes_text(raw));
    }
    told
}

/// From green, a tenth or less is left, to red, all of it is; grey where that is no question.
fn colour(part: &FilePart) -> String {
    match part.ratio() {
        None => "#c9c7c1".to_owned(),
        Some(ratio) => {
            let place = ((ratio - 0.1) / 0.9).clamp(0.0, 1.0);
            let lightness = if part.parts.is_empty() { 72 } else { 86 };
            format!("hsl({:.0} 45% {lightness}%)", 150.0 - 135.0 * place)
        }
    }
}

fn legend(html: &mut String) {
    html.push_str("<p>");
    for (text, ratio) in [
        ("a tenth", 10),
        ("a third", 33),
        ("a half", 50),
        ("all of it", 100),
    ] {
        let sample = FilePart {
            name: String::new(),
            kind: String::new(),
            bytes: ratio,
            raw_bytes: Some(100),
            parts: Vec::new(),
        };
        let _ = write!(
            html,
            "<span class=\"bar\" style=\"width:1.2em;background:{}\"></span> {text} &#160; ",
            colour(&sample)
        );
    }
    html.push_str("of the raw bytes are left; grey: no compression there</p>\n");
}

fn table(html: &mut String, whole: &FilePart) {
    html.push_str("<table><tr><th></th><th>in file</th><th>share</th><th>raw</th><th>ratio</th><th></th></tr>\n");
    for part in &whole.parts {
        row(html, part, 0, whole.bytes);
    }
    html.push_str("</table>\n");
}

fn row(html: &mut String, part: &FilePart, depth: usize, file_bytes: u64) {
    let share = 100.0 * part.bytes as f64 / file_bytes.max(1) as f64;
    let kind = match part.kind.as_str() {
        "" => String::new(),
        kind => format!(" ({kind})"),
    };
    let _ = writeln!(
        html,
        "<tr><td style=\"padding-left:{:.1}rem\">{}</td><td>{}</td><td>{share:.1} %</td><td>{}</td><td>{}</td>\
         <td style=\"text-align:left;width:20%\"><span class=\"bar\" style=\"width:{share:.1}%\"></span></td></tr>",
        0.6 + 1.2 * depth as f64,
        escaped(&format!("{}{kind}", part.name)),
        bytes_text(part.bytes),
        part.raw_bytes.map(bytes_text).unwrap_or_default(),
        part.ratio()
            .map(|ratio| format!("{ratio:.3}"))
            .unwrap_or_default(),
    );
    let parts = part.parts.iter();
    parts.for_each(|below| row(html, below, depth + 1, file_bytes));
}

fn cut(text: &str, count: usize) -> String {
    if text.chars().count() <= count {
        text.to_owned()
    } else {
        text.chars()
            .take(count.saturating_sub(1))
            .chain(['…'])
            .collect()
    }
}

/// Text as HTML shows it. Control characters are no part of XML: they are shown as what they are.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other if other.is_control() => escaped.extend(other.escape_default()),
            other => escaped.push(other),
        }
    }
    escaped
}
