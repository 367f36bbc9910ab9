//! `spocc predict`: a model decides the rows of a table.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use spocc::{Aligned, Decision, Decisions, Label, Model, Watch};

use crate::{
    args::PredictArgs,
    commands::limit_threads,
    error::{Error, Place, list, suggestion},
    output::Output,
    table::{Answers, Na, Table},
    tell,
    words::Column,
};

/// Unseen answers told one by one.
const SHOWN: usize = 8;

/// Decides every row of a table and writes the decisions.
///
/// # Errors
///
/// [`Error::Refused`], [`Error::Engine`], [`Error::Io`].
pub(crate) fn predict(args: &PredictArgs) -> Result<(), Error> {
    args.refuse_repeats()?;
    let output = Output::new(&args.output)?;
    limit_threads(args.threads);
    let model = read_model(&args.model)?;

    let mut table = Table::open(&args.table)?;
    let ids = args.id.as_ref().map_or(&[][..], |names| &names.0);
    let id_columns = table.columns(ids)?;
    let columns = columns_of(&model, &table)?;
    let mut answers = Answers::new(&table, columns, Na(&args.na.0))?;
    // All ids, row after row.
    let mut copied = csv::ByteRecord::new();
    while table.next()? {
        answers.push(&table)?;
        for &column in &id_columns {
            copied.push_field(table.text(column)?.as_bytes());
        }
    }
    let (answers, lines) = answers.finish();
    let blame = |error| lines.blame(table.place(), error);
    let mut aligned = model.align(&answers).map_err(blame)?;
    if args.strict {
        aligned = aligned.strict().map_err(blame)?;
    }
    let decisions = aligned.decide_all(&Watch::default()).map_err(blame)?;

    let report =
        Report { ids, copied: &copied, columns: &args.columns, aligned: &aligned, decisions: &decisions };
    output.write(|out| report.write(model.classes(), out).map_err(io_error))?;
    summarise(&model, &decisions);
    Ok(())
}

fn read_model(path: &Path) -> Result<Model, Error> {
    let place = Place::file(path, "-");
    let bytes = fs::read(path).map_err(|source| place.io("a model file", source))?;
    Model::from_bytes(&bytes).map_err(|error| match error {
        spocc::Error::NotOurs { .. } => {
            let found = match std::str::from_utf8(&bytes) {
                Ok("") => "an empty file",
                Ok(_) => "a text (is it the table? the model comes first)",
                Err(_) => "something else",
            };
            place.refused("a model written by `spocc fit`", found)
        }
        other => place.engine(other),
    })
}

/// The columns of the model's classifiers.
fn columns_of(model: &Model, table: &Table) -> Result<Vec<usize>, Error> {
    let missing: Vec<&String> = model.classifiers().iter().filter(|name| !table.has(name)).collect();
    let Some(first) = missing.first() else { return table.columns(model.classifiers()) };
    let expected = format!("a column for each of the model's {} classifiers", model.classifiers().len());
    let near = suggestion(first, table.header());
    let found = if missing.len() == model.classifiers().len() {
        format!("none of {}{near}", list(&missing))
    } else {
        format!("no {}{near}", list(&missing))
    };
    Err(table.place().line(1).refused(expected, found))
}

fn summarise(model: &Model, decisions: &Decisions) {
    let n = decisions.rulings().len();
    let rows = if n == 1 { "row" } else { "rows" };
    tell(format_args!(
        "decided {n} {rows} by {}: {} tied, {} by the prior alone",
        model.method(),
        decisions.n_ties(),
        decisions.n_prior()
    ));
    for unseen in decisions.unseen().iter().take(SHOWN) {
        tell(format_args!(
            "note: `{}` said `{}` in {} of them, which the model never met: taken for silence",
            unseen.classifier, unseen.label, unseen.n_rows
        ));
    }
    if let more @ 1.. = decisions.unseen().len().saturating_sub(SHOWN) {
        tell(format_args!("note: and {more} more such answers"));
    }
}

/// Decided rows on their way out.
struct Report<'a> {
    ids: &'a [String],
    copied: &'a csv::ByteRecord,
    columns: &'a [Column],
    aligned: &'a Aligned<'a>,
    decisions: &'a Decisions,
}

/// Rows decided in full at a time.
const BLOCK: usize = 1 << 16;

impl Report<'_> {
    fn write(&self, classes: &[Label], out: &mut dyn Write) -> csv::Result<()> {
        let mut out = csv::Writer::from_writer(out);
        self.ids.iter().try_for_each(|name| out.write_field(name))?;
        out.write_field("decision")?;
        for column in self.columns {
            match column {
                Column::Decision => {}
                Column::Margin => out.write_field("margin")?,
                Column::Possibility => {
                    classes.iter().try_for_each(|class| out.write_field(format!("possibility:{class}")))?;
                }
                Column::Ties => out.write_field("ties")?,
                Column::Answered => out.write_field("answered")?,
            }
        }
        out.write_record(None::<&[u8]>)?;

        let texts: Vec<String> = classes.iter().map(ToString::to_string).collect();
        // Decisions in full cost more than labels alone: they are made only for what needs them.
        let in_full = self.columns.iter().any(|column| *column != Column::Decision);
        let mut ids = self.copied.iter();
        let mut start = 0;
        for block in self.decisions.rulings().chunks(BLOCK) {
            let rows = if in_full { start..start + block.len() } else { 0..0 };
            let decisions = self.aligned.decide_rows(rows).map_err(io::Error::other)?;
            for (at, ruling) in block.iter().enumerate() {
                ids.by_ref().take(self.ids.len()).try_for_each(|id| out.write_field(id))?;
                out.write_field(&texts[usize::from(ruling.class)])?;
                if let Some(decision) = decisions.get(at) {
                    self.columns.iter().try_for_each(|column| cells(*column, decision, &texts, &mut out))?;
                }
                out.write_record(None::<&[u8]>)?;
            }
            start += block.len();
        }
        Ok(out.flush()?)
    }
}

/// What the system said when a table could not be written.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn cells<W: Write>(
    column: Column,
    decision: &Decision,
    classes: &[String],
    out: &mut csv::Writer<W>,
) -> csv::Result<()> {
    // The debug form of a float is the shortest that reads back as the same number, small ones included.
    match column {
        Column::Decision => Ok(()),
        Column::Margin => out.write_field(format!("{:?}", decision.margin)),
        Column::Possibility => decision
            .possibility
            .degrees()
            .iter()
            .try_for_each(|degree| out.write_field(format!("{degree:?}"))),
        Column::Ties if decision.is_tie() => {
            let tied: Vec<&str> = decision.ties.iter().map(|&class| classes[class].as_str()).collect();
            out.write_field(tied.join("|"))
        }
        Column::Ties => out.write_field(""),
        Column::Answered => out.write_field(decision.answered.to_string()),
    }
}
