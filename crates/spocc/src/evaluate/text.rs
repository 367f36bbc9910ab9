//! A comparison as text, 80 columns wide.

use std::fmt;

use crate::{
    Method,
    data::ClassWeights,
    evaluate::{Comparison, HeldOutRows, LearningCurve, MethodResult, RiskCoverage},
    printable,
};

const WIDTH: usize = 80;

/// Methods with a line in the tables of curves; majority has one besides.
const MAX_CURVES: usize = 4;

impl fmt::Display for Comparison {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(out)?;
        self.write_methods(out)?;
        self.recommendation.lines.iter().try_for_each(|line| paragraph(out, line))?;
        self.write_risks(out)?;
        match (&self.curve, &self.no_curve_reason) {
            (Some(curve), _) => self.write_curve(out, curve),
            (None, Some(reason)) => paragraph(out, &format!("No learning curve: {reason}.")),
            (None, None) => Ok(()),
        }
    }
}

impl Comparison {
    fn write_head(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, classifiers) = (several(self.n_rows, "labelled row"), self.n_classifiers as u64);
        let classes = match (self.answerable_share, self.n_classes) {
            (Some(_), _) => "open answers".to_owned(),
            (None, 1) => "1 class".to_owned(),
            (None, n) => format!("{n} classes"),
        };
        writeln!(out, "{rows}, {}, {classes}", several(classifiers, "classifier"))?;
        if let Some(share) = self.answerable_share.filter(|share| *share < 1.0) {
            let share = share * 100.0;
            paragraph(
                out,
                &format!(
                    "Some classifier gives the true answer on {share:.1} % of the rows; no method is more accurate."
                ),
            )?;
        }
        let how = match self.held_out {
            HeldOutRows::Folds { folds, repeats: 1, .. } => format!("{folds}-fold cross-validation"),
            HeldOutRows::Folds { folds, repeats, .. } => {
                format!("{folds}-fold cross-validation, {repeats} times")
            }
            HeldOutRows::Test { n_rows } => several(n_rows, "test row"),
        };
        paragraph(out, &format!("Every method is evaluated on held-out rows: {how}."))?;
        writeln!(out)
    }

    fn write_methods(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:15}{:>9}", "method", "accuracy")?;
        if self.class_weights != ClassWeights::Equal {
            write!(out, "{:>18}", self.measure())?;
        }
        writeln!(out, "{:>12}  behind the best", "95 %")?;
        self.methods.iter().try_for_each(|result| write_result(out, result))?;
        for refusal in &self.refused {
            paragraph(out, &format!("{:<15}  refused: {}", refusal.method.to_string(), refusal.reason))?;
        }
        let notes = [
            (self.methods.len() > 1, "behind the best: points, with simultaneous 95 % intervals"),
            (self.methods.iter().skip(1).any(|result| !result.is_behind()), "~ within noise"),
            (self.methods.iter().any(|result| result.is_reference), "* reference"),
            (self.class_weights == ClassWeights::Balanced, "balanced accuracy: mean recall of the classes"),
        ];
        let notes: Vec<&str> = notes.into_iter().filter(|(is_met, _)| *is_met).map(|note| note.1).collect();
        paragraph(out, &notes.join("; "))?;
        let users = self.methods.iter().filter(|result| result.uses_unlabelled);
        let users: Vec<String> = users.map(|result| result.method.to_string()).collect();
        if !users.is_empty() {
            let rows = several(self.n_unlabelled.round() as u64, "unlabelled row");
            paragraph(out, &format!("fitted also to {rows}: {}", users.join(", ")))?;
        }
        if let Some(best) = &self.best_classifier {
            let share = best.accuracy * 100.0;
            let name = &best.name;
            paragraph(
                out,
                &format!("best classifier in hindsight: `{name}`, {} {share:.1} %", self.measure()),
            )?;
        }
        writeln!(out)
    }

    /// The measure by which methods are ranked.
    fn measure(&self) -> &'static str {
        match self.class_weights {
            ClassWeights::Equal => "accuracy",
            ClassWeights::Balanced => "balanced accuracy",
            _ => "weighted accuracy",
        }
    }

    /// A heading above curves, which come from the first repetition only.
    fn write_heading(&self, out: &mut fmt::Formatter<'_>, measure: &str, which: &str) -> fmt::Result {
        let repeated = matches!(self.held_out, HeldOutRows::Folds { repeats: 2.., .. });
        let repetition = if repeated { " (first repetition)" } else { "" };
        let (first, rest) = measure.split_at(1);
        writeln!(out)?;
        paragraph(out, &format!("{}{rest} {which}{repetition}:", first.to_uppercase()))?;
        writeln!(out)
    }

    fn write_risks(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let risks = self.methods.iter().enumerate().filter(|(at, result)| is_shown(*at, result.method));
        let risks: Vec<(Method, &RiskCoverage)> =
            risks.filter_map(|(_, result)| result.risk.as_ref().map(|risk| (result.method, risk))).collect();
        let Some((_, first)) = risks.first() else { return Ok(()) };
        self.write_heading(out, "accuracy", "among the rows with the largest margins")?;
        write!(out, "{:15}", "method")?;
        let head = |share: f64| format!("{:.0} %", share * 100.0);
        first.most_certain.iter().try_for_each(|selected| write!(out, "{:>10}", head(selected.share)))?;
        writeln!(out, "{:>11}", "AURC")?;
        for (method, risk) in risks {
            write!(out, "{:15}", method.to_string())?;
            let mut accuracies = risk.most_certain.iter().map(|selected| percent(selected.accuracy));
            accuracies.try_for_each(|accuracy| write!(out, "{accuracy:>10}"))?;
            writeln!(out, "{:>11.4}", risk.area)?;
        }
        paragraph(out, "AURC: area under the risk-coverage curve; lower is better")
    }

    fn write_curve(&self, out: &mut fmt::Formatter<'_>, curve: &LearningCurve) -> fmt::Result {
        self.write_heading(out, self.measure(), "after fitting to so many labelled rows")?;
        write!(out, "{:15}", "method")?;
        curve.n_rows.iter().try_for_each(|n| write!(out, "{:>11}", short(*n)))?;
        for (at, line) in curve.methods.iter().enumerate() {
            if is_shown(at, line.method) {
                write!(out, "\n{:15}", line.method.to_string())?;
                let share = |share: &Option<f64>| share.map_or_else(|| "-".to_owned(), percent);
                line.accuracies.iter().try_for_each(|accuracy| write!(out, "{:>11}", share(accuracy)))?;
            }
        }
        writeln!(out, "\n")?;
        curve.summary.iter().try_for_each(|line| paragraph(out, line))
    }
}

