//! Writes the report as one HTML file: no script, no network, light or dark by the reader's preference.

use std::fmt::Write;

use super::{
    document::{
        CellTone, Document, DocumentBlock, PictureGroup, PictureSize, ReportCell, ReportSection, ReportTable,
    },
    svg::escape,
};
use crate::aggregate::is_family;

/// Colours and sizes of the page and of its pictures.
const STYLE: &str = include_str!("style.css");

/// Tables with more columns than this are set with less padding.
const ROOMY: usize = 7;

/// The whole page.
pub(super) fn render(document: &Document) -> String {
    let title = escape(&document.title);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    html.push_str("<dl class=\"settings\">\n");
    for (name, value) in &document.settings {
        add(&mut html, format_args!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value)));
    }
    html.push_str("</dl>\n");
    if !document.findings.is_empty() {
        html.push_str("<ul class=\"findings\">\n");
        document.findings.iter().for_each(|text| add(&mut html, format_args!("<li>{}</li>\n", escape(text))));
        html.push_str("</ul>\n");
    }
    html.push_str("<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n");
    for section in &document.sections {
        let (id, title) = (section.id(), escape(&section.title));
        add(&mut html, format_args!("<li><a href=\"#{id}\">{title}</a></li>\n"));
    }
    html.push_str("</ol>\n</nav>\n");
    document.sections.iter().for_each(|section| add_section(&mut html, section));
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

fn add_section(html: &mut String, section: &ReportSection) {
    add(html, format_args!("<section id=\"{}\">\n<h2>{}</h2>\n", section.id(), escape(&section.title)));
    for block in &section.blocks {
        match block {
            DocumentBlock::Heading(text) => add(html, format_args!("<h3>{}</h3>\n", escape(text))),
            DocumentBlock::Paragraph(text) => add(html, format_args!("<p>{}</p>\n", escape(text))),
            DocumentBlock::Table(table) => add_table(html, table),
            DocumentBlock::Pictures(pictures) => add_pictures(html, pictures),
        }
    }
    html.push_str("</section>\n");
}

fn add_table(html: &mut String, table: &ReportTable) {
    add(html, format_args!("<p class=\"caption\">{}</p>\n", escape(&table.caption)));
    // Focusable, so that it scrolls by keyboard too.
    html.push_str("<div class=\"frame-table\" tabindex=\"0\">\n");
    let class = if table.columns.len() > ROOMY { " class=\"dense\"" } else { "" };
    add(html, format_args!("<table{class}>\n<thead><tr><th></th>"));
    for column in &table.columns {
        let note = column.note.iter().map(|note| format!("<small>{}</small>", escape(note)));
        let note: String = note.collect();
        add(html, format_args!("<th scope=\"col\">{}{note}</th>", escape(&column.name)));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        let class = match (row.is_reference, is_family(&row.name)) {
            (true, _) => " class=\"reference\"",
            (false, true) => " class=\"kin\"",
            (false, false) => "",
        };
        add(html, format_args!("<tr{class}><th scope=\"row\">{}</th>", escape(&row.name)));
        row.cells.iter().for_each(|cell| add_cell(html, cell));
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n");
}

fn add_cell(html: &mut String, cell: &ReportCell) {
    let text = escape(&cell.text);
    let text = if cell.is_best { format!("<strong>{text}</strong>") } else { text };
    let class = match cell.tone {
        CellTone::Plain => "",
        CellTone::Good => " class=\"good\"",
        CellTone::Bad => " class=\"bad\"",
    };
    add(html, format_args!("<td{class}>{text}</td>"));
}

fn add_pictures(html: &mut String, pictures: &PictureGroup) {
    let size = match pictures.size {
        PictureSize::Small => "small",
        PictureSize::Medium => "medium",
        PictureSize::Wide => "wide",
    };
    add(html, format_args!("<figure>\n<figcaption>{}</figcaption>\n", escape(&pictures.caption)));
    add(html, format_args!("<div class=\"pictures {size}\">\n"));
    pictures.svgs.iter().for_each(|svg| html.extend([svg, "\n"]));
    html.push_str("</div>\n</figure>\n");
}

fn add(html: &mut String, text: std::fmt::Arguments<'_>) {
    html.write_fmt(text).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        let mut best = ReportCell::new("84.10");
        best.is_best = true;
        let mut table = ReportTable::new("Accuracies < 100.", ["faults", "difference"]);
        table.add("adaspocc", vec![best, ReportCell::difference(0.06, 2, true)]);
        let section = ReportSection::new("Real data").paragraph("a & b").table(table);
        Document {
            title: "T".into(),
            settings: vec![("seed", "7".into())],
            findings: vec!["Found.".into()],
            sections: vec![section.pictures("One", PictureSize::Wide, vec!["<svg></svg>".into()])],
        }
    }

    #[test]
    fn contents_link_to_sections_and_text_is_escaped() {
        let html = render(&document());
        assert!(html.contains("<a href=\"#real-data\">") && html.contains("<section id=\"real-data\">"));
        assert!(html.contains("<p>a &amp; b</p>") && html.contains("Accuracies &lt; 100."));
        assert!(html.contains(
            "<tr class=\"kin\"><th scope=\"row\">adaspocc</th><td><strong>84.10</strong></td><td class=\"good\">+0.06 *</td>"
        ));
    }

    #[test]
    fn the_page_needs_no_network_and_no_script_and_has_light_and_dark_colours() {
        let html = render(&document());
        for foreign in ["http://", "https://", "<script", "@import", "url("] {
            assert!(!html.contains(foreign), "{foreign}");
        }
        assert!(html.contains("prefers-color-scheme: dark"));
    }
}
