//! A page of figures that are of no paper.

use super::anchors::figure_id;
use super::{beginning, contents, figures};
use crate::render::markup::escaped;
use crate::{FigurePage, PageTable};
use std::fmt::Write as _;

/// The page: how it was measured, tables, links to the figures, and the figures, in the order in which they are given.
pub fn figure_page(page: &FigurePage) -> String {
    let mut html = beginning(&page.title);
    html.push_str("<section id=\"measured\"><h2>How it was measured</h2>\n");
    contents::facts(&mut html, &page.facts);
    html.push_str("</section>\n");
    for one in &page.tables {
        table(&mut html, one);
    }
    html.push_str("<section id=\"figures\"><h2>Figures</h2><ul>\n");
    for figure in &page.figures {
        let (id, title) = (figure_id(figure), escaped(&figure.title));
        let _ = writeln!(html, "<li><a href=\"#{id}\">{title}</a></li>");
    }
    html.push_str("</ul>\n");
    for figure in &page.figures {
        figures::figure(&mut html, None, figure);
    }
    html.push_str("</section></body></html>\n");
    html
}

fn table(html: &mut String, table: &PageTable) {
    let title = escaped(&table.title);
    let _ = write!(
        html,
        "<section><h2>{title}</h2>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table: {title}\"><table>\n<tr>"
    );
    for name in &table.columns {
        let _ = write!(html, "<th>{}</th>", escaped(name));
    }
    html.push_str("</tr>\n");
    for row in &table.rows {
        html.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            let tag = if at == 0 { "th" } else { "td" };
            let _ = write!(html, "<{tag}>{}</{tag}>", escaped(cell));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table></div></section>\n");
}
