//! The description of a table: its columns and their values.

use std::fmt;

use serde::Serialize;
use spocc::printable;
use spocc_table::{Error, RowBlock, Table, TextInterner};

use crate::{commands::inspect::tally::TallyFacts, error::rows};

/// Distinct values that are counted in a column.
const MAX_DISTINCT: usize = 10_000;

/// Distinct values that are counted in all columns together.
const MAX_TOTAL: usize = 1_000_000;

/// Bytes of the distinct values of all columns together.
const MAX_BYTES: usize = 1 << 26;

/// Values of a column that are shown.
const SHOWN: usize = 4;

#[derive(Serialize)]
pub(super) struct TableFacts {
    n_rows: u64,
    /// The character between cells; none if the table is not text.
    delimiter: Option<char>,
    columns: Vec<ColumnFacts>,
    /// The tally of the table, if the column of the true label is known.
    pub(super) tally: Option<TallyFacts>,
}

#[derive(Serialize)]
struct ColumnFacts {
    name: String,
    n_missing: u64,
    /// Distinct values that are not missing, counted up to [`MAX_DISTINCT`].
    n_distinct: usize,
    /// Whether there are more than were counted.
    #[serde(skip)]
    is_cut: bool,
    /// The first few of them.
    examples: Vec<String>,
}

impl TableFacts {
    pub(super) fn read(mut table: Table) -> Result<Self, Error> {
        let width = table.header().len();
        table.select_columns(0..width);
        let limit = DistinctLimit {
            n: MAX_DISTINCT.min(MAX_TOTAL / width.max(1)).max(SHOWN),
            n_bytes: MAX_BYTES / width.max(1),
        };
        let mut blocks = table.map_blocks(move |rows| {
            let columns = (0..width).map(|column| ColumnValues::of(rows, column, limit));
            (rows.n_rows(), columns.collect::<Vec<_>>())
        });
        let mut values: Vec<ColumnValues> = (0..width).map(|_| ColumnValues::default()).collect();
        let mut n_rows = 0;
        while let Some((n, more)) = blocks.next()? {
            n_rows += n as u64;
            values.iter_mut().zip(&more).for_each(|(values, more)| values.add(more, limit));
        }
        let table = blocks.table();
        let columns = table.header().iter().zip(values).map(|(name, values)| values.describe(name)).collect();
        Ok(Self { n_rows, delimiter: table.delimiter().map(char::from), columns, tally: None })
    }
}

/// Up to where the distinct values of a column are counted.
#[derive(Clone, Copy)]
struct DistinctLimit {
    n: usize,
    n_bytes: usize,
}

/// The values of a column.
#[derive(Default)]
struct ColumnValues {
    n_missing: u64,
    distinct: TextInterner,
    /// Whether there are more than were counted.
    is_cut: bool,
}

impl ColumnValues {
    fn of(rows: &RowBlock, column: usize, limit: DistinctLimit) -> Self {
        let mut values = Self::default();
        for row in 0..rows.n_rows() {
            if rows.is_missing(row, column) {
                values.n_missing += 1;
            } else {
                values.insert(rows.cell(row, column).unwrap_or_default(), limit);
            }
        }
        values
    }

    fn add(&mut self, more: &Self, limit: DistinctLimit) {
        self.n_missing += more.n_missing;
        more.distinct.iter().for_each(|cell| self.insert(cell, limit));
        self.is_cut |= more.is_cut;
    }

    fn insert(&mut self, cell: &[u8], limit: DistinctLimit) {
        if self.is_cut || self.distinct.get(cell).is_some() {
            return;
        }
        let is_first = self.distinct.is_empty();
        self.is_cut = self.distinct.len() == limit.n
            || !is_first && self.distinct.n_bytes() + cell.len() > limit.n_bytes;
        if !self.is_cut {
            self.distinct.insert(cell, 0);
        }
    }

    fn describe(&self, name: &str) -> ColumnFacts {
        let examples = self.distinct.iter().take(SHOWN).map(|cell| String::from_utf8_lossy(cell).into());
        ColumnFacts {
            name: name.to_owned(),
            n_missing: self.n_missing,
            n_distinct: self.distinct.len(),
            is_cut: self.is_cut,
            examples: examples.collect(),
        }
    }
}

impl fmt::Display for TableFacts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delimiter = match self.delimiter {
            Some('\t') => ", delimiter tab".to_owned(),
            Some(delimiter) => format!(", delimiter `{}`", printable(&delimiter.to_string())),
            None => String::new(),
        };
        writeln!(out, "table of {}{delimiter}", rows(self.n_rows))?;
        let widths = self.columns.iter().map(|column| printable(&column.name).chars().count());
        let width = widths.max().unwrap_or(0).clamp(6, 60);
        writeln!(out, "\n  {:width$}  missing  distinct  examples", "column")?;
        for column in &self.columns {
            let more = if column.is_cut { "+" } else { "" };
            let distinct = format!("{}{more}", column.n_distinct);
            let mut examples = printable(&column.examples.join(", ")).into_owned();
            if column.n_distinct > column.examples.len() {
                examples.push_str(", ..");
            }
            let (name, n_missing) = (printable(&column.name), column.n_missing);
            writeln!(out, "  {name:width$}  {n_missing:>7}  {distinct:>8}  {examples}")?;
        }
        match &self.tally {
            Some(facts) => write!(out, "\ntally of this table\n{facts}"),
            None => Ok(()),
        }
    }
}
