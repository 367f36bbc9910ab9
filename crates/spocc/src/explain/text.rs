//! An explanation as text.

use std::{borrow::Cow, fmt};

use crate::{
    data::Label,
    decision::Basis,
    explain::{Contribution, Explanation},
    printable,
};

/// Names longer than this are not aligned.
const WIDEST: usize = 60;
/// Classes shown in a text: the more possible ones.
const SHOWN_CLASSES: usize = 6;
/// Flips shown in a text.
const SHOWN_FLIPS: usize = 8;

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_decision(out)?;
        self.write_contributions(out)?;
        self.write_joins(out)?;
        self.write_flips(out)
    }
}

impl Explanation {
    fn write_decision(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decision = &self.decision;
        let label = |label: &Label| shown_text(&label.to_string());
        if self.is_open && decision.basis == Basis::Prior {
            write!(out, "not decided")?;
        } else {
            write!(out, "decided: {}", label(&decision.label))?;
        }
        match self.runner_up {
            _ if decision.basis == Basis::Prior => {
                let answered = decision.n_answered > 0;
                let reason =
                    if answered { "the model cannot use these predictions" } else { "no prediction" };
                let what = if self.is_open { "" } else { ", the most frequent class" };
                write!(out, "{what}: {reason}")?;
            }
            _ if decision.is_tie() => {
                let tied: Vec<String> = decision.ties.iter().map(|&i| label(&self.classes[i])).collect();
                write!(out, ", tied: {}", tied.join(", "))?;
            }
            Some(next) => {
                write!(out, ", next: {}, margin {:.3}", label(&self.classes[next]), decision.margin)?;
                write!(out, " ({})", self.margin_of)?;
            }
            None => {}
        }
        writeln!(out, ", {} of {} answered", decision.n_answered, self.contributions.len())
    }

    /// The candidates of a row of open answers, the most probable first, and what every classifier adds to its answer.
    fn write_candidates(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.classes.iter().map(|label| shown_text(&label.to_string())).collect();
        let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max("answer".len());
        let degrees = self.decision.possibility.degrees();
        let shares = self.decision.probability.as_deref();
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by(|&a, &b| {
            let value = |class: usize| shares.map_or(degrees[class], |shares| shares[class]);
            value(b).total_cmp(&value(a)).then(a.cmp(&b))
        });
        let heading = if shares.is_some() { "probability" } else { "possibility" };
        writeln!(out, "\n{:width$}  {heading}", "answer")?;
        for class in order {
            let value = shares.map_or(degrees[class], |shares| shares[class]);
            writeln!(out, "{:width$}  {:>11}", texts[class], percent(value))?;
        }
        let rows: Vec<ShownRow<'_>> = self.contributions.iter().map(ShownRow::of).collect();
        let name = widest(rows.iter().map(|row| &*row.classifier), "classifier");
        writeln!(out, "\n{:name$}  {:width$}  contribution", "classifier", "answer")?;
        for ShownRow { classifier, prediction, of } in rows {
            let answer = prediction.map_or_else(|| "-".to_owned(), |answer| shortened(&answer));
            let value = of.contribution.map_or(String::new(), |value| format!("{value:+.2}"));
            writeln!(out, "{}", format!("{classifier:name$}  {answer:width$}  {value:>12}").trim_end())?;
        }
        Ok(())
    }

    fn write_contributions(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_open {
            return self.write_candidates(out);
        }
        let degrees = self.decision.possibility.degrees();
        let mut shown: Vec<usize> = (0..self.classes.len()).collect();
        shown.sort_by(|&a, &b| degrees[b].total_cmp(&degrees[a]));
        shown.truncate(SHOWN_CLASSES);
        shown.sort_unstable();
        let classes: Vec<String> =
            shown.iter().map(|&i| printable(&self.classes[i].to_string()).into_owned()).collect();
        let widths: Vec<usize> = classes.iter().map(|class| class.chars().count().clamp(6, WIDEST)).collect();
        let row = |out: &mut fmt::Formatter<'_>, degrees: &[f64]| {
            let mut cells = shown.iter().zip(&widths);
            cells.try_for_each(|(&i, &width)| write!(out, "  {:>width$}", percent(degrees[i])))
        };
        let rows: Vec<ShownRow<'_>> = self.contributions.iter().map(ShownRow::of).collect();
        let name = widest(rows.iter().map(|row| &*row.classifier), "possibility");
        let label = widest(rows.iter().filter_map(|row| row.prediction.as_deref()), "prediction");

