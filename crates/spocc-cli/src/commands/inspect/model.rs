//! The description of a model.

use std::fmt;

use serde::Serialize;
use spocc::{
    Label, Method, Model,
    conformal::ConformalSettings,
    data::{Missing, Normalise},
    decision::TieBreak,
    evaluate::HeldOutAccuracy,
    methods::Parameters,
};

use crate::commands::fit::describe_experts;
use crate::commands::{
    fit::{missing_is_answer, open_answers},
    inspect::{names, tally::TallyFacts, unquoted, write_fact},
};

#[derive(Serialize)]
pub(super) struct ModelFacts {
    method: Method,
    missing: Missing,
    /// The classifiers for which a missing prediction counts as an answer.
    missing_is_answer: Vec<String>,
    ties: TieBreak,
    /// The weight of a row of each class; empty if all are equal.
    class_weights: Vec<f64>,
    classifiers: Vec<String>,
    /// Empty for open answers.
    classes: Vec<Label>,
    /// How open answers are compared; none for classes.
    open_answers: Option<Normalise>,
    fitted: Parameters,
    /// The accuracy on held-out rows; none if the model was not evaluated.
    held_out_accuracy: Option<HeldOutAccuracy>,
    /// How prediction sets are calibrated; none if the model has no prediction sets.
    conformal: Option<ConformalFacts>,
    /// The parts beside the counts from which rows can be read.
    row_parts: Vec<&'static str>,
    /// The least number of rows behind each count of a slim model that holds counts.
    min_count: Option<u64>,
    /// The counts that the model keeps; none if they were left out.
    evidence: Option<TallyFacts>,
}

#[derive(Serialize)]
struct ConformalFacts {
    #[serde(flatten)]
    settings: ConformalSettings,
    /// Number of calibration rows: in total, or of each class.
    n_rows: Vec<u64>,
    #[serde(skip)]
    text: String,
}

impl ModelFacts {
    pub(super) fn of(model: &Model) -> Self {
        Self {
            method: model.method(),
            missing: model.missing(),
            missing_is_answer: missing_is_answer(model).into_iter().cloned().collect(),
            ties: model.ties(),
            class_weights: model.class_weights().to_vec(),
            classifiers: model.classifiers().to_vec(),
            classes: if model.is_open() { Vec::new() } else { model.classes().to_vec() },
            open_answers: model.normalise(),
            fitted: model.parameters(),
            held_out_accuracy: model.held_out_accuracy().cloned(),
            row_parts: model.row_parts(),
            min_count: model.min_count(),
            conformal: model.calibration().map(|calibration| ConformalFacts {
                settings: calibration.settings(),
                n_rows: calibration.n_rows(),
                text: calibration.to_string(),
            }),
            evidence: model.evidence().map(TallyFacts::of),
        }
    }

    fn describe_missing(&self) -> String {
        match (self.missing, &self.missing_is_answer[..]) {
            (Missing::Answer, _) => "counts as a label of its own".to_owned(),
            (_, []) => "ignored".to_owned(),
            (_, some) => format!("counts as a label for {}, ignored for the others", unquoted(some)),
        }
    }
}

impl fmt::Display for ModelFacts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "model of method {}", self.method)?;
        write_fact(out, "classifiers", names(&self.classifiers))?;
        match self.open_answers {
            Some(form) => write_fact(out, "classes", format_args!("none: {}", open_answers(form)))?,
            None => write_fact(out, "classes", names(&self.classes))?,
        }
        write_fact(out, "missing", self.describe_missing())?;
        if !self.class_weights.is_empty() {
            let weights = self.classes.iter().zip(&self.class_weights);
            let weights = weights.map(|(class, weight)| format!("{class} {weight:.3}"));
            write_fact(out, "weights", unquoted(weights))?;
        }
        write_fact(out, "ties", format_args!("the {} of the tied classes is decided", self.ties))?;
        write_fact(
            out,
            "parameters",
            ParameterLine { parameters: &self.fitted, classifiers: &self.classifiers },
        )?;
        if let Some(accuracy) = &self.held_out_accuracy {
            write_fact(out, "evaluation", accuracy)?;
        }
        if let Some(conformal) = &self.conformal {
            write_fact(out, "sets", &conformal.text)?;
        }
        match &self.evidence {
            Some(facts) => {
                write!(
                    out,
                    "evidence, used by append and audit (`fit --slim` and `--without-evidence` omit it)\n{facts}"
                )
            }
            None => match (self.min_count, self.row_parts.is_empty()) {
                (Some(n), _) => writeln!(out, "no evidence, and no counts of fewer than {n} rows (slim)"),
                (None, true) => writeln!(out, "no evidence, and no counts of patterns or scores of rows"),
                (None, false) => {
                    let parts = self.row_parts.join(" and ");
                    writeln!(
                        out,
                        "no evidence, but {parts}, from which rows can be read (`fit --slim` drops these)"
                    )
                }
            },
        }
    }
}

/// The fitted parameters in one line.
struct ParameterLine<'a> {
    parameters: &'a Parameters,
    classifiers: &'a [String],
}

impl fmt::Display for ParameterLine<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parameters {
            Parameters::Ladder { pattern_shrinkage, .. } => {
                let experts = describe_experts(self.parameters, self.classifiers);
                write!(out, "experts: {}", experts.as_deref().unwrap_or("none"))?;
                pattern_shrinkage.map_or(Ok(()), |t| write!(out, "; pattern table (shrinkage {t})"))
            }
            Parameters::Open { .. } => {
                let experts = describe_experts(self.parameters, self.classifiers);
                write!(out, "one weight per classifier; experts: {}", experts.as_deref().unwrap_or("none"))
            }
            Parameters::FirstLadder { fallback: Some(fallback), .. } => {
                write!(out, "first generation, fallback to {fallback}")
            }
            Parameters::FirstLadder { penalty, pattern_shrinkage, .. } => {
                write!(out, "first generation, norm tree")?;
                penalty.map_or(Ok(()), |penalty| write!(out, ", residual (penalty {penalty})"))?;
                pattern_shrinkage.map_or(Ok(()), |t| write!(out, ", pattern table (shrinkage {t})"))
            }
            Parameters::Spocc { exponent } => write!(out, "exponent {}", f64::from(*exponent)),
            Parameters::AdaSpocc { exponents, severity, .. } => {
                let fitted = exponents.iter().filter(|exponent| f64::from(**exponent) > 1.0).count();
                write!(
                    out,
                    "{fitted} of {} merges with exponent above 1, severity {severity:.3}",
                    exponents.len()
                )
            }
            Parameters::Selection { ranking } => {
                let best = ranking.first().and_then(|&best| self.classifiers.get(best));
                write!(out, "best classifier {}", best.map_or("", String::as_str))
            }
            Parameters::Vote { rate: Some(rate), .. } => {
                write!(out, "one weight per classifier, rate {rate:.3}")
            }
            Parameters::Vote { rate: None, .. } => write!(out, "one weight per classifier"),
            Parameters::NaiveBayes { prior } => write!(out, "{} class frequencies", prior.len()),
            Parameters::Bayes { n_patterns } => write!(out, "{n_patterns} patterns of predictions"),
            Parameters::Stacking { strength, coefficients, .. } => {
                write!(out, "{} coefficients, strength {strength:.3}", coefficients.len())
            }
            _ => Ok(()),
        }
    }
}
