//! The report as data: sections of paragraphs, tables and pictures, which `html` and `markdown` write.

/// The whole report.
pub(super) struct Document {
    pub(super) title: String,
    /// How the experiments were run: names and values.
    pub(super) settings: Vec<(&'static str, String)>,
    /// The main results, one sentence each.
    pub(super) findings: Vec<String>,
    pub(super) sections: Vec<ReportSection>,
}

/// A titled part of the report.
pub(super) struct ReportSection {
    pub(super) title: String,
    pub(super) blocks: Vec<DocumentBlock>,
}

/// The content of a section, from top to bottom.
pub(super) enum DocumentBlock {
    /// A heading below the section's title.
    Heading(String),
    Paragraph(String),
    Table(ReportTable),
    Pictures(PictureGroup),
}

/// Pictures side by side under one caption.
pub(super) struct PictureGroup {
    pub(super) caption: String,
    pub(super) size: PictureSize,
    /// Whole `<svg>` elements.
    pub(super) svgs: Vec<String>,
}

/// Preferred width of each picture of a group.
#[derive(Clone, Copy)]
pub(super) enum PictureSize {
    Small,
    Medium,
    Wide,
}

/// A table with one figure per cell.
pub(super) struct ReportTable {
    pub(super) caption: String,
    pub(super) columns: Vec<ReportColumn>,
    pub(super) rows: Vec<ReportRow>,
}

/// The name of a column, and a remark below it.
#[derive(Clone)]
pub(super) struct ReportColumn {
    pub(super) name: String,
    pub(super) note: Option<String>,
}

/// A row of a table.
pub(super) struct ReportRow {
    pub(super) name: String,
    /// Whether the row is a reference (best base classifier, optimal rule) and not a combination method.
    pub(super) is_reference: bool,
    pub(super) cells: Vec<ReportCell>,
}

/// One figure.
#[derive(Clone, Default)]
pub(super) struct ReportCell {
    pub(super) text: String,
    /// Whether the figure is the best of its column.
    pub(super) is_best: bool,
    pub(super) tone: CellTone,
}

/// The colour of a figure in HTML; the text carries the same information.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum CellTone {
    #[default]
    Plain,
    Good,
    Bad,
}

impl ReportSection {
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new() }
    }

    pub(super) fn heading(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(DocumentBlock::Heading(text.into()));
        self
    }

    pub(super) fn paragraph(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(DocumentBlock::Paragraph(text.into()));
        self
    }

    pub(super) fn table(mut self, table: ReportTable) -> Self {
        self.blocks.push(DocumentBlock::Table(table));
        self
    }

    pub(super) fn tables(self, tables: impl IntoIterator<Item = ReportTable>) -> Self {
        tables.into_iter().fold(self, Self::table)
    }

    pub(super) fn pictures(
        mut self,
        caption: impl Into<String>,
        size: PictureSize,
        svgs: Vec<String>,
    ) -> Self {
        self.blocks.push(DocumentBlock::Pictures(PictureGroup { caption: caption.into(), size, svgs }));
        self
    }

    /// The anchor that the list of contents links to.
    pub(super) fn id(&self) -> String {
        let letters = self.title.to_lowercase().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        letters.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
    }
}

impl ReportTable {
    /// An empty table whose columns have no remarks.
    pub(super) fn new<'a>(caption: impl Into<String>, columns: impl IntoIterator<Item = &'a str>) -> Self {
        let column = |name: &str| ReportColumn { name: name.into(), note: None };
        Self { caption: caption.into(), columns: columns.into_iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row of a combination method.
    pub(super) fn add(&mut self, name: impl Into<String>, cells: Vec<ReportCell>) {
        self.rows.push(ReportRow { name: name.into(), is_reference: false, cells });
    }

    /// Marks the largest figure of a column among the combination methods.
    pub(super) fn mark_best(&mut self, column: usize, figures: &[Option<f64>]) {
        let methods = self.rows.iter().zip(figures).filter(|(row, _)| !row.is_reference);
        let best = methods.filter_map(|(_, figure)| *figure).reduce(f64::max);
        for (row, figure) in self.rows.iter_mut().zip(figures) {
            row.cells[column].is_best = !row.is_reference && best.is_some() && *figure == best;
        }
    }
}

impl ReportCell {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A missing figure.
    pub(super) fn none() -> Self {
        Self::new("–")
    }

    /// A figure with so many decimals, or a missing one.
    pub(super) fn figure(value: Option<f64>, decimals: usize) -> Self {
        value.map_or_else(Self::none, |value| Self::new(format!("{value:.decimals$}")))
    }

    /// A signed difference; a significant one is marked by an asterisk and coloured by its sign.
    pub(super) fn difference(value: f64, decimals: usize, is_significant: bool) -> Self {
        let text = signed(value, decimals);
        match (is_significant, value > 0.0) {
            (false, _) => Self::new(text),
            (true, true) => Self { tone: CellTone::Good, ..Self::new(format!("{text} *")) },
            (true, false) => Self { tone: CellTone::Bad, ..Self::new(format!("{text} *")) },
        }
    }
}

/// A figure with its sign, a typographic minus, and no negative zero.
pub(super) fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let is_zero = text.chars().all(|letter| matches!(letter, '0' | '.'));
    match (is_zero, value < 0.0) {
        (true, _) => text,
        (false, true) => format!("−{text}"),
        (false, false) => format!("+{text}"),
    }
}

/// A p-value to three decimals, never 0.
pub(super) fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_a_typographic_sign_and_zero_has_none() {
        assert_eq!(signed(1.234, 2), "+1.23");
        assert_eq!(signed(-1.0, 1), "−1.0");
        assert_eq!(signed(-0.001, 2), "0.00");
    }

    #[test]
    fn only_a_significant_difference_is_marked_and_coloured() {
        let shown = |value, is_significant| {
            let cell = ReportCell::difference(value, 2, is_significant);
            (cell.text, cell.tone == CellTone::Good, cell.tone == CellTone::Bad)
        };
        assert_eq!(shown(1.0, true), ("+1.00 *".to_owned(), true, false));
        assert_eq!(shown(-1.0, true), ("−1.00 *".to_owned(), false, true));
        assert_eq!(shown(-1.0, false), ("−1.00".to_owned(), false, false));
    }

    #[test]
    fn a_small_p_value_is_never_zero() {
        assert_eq!(p_value(0.0), "< 0.001");
        assert_eq!(p_value(0.0123), "0.012");
    }

    #[test]
    fn a_section_id_has_letters_digits_and_dashes_only() {
        assert_eq!(ReportSection::new("Real data: 8 sets, more").id(), "real-data-8-sets-more");
    }

    #[test]
    fn the_best_figure_is_marked_among_methods_and_not_among_references() {
        let row = |name: &str, text: &str, is_reference| ReportRow {
            name: name.into(),
            is_reference,
            cells: vec![ReportCell::new(text)],
        };
        let mut table = ReportTable::new("", ["x"]);
        table.rows = vec![row("a", "10", false), row("b", "12", false), row("c", "90", true)];
        table.mark_best(0, &[Some(10.0), Some(12.0), Some(90.0)]);
        assert_eq!(
            table.rows.iter().map(|row| row.cells[0].is_best).collect::<Vec<_>>(),
            [false, true, false]
        );
    }
}