/// Whether a method has a line in the tables of curves.
fn is_shown(at: usize, method: Method) -> bool {
    at < MAX_CURVES || method == Method::Majority
}

fn write_result(out: &mut fmt::Formatter<'_>, result: &MethodResult) -> fmt::Result {
    let name = format!("{}{}", result.method, if result.is_reference { " *" } else { "" });
    let [low, high] = result.interval.map(|share| share * 100.0);
    let behind = result.behind.map_or_else(String::new, |behind| {
        let [by, low, high] = behind.points();
        let mark = if behind.is_beyond_noise { ' ' } else { '~' };
        format!("{mark} {by:>4.1} ({low:.1} .. {high:.1})")
    });
    let weighted =
        result.weighted_accuracy.map_or_else(String::new, |share| format!("{:>18}", percent(share)));
    let (accuracy, interval) = (percent(result.accuracy), format!("{low:.1}-{high:.1}"));
    let line = format!("{name:<15}{accuracy:>9}{weighted}{interval:>12}  {behind}");
    writeln!(out, "{}", line.trim_end())
}

fn percent(share: f64) -> String {
    // Adding zero turns -0.0 into 0.0.
    format!("{:.1} %", share * 100.0 + 0.0)
}

fn several(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A number that fits into a column.
fn short(n: u64) -> String {
    if n < 100_000_000 { n.to_string() } else { format!("{:.1e}", n as f64) }
}

/// Writes a text in lines of at most [`WIDTH`] characters, broken between words, with hidden characters escaped.
fn paragraph(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let mut line = String::new();
    for word in printable(text).split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{line}")?;
            line.replace_range(.., "  ");
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "{line}")
}

#[cfg(test)]
mod tests {
    use std::fmt::Display;

    use super::*;

    #[test]
    fn long_numbers_are_shortened() {
        assert_eq!([99_999_999, 1_600_000_000].map(short), ["99999999", "1.6e9"]);
    }

    struct Paragraph(&'static str);

    impl Display for Paragraph {
        fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            paragraph(out, self.0)
        }
    }

    #[test]
    fn paragraphs_are_wrapped_between_words() {
        let text = Paragraph(
            "bayes            refused: this reason is long enough to need one more line than it was given",
        );
        let lines: Vec<String> = text.to_string().lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("bayes            refused") && lines[0].len() <= WIDTH);
        assert!(lines[1].starts_with("  ") && lines[1].ends_with("given"));
    }
}
