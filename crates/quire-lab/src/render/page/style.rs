//! What the page looks like.

use crate::render::svg::COLOURS;
use std::fmt::Write as _;

/// The colours of series on a dark ground.
const DARK_COLOURS: [&str; COLOURS.len()] = [
    "#6fb3e8", "#f08a97", "#6fcf97", "#f5c96b", "#b79be0", "#4fc3d0", "#c99b6d", "#b0b0b0",
];

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1d2430;--paper:#fbfaf7;--raised:#ffffff;--line:#d9d5cb;--quiet:#5c6470;--link:#1b5c92;\
--good:#1f6b3f;--odd:#8a5a00;--bad:#a3242f}\
@media(prefers-color-scheme:dark){:root{--ink:#e6e3dc;--paper:#16181d;--raised:#1d2027;--line:#363a44;--quiet:#a4abb6;--link:#8fc3ee;\
--good:#7fd3a0;--odd:#f0c060;--bad:#ff9aa2}}\
*{box-sizing:border-box}\
body{margin:2rem auto;max-width:76rem;padding:0 1rem;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .5rem}h2{font-size:1.25rem;margin:2.5rem 0 .5rem}\
h3{font-size:1.1rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}h3::first-letter{text-transform:uppercase}\
h4{font-size:1rem;margin:1.2rem 0 .3rem}p{margin:.3rem 0 .8rem}a{color:var(--link)}ul{padding-left:1.2rem;margin:.3rem 0}\
.quiet,summary,small{color:var(--quiet)}small{font-weight:400;display:block}\
.scroll{overflow-x:auto;margin:.5rem 0}.scroll:focus-visible{outline:2px solid var(--link)}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums;overflow-wrap:normal}\
td,th{text-align:right;vertical-align:top;padding:.2rem .6rem;border-bottom:1px solid var(--line);white-space:nowrap}\
th{font-weight:600}td:first-child,th:first-child,.words td,.words th{text-align:left}\
.words{min-width:40rem}.words td{white-space:normal}.words td:first-child{white-space:nowrap}\
.of-paper{color:var(--quiet);font-style:italic}\
.chart svg{display:block;width:100%;min-width:40rem;max-width:64rem;height:auto;background:var(--raised)}\
.outcome{font-weight:600;white-space:nowrap}.good{color:var(--good)}.odd{color:var(--odd)}.bad{color:var(--bad)}.none{color:var(--quiet)}\
li:target{outline:2px solid var(--link);outline-offset:.2rem}.failed{border-left:3px solid var(--bad);padding-left:.8rem}\
svg text{fill:var(--ink)}svg .ground{fill:var(--raised)}svg .grid{stroke:var(--line)}";

/// The style of the whole page. It needs nothing from elsewhere.
pub(super) fn style() -> String {
    let mut style = STYLE.to_owned();
    style += "@media(prefers-color-scheme:dark){";
    for (class, colour) in DARK_COLOURS.iter().enumerate() {
        let _ = write!(style, "svg .s{class}{{color:{colour}}}");
    }
    style.push('}');
    style
}
