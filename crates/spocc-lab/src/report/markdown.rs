//! Writes the report as Markdown: the same text and tables; pictures are named and appear in the HTML only.

use super::document::{Document, DocumentBlock, ReportCell, ReportTable};

/// The whole report.
pub(super) fn render(document: &Document) -> String {
    let mut lines = vec![format!("# {}", document.title), String::new()];
    lines.extend(document.settings.iter().map(|(name, value)| format!("- {name}: {value}")));
    lines.push(String::new());
    if !document.findings.is_empty() {
        lines.extend(document.findings.iter().map(|finding| format!("- **{finding}**")));
        lines.push(String::new());
    }
    for section in &document.sections {
        lines.extend([format!("## {}", section.title), String::new()]);
        for block in &section.blocks {
            match block {
                DocumentBlock::Heading(text) => lines.push(format!("### {text}")),
                DocumentBlock::Paragraph(text) => lines.push(text.clone()),
                DocumentBlock::Table(table) => lines.extend(table_lines(table)),
                DocumentBlock::Pictures(pictures) => {
                    lines.push(format!("*{} (picture in report.html)*", pictures.caption));
                }
            }
            lines.push(String::new());
        }
    }
    lines.join("\n")
}

fn table_lines(table: &ReportTable) -> Vec<String> {
    let names = table.columns.iter().map(|column| match &column.note {
        Some(note) => format!("{} ({note})", column.name),
        None => column.name.clone(),
    });
    let head: Vec<String> = std::iter::once(String::new()).chain(names).collect();
    let rule = std::iter::once("---").chain(table.columns.iter().map(|_| "---:")).collect::<Vec<_>>();
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let mut lines =
        vec![table.caption.clone(), String::new(), line(&head), format!("| {} |", rule.join(" | "))];
    for row in &table.rows {
        let name = if row.is_reference { format!("*{}*", row.name) } else { row.name.clone() };
        let cells: Vec<String> = std::iter::once(name).chain(row.cells.iter().map(cell)).collect();
        lines.push(line(&cells));
    }
    lines
}

/// The asterisk of a significant difference is escaped, or Markdown would read it as emphasis.
fn cell(cell: &ReportCell) -> String {
    let text = cell.text.replace('*', "\\*");
    if cell.is_best { format!("**{text}**") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::ReportSection;

    #[test]
    fn a_table_has_a_caption_a_header_and_one_line_per_row() {
        let mut best = ReportCell::new("84.10 ± 0.16");
        best.is_best = true;
        let mut table = ReportTable::new("Accuracies.", ["faults", "global"]);
        table.add("spocc", vec![best, ReportCell::none()]);
        table.add("bayes", vec![ReportCell::difference(-2.0, 2, true), ReportCell::new("1")]);
        let document = Document {
            title: "Title".into(),
            settings: vec![("seed", "7".into())],
            findings: Vec::new(),
            sections: vec![ReportSection::new("One").paragraph("Words.").table(table)],
        };
        let expected = "# Title\n\n- seed: 7\n\n## One\n\nWords.\n\nAccuracies.\n\n|  | faults | global |\n\
            | --- | ---: | ---: |\n\
            | spocc | **84.10 ± 0.16** | – |\n\
            | bayes | −2.00 \\* | 1 |\n";
        assert_eq!(render(&document), expected);
    }
}
