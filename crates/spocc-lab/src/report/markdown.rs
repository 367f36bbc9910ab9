//! The page as Markdown: the same words and tables; pictures are named, and are in the HTML.

use super::page::{Block, Cell, Page, Table};

/// The whole page.
pub(super) fn render(page: &Page) -> String {
    let mut lines = vec![format!("# {}", page.title), String::new()];
    lines.extend(page.settings.iter().map(|(name, value)| format!("- {name}: {value}")));
    lines.push(String::new());
    if !page.findings.is_empty() {
        lines.extend(page.findings.iter().map(|finding| format!("- **{finding}**")));
        lines.push(String::new());
    }
    for section in &page.sections {
        lines.extend([format!("## {}", section.title), String::new()]);
        for block in &section.blocks {
            match block {
                Block::Heading(text) => lines.push(format!("### {text}")),
                Block::Words(text) => lines.push(text.clone()),
                Block::Table(table) => lines.extend(table_lines(table)),
                Block::Pictures(pictures) => {
                    lines.push(format!("*{} (picture in report.html)*", pictures.caption));
                }
            }
            lines.push(String::new());
        }
    }
    lines.join("\n")
}

fn table_lines(table: &Table) -> Vec<String> {
    let names = table.columns.iter().map(|column| match &column.note {
        Some(note) => format!("{} ({note})", column.name),
        None => column.name.clone(),
    });
    let head: Vec<String> = std::iter::once(String::new()).chain(names).collect();
    let rule = std::iter::once("---").chain(table.columns.iter().map(|_| "---:")).collect::<Vec<_>>();
    let row = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let mut lines =
        vec![table.caption.clone(), String::new(), row(&head), format!("| {} |", rule.join(" | "))];
    for one in &table.rows {
        let name = if one.is_reference { format!("*{}*", one.name) } else { one.name.clone() };
        let cells: Vec<String> = std::iter::once(name).chain(one.cells.iter().map(cell)).collect();
        lines.push(row(&cells));
    }
    lines
}

fn cell(cell: &Cell) -> String {
    let figure = if cell.is_best { format!("**{}**", cell.text) } else { cell.text.clone() };
    let notes: Vec<&str> = cell.notes.iter().map(|note| note.text.as_str()).collect();
    match notes.split_first() {
        None => figure,
        // The half-width belongs to the figure, the paper's words do not.
        Some((first, rest)) if first.starts_with('±') && rest.is_empty() => format!("{figure} {first}"),
        Some((first, rest)) if first.starts_with('±') => format!("{figure} {first} ({})", rest.join("; ")),
        Some(_) => format!("{figure} ({})", notes.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page::{Row, Section};

    #[test]
    fn a_table_keeps_its_figures_and_its_notes() {
        let mut best = Cell::new("84.10").note("± 0.16, sd 4.60").note("paper 84.16 ± 0.13").note("−0.06 ≈");
        best.is_best = true;
        let mut table = Table::new("Accuracies.", ["faults", "global"]);
        table.rows.push(Row { name: "spocc".into(), is_reference: false, cells: vec![best, Cell::none()] });
        let page = Page {
            title: "Title".into(),
            settings: vec![("seed", "7".into())],
            findings: Vec::new(),
            sections: vec![Section::new("One").words("Words.").table(table)],
        };
        let expected = "# Title\n\n- seed: 7\n\n## One\n\nWords.\n\nAccuracies.\n\n|  | faults | global |\n\
            | --- | ---: | ---: |\n\
            | spocc | **84.10** ± 0.16, sd 4.60 (paper 84.16 ± 0.13; −0.06 ≈) | – |\n";
        assert_eq!(render(&page), expected);
    }
}
