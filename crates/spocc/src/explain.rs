//! Explanation: why one row was decided as it was.
//!
//! In: a model and a row. Out: what each classifier said and how possible it left each class, who was joined
//! with whom at which exponent, whose voice decided, and which single other answer would have flipped it.

use std::fmt;

use serde::Serialize;

use crate::{
    data::{Label, MISSING, Row},
    decision::Decision,
    error::Error,
    fusion::{Exponent, Operand},
    math::exp,
    methods::Scratch,
    model::Model,
    predict::{AlignedTable, RowBuffer},
};

/// Why one row was decided as it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The decision.
    pub decision: Decision,
    /// The classes, in the order of all distributions here.
    pub classes: Vec<Label>,
    /// The class that would have been next; none if there is only one class.
    pub runner_up: Option<usize>,
    /// What the margin of the decision compares: `possibility`, `probability` or `vote share`.
    pub margin_of: &'static str,
    /// Every classifier, in the order of the model.
    pub contributions: Vec<Contribution>,
    /// Which possibilities were joined, lowest first; empty for methods without a tree.
    pub joins: Vec<Join>,
    /// Every single other answer that would have changed the decision; none if there are too many to try.
    pub flips: Option<Vec<Flip>>,
}

/// What one classifier contributed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Contribution {
    /// Its name.
    pub classifier: String,
    /// What it said, if anything.
    pub said: Option<String>,
    /// The possibility its answer leaves to each class, discount included; for possibilistic methods.
    pub possibility: Option<Vec<f64>>,
    /// How much it pushes towards the decision and away from the runner-up: what the logarithm of their
    /// ratio would lose if it were silent. None where that is not a number.
    pub push: Option<f64>,
}

/// One t-norm of the tree, as applied to those who spoke.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Join {
    /// Names of classifiers, and earlier joins as `#1`, `#2`, ..
    pub members: Vec<String>,
    /// Its exponent.
    pub exponent: Exponent,
    /// The possibility of each class after joining.
    pub possibility: Vec<f64>,
}

/// One other answer that would have changed the decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Flip {
    /// Whose answer.
    pub classifier: String,
    /// The other answer; none for silence.
    pub instead: Option<Label>,
    /// The decision it would have brought.
    pub becomes: Label,
}

impl AlignedTable<'_> {
    /// Explains the decision of one row, counted from 0.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchRow`].
    pub fn explain(&self, row: usize) -> Result<Explanation, Error> {
        self.check_row(row)?;
        let mut buffer = RowBuffer::default();
        let cells = self.row(row, &mut buffer).to_dense(self.model.classifiers.len());
        Ok(explain(self.model, &cells, |k| self.written(row, k)))
    }
}

fn explain(model: &Model, cells: &[u16], written: impl Fn(usize) -> Option<String>) -> Explanation {
    let mut work = Scratch::default();
    let decision = model.decision(Row::Dense(cells), &mut work);
    let surprisals = work.out.clone();
    let runner_up = (0..surprisals.len())
        .filter(|&i| i != decision.class)
        .min_by(|&a, &b| surprisals[a].total_cmp(&surprisals[b]));
    let lead = |surprisals: &[f64]| runner_up.map(|other| surprisals[other] - surprisals[decision.class]);
    let with_all = lead(&surprisals);

    let silence = model.labels.missing_label();
    let mut changed = cells.to_vec();
    let mut contributions = Vec::with_capacity(cells.len());
    // Trying every answer of everyone costs a decision each.
    let cost = cells.len() as f64 * model.labels.len() as f64 * (cells.len() * model.classes().len()) as f64;
    let mut flips = (cost <= FLIP_BUDGET).then(Vec::new);
    for (k, &said) in cells.iter().enumerate() {
        let mut push = None;
        // Without this voice: what it adds.
        if said != MISSING {
            changed[k] = MISSING;
            let without = model.decision(Row::Dense(&changed), &mut work);
            let lead_without = if without.basis == decision.basis { lead(&work.out) } else { Some(0.0) };
            push = with_all
                .zip(lead_without)
                .map(|(with, without)| with - without)
                .filter(|push| push.is_finite());
        }
        // With any other answer, silence among them: what would flip.
        let missing_is_answer = model.missing_is_answer[k];
        let answers = (0..model.labels.len() as u16)
            .filter(|&answer| missing_is_answer || answer != silence)
            .chain((!missing_is_answer).then_some(MISSING));
        let tried = flips.is_some();
        for instead in answers.filter(|&instead| tried && instead != said) {
            changed[k] = instead;
            let becomes = model.decision(Row::Dense(&changed), &mut work);
            if becomes.class != decision.class {
                let instead = Some(instead)
                    .filter(|&id| id != silence && id != MISSING)
                    .map(|id| model.labels.all()[usize::from(id)].clone());
                flips.get_or_insert_default().push(Flip {
                    classifier: model.classifiers[k].clone(),
                    instead,
                    becomes: becomes.label,
                });
            }
        }
        changed[k] = said;
        let possibility = if said == MISSING { None } else { model.rule.possibility(k, said) };
        contributions.push(Contribution {
            classifier: model.classifiers[k].clone(),
            said: written(k),
            possibility,
            push,
        });
    }
    let joins = joins(model, cells);
    let margin_of = model.method.capabilities().margin_of;
    Explanation {
        decision,
        classes: model.classes().to_vec(),
        runner_up,
        margin_of,
        contributions,
        joins,
        flips,
    }
}

fn degrees(surprisals: &[f64]) -> Vec<f64> {
    surprisals.iter().map(|s| exp(-s)).collect()
}

