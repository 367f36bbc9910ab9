//! The page before it has a form: sections of words, tables and pictures, which HTML and Markdown both are made of.

/// The whole report.
pub(super) struct Page {
    pub(super) title: String,
    /// Settings, each a name and a value.
    pub(super) settings: Vec<(&'static str, String)>,
    /// What came out, in a few sentences.
    pub(super) findings: Vec<String>,
    pub(super) sections: Vec<Section>,
}

/// A part of the report with a heading of its own.
pub(super) struct Section {
    pub(super) title: String,
    pub(super) blocks: Vec<Block>,
}

/// What a section is made of, from top to bottom.
pub(super) enum Block {
    /// A smaller heading.
    Heading(String),
    Words(String),
    Table(Table),
    Pictures(Pictures),
}

/// Pictures side by side under one caption.
pub(super) struct Pictures {
    pub(super) caption: String,
    pub(super) size: Size,
    /// Whole `<svg>` elements.
    pub(super) svgs: Vec<String>,
}

/// How wide each of several pictures wants to be.
#[derive(Clone, Copy)]
pub(super) enum Size {
    Small,
    Medium,
    Wide,
}

/// Rows of cells under a line of column names.
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

/// The name of a column, with a word below it if need be.
#[derive(Clone)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) note: Option<String>,
}

/// A row of a table.
pub(super) struct Row {
    pub(super) name: String,
    /// Whether it is shown for comparison and does not compete.
    pub(super) is_reference: bool,
    pub(super) cells: Vec<Cell>,
}

/// A figure with smaller words below it.
#[derive(Clone, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) is_best: bool,
    pub(super) notes: Vec<Note>,
}

/// A line of smaller words.
#[derive(Clone)]
pub(super) struct Note {
    pub(super) text: String,
    pub(super) tone: Tone,
}

/// How a note is coloured; its words say the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Good,
    Bad,
}

impl Section {
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new() }
    }

    pub(super) fn heading(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Heading(text.into()));
        self
    }

    pub(super) fn words(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Words(text.into()));
        self
    }

    pub(super) fn table(mut self, table: Table) -> Self {
        self.blocks.push(Block::Table(table));
        self
    }

    pub(super) fn pictures(mut self, caption: impl Into<String>, size: Size, svgs: Vec<String>) -> Self {
        self.blocks.push(Block::Pictures(Pictures { caption: caption.into(), size, svgs }));
        self
    }

    /// The name by which the contents list finds the section.
    pub(super) fn id(&self) -> String {
        let letters = self.title.to_lowercase().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        letters.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
    }
}

impl Table {
    /// A table whose columns have names only.
    pub(super) fn new<'a>(caption: &str, columns: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            caption: caption.into(),
            columns: columns.into_iter().map(|name| Column { name: name.into(), note: None }).collect(),
            rows: Vec::new(),
        }
    }

    /// Marks the best of a column: the largest figure among rows that compete.
    pub(super) fn mark_best(&mut self, column: usize, figures: &[Option<f64>]) {
        let competing = self.rows.iter().zip(figures).filter(|(row, _)| !row.is_reference);
        let best = competing.filter_map(|(_, figure)| *figure).reduce(f64::max);
        for (row, figure) in self.rows.iter_mut().zip(figures) {
            row.cells[column].is_best = !row.is_reference && best.is_some() && *figure == best;
        }
    }
}

impl Cell {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A figure that is not there.
    pub(super) fn none() -> Self {
        Self::new("–")
    }

    pub(super) fn note(self, text: impl Into<String>) -> Self {
        self.toned(text, Tone::Plain)
    }

    pub(super) fn toned(mut self, text: impl Into<String>, tone: Tone) -> Self {
        self.notes.push(Note { text: text.into(), tone });
        self
    }
}

/// A figure with its sign, a true minus, and no negative zero.
pub(super) fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let is_zero = text.chars().all(|letter| matches!(letter, '0' | '.'));
    match (is_zero, value < 0.0) {
        (true, _) => text,
        (false, true) => format!("−{text}"),
        (false, false) => format!("+{text}"),
    }
}

/// A p-value to a thousandth, never nought.
pub(super) fn p_value(p: f64) -> String {
    if p < 0.001 { "p < 0.001".into() } else { format!("p = {p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_true_and_zero_has_none() {
        assert_eq!(signed(1.234, 2), "+1.23");
        assert_eq!(signed(-1.0, 1), "−1.0");
        assert_eq!(signed(-0.001, 2), "0.00");
    }

    #[test]
    fn a_small_p_value_is_never_nought() {
        assert_eq!(p_value(0.0), "p < 0.001");
        assert_eq!(p_value(0.0123), "p = 0.012");
    }

    #[test]
    fn sections_are_found_by_plain_words() {
        assert_eq!(Section::new("Real data: 8 sets, more").id(), "real-data-8-sets-more");
    }

    #[test]
    fn the_best_is_marked_among_those_that_compete() {
        let row = |name: &str, text: &str, is_reference| Row {
            name: name.into(),
            is_reference,
            cells: vec![Cell::new(text)],
        };
        let mut table = Table::new("", ["x"]);
        table.rows = vec![row("a", "10", false), row("b", "12", false), row("c", "90", true)];
        table.mark_best(0, &[Some(10.0), Some(12.0), Some(90.0)]);
        assert_eq!(
            table.rows.iter().map(|row| row.cells[0].is_best).collect::<Vec<_>>(),
            [false, true, false]
        );
    }
}
