//! `spocc inspect`: what is in a file, and what it gives away.

use std::{fmt, path::Path};

use serde::Serialize;
use spocc::{
    Control, Evidence, Label, Method, Model,
    conformal::ConformalSettings,
    data::Missing,
    decision::TieBreak,
    evidence::{Level, SmallCounts},
    methods::Parameters,
};
use spocc_table::{RowBlock, Table, TextInterner};

use crate::{
    args::InspectArgs,
    commands::fit::declining,
    error::{Error, list},
    input::Input,
    labelled::{Keep, Labelled, rows},
    report,
};

/// Counts below these are what a reader of a tally might ask about.
const SMALL: [u64; 3] = [2, 5, 10];

/// Different cells that are told apart in a column.
const DIFFERENT: usize = 10_000;

/// Cells of a column that are shown.
const SHOWN: usize = 4;

/// What a file is.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Inspection {
    Model(Box<ModelFacts>),
    Tally(TallyFacts),
    Table(TableFacts),
}

#[derive(Serialize)]
struct ModelFacts {
    method: Method,
    missing: Missing,
    /// Whose silence is an answer.
    declining: Vec<String>,
    ties: TieBreak,
    /// How much rows of each class counted; empty if all alike.
    class_weights: Vec<f64>,
    classifiers: Vec<String>,
    classes: Vec<Label>,
    fitted: Parameters,
    /// What its sets can promise; none if it was not calibrated.
    calibration: Option<CalibrationFacts>,
    /// What it holds of its rows; none if it is slim.
    evidence: Option<TallyFacts>,
}

#[derive(Serialize)]
struct CalibrationFacts {
    #[serde(flatten)]
    how: ConformalSettings,
    /// Rows that gave scores: in all, or of each class.
    n_rows: Vec<u64>,
    #[serde(skip)]
    text: String,
}

#[derive(Serialize)]
struct TallyFacts {
    level: Level,
    n_rows: f64,
    /// Rows counted without their truth.
    n_unlabelled: f64,
    is_weighted: bool,
    classifiers: Vec<String>,
    classes: Vec<Label>,
    /// What was said and can never be decided.
    other_answers: Vec<Label>,
    n_patterns: Option<usize>,
    /// How many rows hide behind counts below each number; none for weights.
    exposed: Option<Vec<Exposed>>,
}

#[derive(Serialize)]
struct Exposed {
    below: u64,
    #[serde(flatten)]
    exposure: SmallCounts,
}

#[derive(Serialize)]
struct TableFacts {
    n_rows: u64,
    /// What stands between cells; none if it is no text.
    delimiter: Option<char>,
    columns: Vec<ColumnFacts>,
    /// What a tally of it would hold, if the truth is known.
    tally: Option<TallyFacts>,
}

#[derive(Serialize)]
struct ColumnFacts {
    name: String,
    n_missing: u64,
    /// Different cells that are not missing, told apart up to ten thousand.
    n_different: usize,
    /// The first few of them.
    examples: Vec<String>,
}

/// Says what is in a file.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn inspect(args: &InspectArgs, control: &Control<'_>) -> Result<(), Error> {
    let inspection = match Input::open(&args.input, &args.panel.table.reading())? {
        Input::Model(_, model) => {
            args.panel.refuse_columns("inspect", "a model")?;
            Inspection::Model(Box::new(ModelFacts::of(&model)))
        }
        Input::Tally(place, evidence) => {
            args.panel.refuse_columns("inspect", "a tally")?;
            let labelled = Labelled::of_tally(place, &evidence, &args.panel, control)?;
            Inspection::Tally(TallyFacts::of(&labelled.evidence))
        }
        Input::Table(table) => Inspection::Table(inspect_table(*table, args, control)?),
    };
    crate::progress::clear();
    report::print(args.json, &inspection, || report::plain(&inspection.to_string()))
}

fn inspect_table(table: Table, args: &InspectArgs, control: &Control<'_>) -> Result<TableFacts, Error> {
    let place = table.location().clone();
    let mut facts = TableFacts::read(table)?;
    if args.panel.label.is_some() {
        if args
            .input
            .iter()
            .any(|name| name == Path::new("-") || (name.exists() && !name.is_file() && !name.is_dir()))
        {
            return Err(place.refused("a file, to read it twice", "something that can be read once").into());
        }
        let labelled =
            Labelled::read(&args.input, &args.panel, "inspect", Keep::labelled(Level::Tally), control)?;
        facts.tally = Some(TallyFacts::of(&labelled.evidence));
    }
    Ok(facts)
}

impl ModelFacts {
    fn of(model: &Model) -> Self {
        Self {
            method: model.method(),
            missing: model.missing(),
            declining: declining(model).into_iter().cloned().collect(),
            ties: model.ties(),
            class_weights: model.class_weights().to_vec(),
            classifiers: model.classifiers().to_vec(),
            classes: model.classes().to_vec(),
            fitted: model.parameters(),
            calibration: model.calibration().map(|calibration| CalibrationFacts {
                how: calibration.settings(),
                n_rows: calibration.n_rows(),
                text: calibration.to_string(),
            }),
            evidence: model.evidence().map(TallyFacts::of),
        }
    }
}