fn joins(model: &Model, cells: &[u16]) -> Vec<Join> {
    let Some(possibilities) = model.rule.possibilities() else { return Vec::new() };
    let steps = possibilities.trace(Row::Dense(cells));
    let name = |operand: &Operand| match operand {
        Operand::Leaf(k) => model.classifiers[*k].clone(),
        Operand::Step(at) => format!("#{}", at + 1),
    };
    let join = |step: &crate::fusion::FusionStep| Join {
        members: step.operands.iter().map(name).collect(),
        exponent: step.exponent,
        possibility: degrees(&step.surprisals),
    };
    steps.iter().map(join).collect()
}

/// Additions that the search for flips may cost before it is left out.
const FLIP_BUDGET: f64 = 5e9;

/// Names longer than this are not lined up any more.
const WIDEST: usize = 60;
/// Classes shown in a text: the more possible ones.
const SHOWN_CLASSES: usize = 6;
/// Flips shown in a text.
const SHOWN_FLIPS: usize = 8;

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decision = &self.decision;
        write!(out, "decided: {}", decision.label)?;
        match self.runner_up {
            _ if decision.basis == crate::decision::Basis::Prior => {
                write!(
                    out,
                    ", the class most often true: {}",
                    if decision.n_answered == 0 { "nobody answered" } else { "such answers were never met" }
                )?;
            }
            _ if decision.is_tie() => {
                let tied: Vec<String> = decision.ties.iter().map(|&i| self.classes[i].to_string()).collect();
                write!(out, ", tied: {}", tied.join(", "))?;
            }
            Some(next) => {
                write!(out, ", next: {}, margin {:.3}", self.classes[next], decision.margin)?;
                write!(out, " ({})", self.margin_of)?;
            }
            None => {}
        }
        writeln!(out, ", {} of {} answered", decision.n_answered, self.contributions.len())?;

        let degrees = decision.possibility.degrees();
        let mut shown: Vec<usize> = (0..self.classes.len()).collect();
        shown.sort_by(|&a, &b| degrees[b].total_cmp(&degrees[a]));
        shown.truncate(SHOWN_CLASSES);
        shown.sort_unstable();
        let names: Vec<String> = shown.iter().map(|&i| self.classes[i].to_string()).collect();
        let wide = |text: &mut dyn Iterator<Item = usize>| text.max().unwrap_or(0).min(WIDEST);
        let who = wide(&mut self.contributions.iter().map(|voice| voice.classifier.chars().count())).max(11);
        let said = wide(
            &mut self
                .contributions
                .iter()
                .filter_map(|voice| voice.said.as_ref())
                .map(|said| said.chars().count()),
        )
        .max(4);
        let columns: Vec<usize> = names.iter().map(|name| name.chars().count().clamp(6, WIDEST)).collect();
        let row = |out: &mut fmt::Formatter<'_>, degrees: &[f64]| {
            shown
                .iter()
                .zip(&columns)
                .try_for_each(|(&i, &width)| write!(out, "  {:>width$}", percent(degrees[i])))
        };

        write!(out, "\n{:who$}  {:said$}", "classifier", "said")?;
        names.iter().zip(&columns).try_for_each(|(name, width)| write!(out, "  {name:>width$}"))?;
        writeln!(out, "    push")?;
        for voice in &self.contributions {
            write!(out, "{:who$}  ", voice.classifier)?;
            // A silence is listed bare unless it counts as an answer, and then it pushes.
            if voice.said.is_none() && voice.push.is_none() {
                writeln!(out, "-")?;
                continue;
            }
            write!(out, "{:said$}", voice.said.as_deref().unwrap_or("-"))?;
            match &voice.possibility {
                Some(degrees) => row(out, degrees)?,
                None => columns.iter().try_for_each(|width| write!(out, "  {:>width$}", ""))?,
            }
            writeln!(out, "  {:>6}", voice.push.map_or(String::new(), |push| format!("{push:+.2}")))?;
        }
        let probability = decision.probability.as_deref().map(|shares| ("probability", shares));
        for (name, degrees) in [("possibility", degrees)].into_iter().chain(probability) {
            write!(out, "{name:who$}  {:said$}", "")?;
            row(out, degrees)?;
            writeln!(out)?;
        }
        self.write_joins(out)?;
        self.write_flips(out)
    }
}

impl Explanation {
    fn write_joins(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.joins.is_empty() {
            return Ok(());
        }
        writeln!(out, "\njoined (exponent 1: as independent, infinity: as copies)")?;
        for (number, join) in (1..).zip(&self.joins) {
            let members = crate::error::list(&join.members);
            // Four digits, but not those that say nothing.
            let exponent = (f64::from(join.exponent) * 1e4).round() / 1e4;
            writeln!(out, "  #{number}  exponent {exponent:<6}  {members}")?;
        }
        Ok(())
    }

    fn write_flips(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(flips) = &self.flips else {
            return writeln!(
                out,
                "\ntoo many classifiers and answers to try which would change the decision"
            );
        };
        if flips.is_empty() {
            return writeln!(out, "\nno single other answer would change the decision");
        }
        writeln!(out, "\nany one of these would change the decision")?;
        for flip in flips.iter().take(SHOWN_FLIPS) {
            let instead = flip.instead.as_ref().map_or("nothing".to_owned(), Label::to_string);
            writeln!(out, "  {} saying {instead}: {}", flip.classifier, flip.becomes)?;
        }
        match flips.len().saturating_sub(SHOWN_FLIPS) {
            0 => Ok(()),
            more => writeln!(out, "  and {more} more"),
        }
    }
}

fn percent(degree: f64) -> String {
    if degree > 0.0 && degree < 0.001 { format!("{degree:.0e}") } else { format!("{degree:.3}") }
}
