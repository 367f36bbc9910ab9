//! The table that `spocc predict` writes: ids, the decision, and the columns of --columns.

use std::{collections::HashSet, ffi::OsStr, path::Path};

use clap::error::ErrorKind;
use spocc::{Label, conformal::PredictionSets, data::Answers, explain::NONE_OF_THESE, predict::Decisions};
use spocc_table::{
    TextColumn,
    write::{
        BlockValues, ColumnSpec, ColumnType, FileCompression, FileFormat, LabelLists, TableSchema, TextLists,
        ValueType,
    },
};

use crate::{
    args::{OutputColumn, OutputFormat, PredictArgs, usage},
    error::{Error, Location},
};

/// The columns of the output: the copied columns, the decision, then `columns`.
pub(crate) fn schema(
    ids: impl IntoIterator<Item = (String, ColumnType)>,
    columns: &[OutputColumn],
    classes: &[Label],
    is_open: bool,
    abstains: bool,
) -> TableSchema {
    let copied = ids.into_iter().map(|(name, of)| ColumnSpec { name, value_type: ValueType::Text(of) });
    let value_type = |column: OutputColumn| match column {
        OutputColumn::Decision if is_open => ValueType::Text(ColumnType::default()),
        OutputColumn::Possibility | OutputColumn::Probability if is_open => ValueType::Float,
        OutputColumn::Ties | OutputColumn::Set if is_open => ValueType::TextList,
        OutputColumn::Decision => ValueType::Label { nullable: abstains },
        OutputColumn::Margin | OutputColumn::ProbabilityNone => ValueType::Float,
        OutputColumn::Possibility | OutputColumn::Probability => ValueType::FloatPerLabel,
        // Nearly always empty.
        OutputColumn::Ties => ValueType::RareLabelList,
        OutputColumn::Answered | OutputColumn::SetSize => ValueType::Integer,
        OutputColumn::Set => ValueType::LabelList,
    };
    let decided = with_decision(columns, is_open)
        .map(|column| ColumnSpec { name: column.name().to_owned(), value_type: value_type(column) });
    TableSchema { columns: copied.chain(decided).collect(), labels: classes.to_vec() }
}

/// The decision, which is always written first, and the other columns. Beside the probability of an open answer is that of
/// none of the answers given on the row.
fn with_decision(columns: &[OutputColumn], is_open: bool) -> impl Iterator<Item = OutputColumn> {
    let others = columns.iter().copied().filter(|column| *column != OutputColumn::Decision);
    let beside = move |column: OutputColumn| {
        let none = is_open && column == OutputColumn::Probability;
        [column].into_iter().chain(none.then_some(OutputColumn::ProbabilityNone))
    };
    [OutputColumn::Decision].into_iter().chain(others.flat_map(beside))
}

/// Refuses two columns with one name.
///
/// # Errors
///
/// A usage error that names the column.
pub(crate) fn refuse_repeats(schema: &TableSchema, is_json: bool) -> Result<(), clap::Error> {
    let mut seen = HashSet::new();
    // JSON has one key for all values of a row in a column per label.
    let is_nested = |column: &&ColumnSpec| is_json && matches!(column.value_type, ValueType::FloatPerLabel);
    let nested = schema.columns.iter().filter(is_nested).map(|column| column.name.clone());
    match schema.names().into_iter().chain(nested).find(|name| !seen.insert(name.clone())) {
        Some(twice) => {
            let message = format!("the output would have two columns `{twice}`");
            Err(usage("predict", ErrorKind::ArgumentConflict, &message))
        }
        None => Ok(()),
    }
}