impl TallyFacts {
    fn of(evidence: &Evidence) -> Self {
        let exposed =
            |below: u64| evidence.small_counts(below).ok().map(|exposure| Exposed { below, exposure });
        let classes = evidence.candidate_classes();
        let is_other = |label: &&spocc::Label| !classes.contains(label);
        Self {
            level: evidence.level(),
            n_rows: evidence.n_rows(),
            n_unlabelled: evidence.n_unlabelled(),
            is_weighted: evidence.is_weighted(),
            classifiers: evidence.classifiers().to_vec(),
            other_answers: evidence.labels().all().iter().filter(is_other).cloned().collect(),
            classes,
            n_patterns: evidence.n_patterns(),
            exposed: SMALL.into_iter().map(exposed).collect(),
        }
    }
}

impl TableFacts {
    fn read(mut table: Table) -> Result<Self, Error> {
        let width = table.header().len();
        table.select_columns(0..width);
        let told_apart = DIFFERENT.min(1_000_000 / width.max(1)).max(SHOWN);
        let mut blocks = table.map_blocks(move |rows| {
            (rows.n_rows(), (0..width).map(|column| Seen::of(rows, column, told_apart)).collect::<Vec<_>>())
        });
        let mut seen: Vec<Seen> = (0..width).map(|_| Seen::default()).collect();
        let mut n_rows = 0;
        while let Some((n, more)) = blocks.next()? {
            n_rows += n as u64;
            seen.iter_mut().zip(&more).for_each(|(seen, more)| seen.add(more, told_apart));
        }
        let table = blocks.table();
        let facts = |(name, seen): (&String, Seen)| ColumnFacts {
            name: name.clone(),
            n_missing: seen.n_missing,
            n_different: seen.cells.len(),
            examples: seen
                .cells
                .iter()
                .take(SHOWN)
                .map(|cell| String::from_utf8_lossy(cell).into())
                .collect(),
        };
        let columns = table.header().iter().zip(seen).map(facts).collect();
        Ok(Self { n_rows, delimiter: table.delimiter().map(char::from), columns, tally: None })
    }
}

/// What was seen in a column.
#[derive(Default)]
struct Seen {
    n_missing: u64,
    cells: TextInterner,
}

impl Seen {
    fn of(rows: &RowBlock, column: usize, told_apart: usize) -> Self {
        let mut seen = Self::default();
        for row in 0..rows.n_rows() {
            if rows.is_missing(row, column) {
                seen.n_missing += 1;
            } else {
                seen.tell_apart(rows.cell(row, column).unwrap_or_default(), told_apart);
            }
        }
        seen
    }

    fn add(&mut self, more: &Self, told_apart: usize) {
        self.n_missing += more.n_missing;
        more.cells.iter().for_each(|cell| self.tell_apart(cell, told_apart));
    }

    fn tell_apart(&mut self, cell: &[u8], told_apart: usize) {
        if self.cells.len() < told_apart && self.cells.get(cell).is_none() {
            self.cells.insert(cell, 0);
        }
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(facts) => facts.fmt(out),
            Self::Tally(facts) => write!(out, "a tally\n{facts}"),
            Self::Table(facts) => facts.fmt(out),
        }
    }
}

/// One fact a line, under each other.
fn fact(out: &mut fmt::Formatter<'_>, name: &str, value: impl fmt::Display) -> fmt::Result {
    writeln!(out, "  {name:<12} {value}")
}

/// Names without their quotes, and how many.
fn names<T: fmt::Display>(all: &[T]) -> String {
    format!("{}: {}", all.len(), list(all).replace('`', ""))
}

impl fmt::Display for ModelFacts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "a model of {}", self.method)?;
        fact(out, "classifiers", names(&self.classifiers))?;
        fact(out, "classes", names(&self.classes))?;
        let silence = match (self.missing, &self.declining[..]) {
            (Missing::Answer, _) => "an answer like any other".to_owned(),
            (_, []) => "no distribution".to_owned(),
            (_, some) => {
                format!("an answer of {}, no distribution of anyone else", list(some).replace('`', ""))
            }
        };
        fact(out, "empty cell", silence)?;
        if !self.class_weights.is_empty() {
            let weights = self.classes.iter().zip(&self.class_weights);
            let weights: Vec<String> =
                weights.map(|(class, weight)| format!("{class} {weight:.3}")).collect();
            fact(out, "weights", list(weights).replace('`', ""))?;
        }
        fact(out, "ties", format_args!("{} of the equally good classes", self.ties))?;
        fact(out, "parameters", ParameterLines(&self.fitted))?;
        if let Some(calibration) = &self.calibration {
            fact(out, "calibrated", &calibration.text)?;
        }
        match &self.evidence {
            Some(facts) => {
                write!(out, "its counts, for append and audit (leave them out with `fit --slim`)\n{facts}")
            }
            None => writeln!(out, "it holds no counts"),
        }
    }
}

