//! `spocc fit`: a table with truths becomes a model.

use std::time::{Duration, Instant};

use spocc::{Counting, Evidence, Model, Predictions, Truth, Watch};

use crate::{
    args::FitArgs,
    commands::limit_threads,
    error::{Error, Place, list},
    output::Output,
    table::{Answers, Lines, Na, Table},
    tell,
    words::Names,
};

/// Fits a model to a table and writes it to a file.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Refused`], [`Error::Engine`], [`Error::Io`].
pub(crate) fn fit(args: &FitArgs) -> Result<(), Error> {
    let start = Instant::now();
    let combiner = args.combiner()?;
    args.refuse_double_use()?;
    let output = Output::new(&args.output)?;
    limit_threads(args.threads);

    let rows = LabelledRows::read(args)?;
    let counting = Counting {
        // A model keeps what its method needs; a table of a large crowd would not fit otherwise.
        level: combiner.needs(),
        classes: args.class_list(),
        counts: args.count.as_ref().map(|_| rows.counts.as_slice()),
        weights: args.weight.as_ref().map(|_| rows.weights.as_slice()),
    };
    let watch = Watch::default();
    let blame = |error| rows.lines.blame(&rows.place, error);
    let evidence = Evidence::count(&rows.answers, &rows.truth, &counting, &watch).map_err(blame)?;
    let model = Model::fit(&*combiner, &evidence, &args.options(), &watch).map_err(blame)?;

    let bytes = if args.slim { model.slim().to_bytes() } else { model.to_bytes() };
    output.write(|out| out.write_all(&bytes))?;
    summarise(&model, &rows, start.elapsed());
    tell(format_args!("wrote {output} ({} bytes)", bytes.len()));
    Ok(())
}

fn summarise(model: &Model, rows: &LabelledRows, time: Duration) {
    let n = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    tell(format_args!(
        "fitted {} to {}: {}, {} ({}), {:.2} s",
        model.method(),
        n(rows.answers.n_rows(), "row", "rows"),
        n(model.classifiers().len(), "classifier", "classifiers"),
        n(model.classes().len(), "class", "classes"),
        list(model.classes()).replace('`', ""),
        time.as_secs_f64(),
    ));
    if rows.n_skipped > 0 {
        tell(format_args!("skipped {} without truth", n(rows.n_skipped, "row", "rows")));
    }
    for (name, different) in rows.answers.classifiers().iter().zip(&rows.n_different) {
        // What never says the same thing twice is a name of the row and not an opinion about it.
        if *different > 20 && different * 2 > rows.answers.n_rows() {
            tell(format_args!(
                "note: column `{name}` has {different} different answers; \
                 if it is no classifier, say so: --id {name}"
            ));
        }
    }
}

/// The rows of a table whose truth is known.
struct LabelledRows {
    place: Place,
    answers: Predictions,
    truth: Truth,
    weights: Vec<f64>,
    counts: Vec<u64>,
    lines: Lines,
    n_different: Vec<usize>,
    n_skipped: usize,
}

impl LabelledRows {
    fn read(args: &FitArgs) -> Result<Self, Error> {
        let mut table = Table::open(&args.table)?;
        let label = table.column(&args.label)?;
        let weight = Weight::find(args, &table)?;
        let na = Na(&args.na.0);
        let mut answers = Answers::new(&table, classifiers(args, &table)?, na)?;
        let mut truth = Truth::default();
        let (mut weights, mut counts) = (Vec::new(), Vec::new());
        let mut n_skipped = 0;
        while table.next()? {
            let weighed = weight.as_ref().map(|weight| weight.read(&table)).transpose()?;
            if na.is_missing(table.cell(label)) {
                n_skipped += 1;
                continue;
            }
            truth.push(Some(table.text(label)?)).map_err(|error| table.here().engine(error))?;
            answers.push(&table)?;
            match weighed {
                Some(Weighed::Weight(weight)) => weights.push(weight),
                Some(Weighed::Count(count)) => counts.push(count),
                None => {}
            }
        }
        let (place, n_different) = (table.place().clone(), answers.n_different());
        let (answers, lines) = answers.finish();
        if answers.n_rows() == 0 {
            let found = match n_skipped {
                0 => "no rows under the header".to_owned(),
                skipped => format!("none in {skipped} rows"),
            };
            return Err(place.refused(format!("a truth in column `{}` of some row", args.label), found));
        }
        Ok(Self { place, answers, truth, weights, counts, lines, n_different, n_skipped })
    }
}

/// The columns that are classifiers.
fn classifiers(args: &FitArgs, table: &Table) -> Result<Vec<usize>, Error> {
    let find = |names: Option<&Names>| names.map_or(Ok(Vec::new()), |names| table.columns(&names.0));
    let ignored = find(args.ignore.as_ref())?;
    let mut others = find(args.id.as_ref())?;
    for name in [Some(&args.label), args.weight.as_ref(), args.count.as_ref()].into_iter().flatten() {
        others.push(table.column(name)?);
    }
    let mut columns = match &args.classifiers {
        Some(names) => table.columns(&names.0)?,
        None => (0..table.header().len()).filter(|column| !others.contains(column)).collect(),
    };
    columns.retain(|column| !ignored.contains(column));
    if columns.is_empty() {
        let found = format!("only {}", list(table.header()));
        return Err(table.place().line(1).refused("at least one column that is a classifier", found));
    }
    Ok(columns)
}

/// What a row counts.
enum Weighed {
    Weight(f64),
    Count(u64),
}

/// How much a row counts.
struct Weight {
    column: usize,
    expected: String,
    whole: bool,
}

impl Weight {
    fn find(args: &FitArgs, table: &Table) -> Result<Option<Self>, Error> {
        let (name, what, whole) = match (&args.weight, &args.count) {
            (Some(name), _) => (name, "a weight from 0", false),
            (None, Some(name)) => (name, "a whole count from 0", true),
            (None, None) => return Ok(None),
        };
        let expected = format!("{what} in column `{name}`");
        Ok(Some(Self { column: table.column(name)?, expected, whole }))
    }

    fn read(&self, table: &Table) -> Result<Weighed, Error> {
        let text = table.text(self.column)?;
        let word = text.trim();
        let weighed = if self.whole {
            // Data frames write whole numbers as 3.0 where a column has gaps.
            word.strip_suffix(".0").unwrap_or(word).parse().ok().map(Weighed::Count)
        } else {
            word.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0).map(Weighed::Weight)
        };
        weighed.ok_or_else(|| table.here().refused(&self.expected, format!("`{text}`")))
    }
}