/// The format of --format or of the file name of -o, and the compression of that name.
///
/// # Errors
///
/// [`Error::Usage`] for Parquet in a build without it, or with another compression; [`Error::Table`] for
/// --protect-formulas with another format than CSV.
pub(crate) fn file_format(args: &PredictArgs) -> Result<(FileFormat, FileCompression), Error> {
    let path = &args.output;
    let extension = |path: &Path| {
        path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase).unwrap_or_default()
    };
    let (compression, inner) = match extension(path).as_str() {
        "gz" => (FileCompression::Gzip, path.with_extension("")),
        "zst" | "zstd" => (FileCompression::Zstd, path.with_extension("")),
        _ => (FileCompression::None, path.to_owned()),
    };
    let extension = extension(&inner);
    let asked = args.format.unwrap_or(match extension.as_str() {
        "parquet" | "pq" => OutputFormat::Parquet,
        "json" | "jsonl" | "ndjson" => OutputFormat::Json,
        _ => OutputFormat::Csv,
    });
    let refuse = |message: &str| Err(usage("predict", ErrorKind::InvalidValue, message).into());
    if args.protect_formulas && asked != OutputFormat::Csv {
        let found = if asked == OutputFormat::Json { "JSON" } else { "Parquet" };
        return Err(Location::file(path, "standard output")
            .refused("CSV for --protect-formulas", found)
            .into());
    }
    let format = match asked {
        OutputFormat::Csv => FileFormat::Csv {
            delimiter: if extension == "tsv" { b'\t' } else { b',' },
            protect_formulas: args.protect_formulas,
        },
        OutputFormat::Json => FileFormat::Json { lines: matches!(extension.as_str(), "jsonl" | "ndjson") },
        OutputFormat::Parquet if cfg!(not(feature = "arrow")) => {
            return refuse(
                "this spocc cannot write Parquet; one built with `--features arrow` can, see the README",
            );
        }
        OutputFormat::Parquet if compression != FileCompression::None => {
            return refuse("Parquet files are compressed internally; use a name that ends in .parquet");
        }
        OutputFormat::Parquet => FileFormat::Parquet,
    };
    Ok((format, compression))
}

/// The columns of decided open answers, whose labels differ from row to row.
pub(crate) struct OpenColumns {
    decision: TextColumn,
    possibility: Vec<f64>,
    probability: Vec<f64>,
    probability_none: Vec<f64>,
    ties: TextLists,
    sets: TextLists,
}

impl OpenColumns {
    /// The columns of decisions of which the first is that of row `first`.
    pub(crate) fn new(
        answers: &Answers,
        first: usize,
        decisions: &Decisions,
        abstained: &[bool],
        sets: Option<&PredictionSets>,
    ) -> Self {
        let mut columns = Self {
            decision: TextColumn::default(),
            possibility: Vec::new(),
            probability: Vec::new(),
            probability_none: Vec::new(),
            ties: TextLists::default(),
            sets: TextLists::default(),
        };
        for row in 0..decisions.len() {
            let text = |class: u16| answers.answer(first + row, class).map(ToString::to_string);
            let class = decisions.class[row];
            let abstains = abstained.get(row).copied().unwrap_or(false);
            columns.decision.push(text(class).filter(|_| !abstains).as_deref());
            let of_class = |column: &Option<Vec<f64>>, class: u16| {
                decisions.of_row(column, row).map(|values| values[usize::from(class)])
            };
            // A row without a decision has none of these as its class.
            let of_decision =
                |column| of_class(column, class).map(|value| if class == 0 { 0.0 } else { value });
            columns.possibility.extend(of_decision(&decisions.possibility));
            columns.probability.extend(of_decision(&decisions.probability));
            columns.probability_none.extend(of_class(&decisions.probability, 0));
            let name = |class: u16| text(class).unwrap_or_else(|| NONE_OF_THESE.to_owned());
            let tied: Vec<String> = ties(decisions, row).map(name).collect();
            columns.ties.push(tied.iter().map(String::as_str));
            let set = sets.and_then(|sets| sets.get(row)).unwrap_or_default();
            let set: Vec<String> = set.iter().map(|&class| name(class)).collect();
            columns.sets.push(set.iter().map(String::as_str));
        }
        columns
    }