/// Parameters parameters in a line.
struct ParameterLines<'a>(&'a Parameters);

impl fmt::Display for ParameterLines<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Parameters::Ladder { fallback: Some(fallback), .. } => write!(out, "fallback to {fallback}"),
            Parameters::Ladder { penalty, pattern_shrinkage, .. } => match (penalty, pattern_shrinkage) {
                (None, None) => write!(out, "the core alone carries"),
                (Some(m), None) => write!(out, "core and residual (penalty {m})"),
                (None, Some(t)) => write!(out, "core and pattern table (pull {t})"),
                (Some(m), Some(t)) => {
                    write!(out, "core, residual (penalty {m}) and pattern table (pull {t})")
                }
            },
            Parameters::Spocc { exponent } => write!(out, "exponent {}", f64::from(*exponent)),
            Parameters::AdaSpocc { exponents, severity, .. } => {
                let fitted = exponents.iter().filter(|exponent| f64::from(**exponent) > 1.0).count();
                write!(out, "{fitted} of {} merges above exponent 1, severity {severity:.3}", exponents.len())
            }
            Parameters::Selection { ranking } => {
                write!(out, "listens to classifier {} first", ranking.first().map_or(0, |best| best + 1))
            }
            Parameters::Vote { rate: Some(rate), .. } => write!(out, "rate {rate:.3}"),
            Parameters::Vote { rate: None, .. } => write!(out, "a weight per classifier"),
            Parameters::NaiveBayes { prior } => write!(out, "{} class frequencies", prior.len()),
            Parameters::Bayes { n_patterns } => write!(out, "{n_patterns} patterns"),
            Parameters::Stacking { strength, coefficients, .. } => {
                write!(out, "{} coefficients, strength {strength:.3}", coefficients.len())
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for TallyFacts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weights = if self.is_weighted { " by weight" } else { "" };
        let unlabelled = match self.n_unlabelled {
            0.0 => String::new(),
            n => format!(", and {n}{weights} without truth"),
        };
        fact(out, "rows", format_args!("{}{weights}{unlabelled}", self.n_rows))?;
        fact(out, "classifiers", names(&self.classifiers))?;
        fact(out, "classes", names(&self.classes))?;
        if !self.other_answers.is_empty() {
            fact(out, "answers", format_args!("{} more, never decided", names(&self.other_answers)))?;
        }
        let (kind, shared) = match self.n_patterns {
            Some(n) => (format!("{n} patterns of answers"), "pattern and truth"),
            None => ("how each classifier answered each truth".to_owned(), "answer and truth"),
        };
        fact(out, "counts", kind)?;
        let Some(exposed) = &self.exposed else {
            return fact(out, "exposed", "not known: rows have weights");
        };
        let of = |below: u64| {
            exposed.iter().find(|exposed| exposed.below == below).map(|exposed| exposed.exposure)
        };
        let [once, few, some] = SMALL.map(|below| of(below).unwrap_or_default());
        fact(
            out,
            "exposed",
            format_args!(
                "{} whose {shared} nobody shares; {} shared by fewer than 5, {} by fewer than 10",
                if self.n_patterns.is_some() {
                    rows(once.n_rows)
                } else {
                    format!("{} counts", once.n_counts)
                },
                if self.n_patterns.is_some() { few.n_rows } else { few.n_counts },
                if self.n_patterns.is_some() { some.n_rows } else { some.n_counts },
            ),
        )
    }
}

impl fmt::Display for TableFacts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delimiter = match self.delimiter {
            Some('\t') => ", cells between tabs".to_owned(),
            Some(delimiter) => format!(", cells between `{delimiter}`"),
            None => String::new(),
        };
        writeln!(out, "a table of {}{delimiter}", rows(self.n_rows))?;
        let wide =
            self.columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0).clamp(6, 60);
        writeln!(out, "\n  {:wide$}  missing  different  such as", "column")?;
        for column in &self.columns {
            let different = if column.n_different == DIFFERENT {
                format!("{DIFFERENT}+")
            } else {
                column.n_different.to_string()
            };
            let mut examples = column.examples.join(", ");
            if column.n_different > column.examples.len() {
                examples.push_str(", ..");
            }
            writeln!(out, "  {:wide$}  {:>7}  {different:>9}  {examples}", column.name, column.n_missing)?;
        }
        match &self.tally {
            Some(facts) => write!(out, "\nits tally\n{facts}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_expose_nothing_that_could_be_counted() {
        let mut rows = spocc::Predictions::builder(["a"]).expect("a name");
        rows.push([Some("x")]).expect("an answer");
        let truth = spocc::Truth::new([Some("x")]).expect("a truth");
        let counting =
            spocc::evidence::Counting { weights: Some(&[0.5]), ..spocc::evidence::Counting::default() };
        let evidence =
            Evidence::count(&rows.finish(), &truth, &counting, &Control::default()).expect("a weighted row");
        let facts = TallyFacts::of(&evidence);
        assert!(facts.exposed.is_none());
        let text = facts.to_string();
        assert!(text.contains("0.5 by weight") && text.contains("not known"), "{text}");
    }
}