        write!(out, "\n{:name$}  {:label$}", "classifier", "prediction")?;
        classes.iter().zip(&widths).try_for_each(|(class, width)| write!(out, "  {class:>width$}"))?;
        writeln!(out, "  contribution")?;
        for ShownRow { classifier, prediction, of } in rows {
            let Contribution { possibility, contribution, .. } = of;
            write!(out, "{classifier:name$}  ")?;
            // A missing prediction has no values, unless it is an answer and so contributes.
            if prediction.is_none() && contribution.is_none() {
                writeln!(out, "-")?;
                continue;
            }
            write!(out, "{:label$}", prediction.as_deref().unwrap_or("-"))?;
            match possibility {
                Some(degrees) => row(out, degrees)?,
                None => widths.iter().try_for_each(|width| write!(out, "  {:>width$}", ""))?,
            }
            writeln!(out, "  {:>12}", contribution.map_or(String::new(), |value| format!("{value:+.2}")))?;
        }
        let probability = self.decision.probability.as_deref().map(|shares| ("probability", shares));
        for (heading, degrees) in [("possibility", degrees)].into_iter().chain(probability) {
            write!(out, "{heading:name$}  {:label$}", "")?;
            row(out, degrees)?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn write_joins(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.joins.is_empty() {
            return Ok(());
        }
        writeln!(out, "\njoined (exponent 1: as independent, infinity: as copies)")?;
        for (number, join) in (1..).zip(&self.joins) {
            let members = crate::error::list(&join.members);
            // Four digits without trailing zeros.
            let exponent = (f64::from(join.exponent) * 1e4).round() / 1e4;
            writeln!(out, "  #{number}  exponent {exponent:<6}  {members}")?;
        }
        Ok(())
    }

    fn write_flips(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(flips) = &self.flips else {
            return writeln!(out, "\ntoo many classifiers and labels to search for changes of the decision");
        };
        if flips.is_empty() {
            return writeln!(out, "\nno other prediction of one classifier would change the decision");
        }
        writeln!(out, "\nany one of these would change the decision")?;
        for flip in flips.iter().take(SHOWN_FLIPS) {
            let instead = match &flip.instead {
                Some(label) => format!("predicts {}", shown_text(&label.to_string())),
                None => "has no prediction".to_owned(),
            };
            let classifier = printable(&flip.classifier);
            writeln!(out, "  if {classifier} {instead}: {}", shown_text(&flip.becomes.to_string()))?;
        }
        match flips.len().saturating_sub(SHOWN_FLIPS) {
            0 => Ok(()),
            more => writeln!(out, "  and {more} more"),
        }
    }
}

/// A classifier and its prediction as a report shows them.
struct ShownRow<'a> {
    classifier: Cow<'a, str>,
    prediction: Option<Cow<'a, str>>,
    of: &'a Contribution,
}

impl<'a> ShownRow<'a> {
    fn of(row: &'a Contribution) -> Self {
        let prediction = row.prediction.as_deref().map(printable);
        Self { classifier: printable(&row.classifier), prediction, of: row }
    }
}

/// The width of a column of texts below a heading.
fn widest<'t>(texts: impl Iterator<Item = &'t str>, heading: &str) -> usize {
    texts.map(|text| text.chars().count().min(WIDEST)).max().unwrap_or(0).max(heading.len())
}

/// A label on one line of a report, shortened where it is long.
fn shown_text(text: &str) -> String {
    shortened(&printable(text))
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}..", &line[..end]),
        None => line.to_owned(),
    }
}

fn percent(degree: f64) -> String {
    if degree > 0.0 && degree < 0.001 { format!("{degree:.0e}") } else { format!("{degree:.3}") }
}