    /// A column that differs from that of decided classes.
    fn column(&self, column: OutputColumn) -> Option<BlockValues<'_>> {
        match column {
            OutputColumn::Decision => Some(BlockValues::Text(&self.decision, 0)),
            OutputColumn::Possibility => Some(BlockValues::Float(&self.possibility)),
            OutputColumn::Probability => Some(BlockValues::Float(&self.probability)),
            OutputColumn::ProbabilityNone => Some(BlockValues::Float(&self.probability_none)),
            OutputColumn::Ties => Some(BlockValues::TextLists(&self.ties)),
            OutputColumn::Set => Some(BlockValues::TextLists(&self.sets)),
            OutputColumn::Margin | OutputColumn::Answered | OutputColumn::SetSize => None,
        }
    }
}

/// Decided rows.
pub(crate) struct DecidedBlock<'a> {
    /// The columns of open answers, if they are open.
    pub(crate) open: Option<&'a OpenColumns>,
    /// One list per copied column; its entry `first` belongs to the first row.
    pub(crate) ids: &'a [TextColumn],
    pub(crate) first: usize,
    /// Whether each decision is left empty; an empty list without abstention.
    pub(crate) abstained: &'a [bool],
    /// The decisions, with the columns that are written.
    pub(crate) decisions: &'a Decisions,
    /// The prediction sets, if they are written.
    pub(crate) sets: Option<&'a PredictionSets>,
}

impl DecidedBlock<'_> {
    /// The values of all columns, in the order of [`schema`].
    pub(crate) fn values(&self, columns: &[OutputColumn]) -> Vec<BlockValues<'_>> {
        let ids = self.ids.iter().map(|ids| BlockValues::Text(ids, self.first));
        let decided = with_decision(columns, self.open.is_some()).map(|column| self.column(column));
        ids.chain(decided).collect()
    }

    fn column(&self, column: OutputColumn) -> BlockValues<'_> {
        if let Some(values) = self.open.and_then(|open| open.column(column)) {
            return values;
        }
        let decisions = self.decisions;
        let rows = 0..decisions.len();
        match column {
            OutputColumn::Decision => BlockValues::Label(rows.map(|row| self.class(row)).collect()),
            OutputColumn::Margin => BlockValues::Float(decisions.margin.as_deref().unwrap_or_default()),
            OutputColumn::Possibility => {
                BlockValues::Float(decisions.possibility.as_deref().unwrap_or_default())
            }
            OutputColumn::Probability | OutputColumn::ProbabilityNone => {
                BlockValues::Float(decisions.probability.as_deref().unwrap_or_default())
            }
            OutputColumn::Ties => {
                let mut lists = LabelLists::default();
                rows.for_each(|row| lists.push(ties(decisions, row)));
                BlockValues::LabelLists(lists)
            }
            OutputColumn::Answered => BlockValues::Integer(decisions.n_answered.clone().unwrap_or_default()),
            OutputColumn::Set => {
                let mut lists = LabelLists::default();
                rows.for_each(|row| lists.push(self.set(row).iter().copied()));
                BlockValues::LabelLists(lists)
            }
            OutputColumn::SetSize => {
                BlockValues::Integer(rows.map(|row| self.set(row).len() as u32).collect())
            }
        }
    }

    /// The index of the decided class of a row; none if the decision is left empty.
    fn class(&self, row: usize) -> Option<u16> {
        let abstains = self.abstained.get(row).copied().unwrap_or(false);
        (!abstains).then(|| self.decisions.class[row])
    }

    /// The indices of the classes in the prediction set of a row.
    fn set(&self, row: usize) -> &[u16] {
        self.sets.and_then(|sets| sets.get(row)).unwrap_or_default()
    }
}

/// The indices of the tied classes of a row; none if there is no tie.
fn ties(decisions: &Decisions, row: usize) -> impl Iterator<Item = u16> {
    let is_tied = decisions.of_row(&decisions.ties, row).unwrap_or_default();
    let is_tied = if decisions.is_tie[row] { is_tied } else { &[] };
    is_tied.iter().zip(0..).filter(|(is_tied, _)| **is_tied).map(|(_, class)| class)
}
