//! An audit as text, 80 columns wide for names of up to ten letters.

use std::fmt;

use crate::{
    audit::{Audit, ClassifierAudit},
    dendrogram::{Dendrogram, Merge},
    dependence::Dependence,
    printable,
};

/// Longer names are not aligned.
const MAX_NAME: usize = 60;

impl fmt::Display for Audit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes: Vec<String> =
            self.classes.iter().map(|(label, count)| format!("{label} {count}")).collect();
        let (n, rows) = (self.classifiers.len(), self.n_rows);
        let plural = |n: f64| if n == 1.0 { "" } else { "s" };
        let (plural_n, plural_rows) = (plural(n as f64), plural(rows));
        write!(out, "{n} classifier{plural_n}, {rows} labelled row{plural_rows}")?;
        match self.answerable_share {
            Some(share) => {
                let share = share * 100.0;
                writeln!(
                    out,
                    ", open answers\ntrue answer given by some classifier: {share:.1} % of the rows\n"
                )?;
            }
            None => writeln!(out, ": {}\n", crate::error::list(classes))?,
        }
        if self.exchangeable == Some(true) {
            writeln!(out, "classes look exchangeable: consider --open\n")?;
        }
        self.write_classifiers(out)?;
        self.write_panel(out)
    }
}

impl Audit {
    fn write_classifiers(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self
            .classifiers
            .iter()
            .map(|entry| printable(&entry.name).chars().count())
            .max()
            .unwrap_or(0)
            .clamp(10, MAX_NAME);
        let with_influence = self.influence_on.is_some();
        let [above, below] = if with_influence { [" influ-", "   ence"] } else { ["", ""] };
        // Open answers have no labels that could stand for others.
        let is_open = self.answerable_share.is_some();
        let [first, second] = if is_open {
            ["                         ", " accuracy   95 % coverage"]
        } else {
            ["                 relabelled          infor-", " accuracy   95 %   accuracy coverage mation"]
        };
        writeln!(out, "{}", format!("{:width$}{first}{above}", "").trim_end())?;
        writeln!(out, "{:width$}{second}{below}  verdict", "classifier")?;
        for ClassifierAudit {
            name,
            accuracy,
            interval,
            relabelled_accuracy,
            coverage,
            information,
            influence,
            verdict,
            ..
        } in &self.classifiers
        {
            // A classifier without predictions has no accuracy.
            let percent = |share: f64| {
                if *coverage > 0.0 { format!("{:.1}%", share * 100.0) } else { "-".to_owned() }
            };
            let interval = match interval.map(|share| format!("{:.0}", share * 100.0)) {
                _ if *coverage == 0.0 => "-".to_owned(),
                [low, high] if low == high => low,
                [low, high] => format!("{low}-{high}"),
            };
            let name = printable(name);
            let (accuracy, relabelled) = (percent(*accuracy), percent(*relabelled_accuracy));
            let coverage = coverage * 100.0;
            write!(out, "{name:width$} {accuracy:>8} {interval:>6}    ")?;
            if is_open {
                write!(out, "{coverage:>4.0}%")?;
            } else {
                write!(out, "{relabelled:>7}    {coverage:>4.0}%   {information:>4.2}")?;
            }
            if let Some(influence) = influence {
                write!(out, "  {:>4.1}%", influence * 100.0)?;
            }
            writeln!(out, "  {verdict}")?;
        }
        writeln!(out, "\n95 %: interval of the accuracy")?;
        if !is_open {
            writeln!(out, "relabelled accuracy: each label read as the class it is shown to stand for")?;
        }
        writeln!(out, "coverage: share of rows with a prediction")?;
        if !is_open {
            writeln!(out, "information: mutual information of predictions and truth, in bits")?;
        }
        if let Some(method) = self.influence_on {
            writeln!(out, "influence: share of decisions by {method} that change without it")?;
        }
        writeln!(out)
    }

    fn write_panel(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let panel = &self.panel;
        let figures = [
            ("Fleiss' kappa", panel.fleiss_kappa),
            ("Krippendorff's alpha", panel.krippendorff_alpha),
            ("error correlation", panel.error_correlation),
        ];
        let known: Vec<String> = figures
            .iter()
            .filter_map(|(name, value)| value.map(|value| format!("{name} {}", hundredths(value))))
            .collect();
        if !known.is_empty() {
            writeln!(out, "{}", known.join(", "))?;
        }
        if let Some(votes) = panel.effective_votes {
            writeln!(out, "effective number of votes: {votes:.1} of {}", self.classifiers.len())?;
        }
        for family in &panel.families {
            let [original, copies @ ..] = &family[..] else { continue };
            writeln!(
                out,
                "family of copies: {} (the most accurate), {}",
                printable(original),
                crate::error::list(copies)
            )?;
        }
        if let Some(reason) = &panel.left_out {
            writeln!(out, "dependence, copies and agreement are left out: {reason}")?;
        }
        match &panel.dendrogram {
            Some(tree) if tree.n_leaves() > 1 => {
                let scale = match self.answerable_share {
                    Some(_) => "share of errors that are the same wrong answer",
                    None => "0: independent, 1: copies, also renamed ones",
                };
                writeln!(out, "\ndependence ({scale}, -: not known)\n")?;
                write!(out, "{}", self.dependence_tree())
            }
            _ => Ok(()),
        }
    }
}

impl Audit {
    /// The dendrogram as text: merges with the mean dependence across them, the most dependent deepest; nothing where
    /// there are no pair counts.
    pub fn dependence_tree(&self) -> String {
        let (Some(tree), Some(dependence)) = (&self.panel.dendrogram, &self.panel.dependence) else {
            return String::new();
        };
        let known = known_merges(tree, dependence);
        let mut lines = Vec::with_capacity(2 * tree.n_leaves());
        let mut stack = vec![(tree.root(), String::new(), String::new())];
        while let Some((node, first, rest)) = stack.pop() {
            if let Some([a, b]) = tree.children(node) {
                stack.push((b, format!("{rest}└─ "), format!("{rest}   ")));
                stack.push((a, format!("{rest}├─ "), format!("{rest}│  ")));
                let merge = node - tree.n_leaves();
                // Adding zero turns -0.0 into 0.0.
                let mean = 1.0 - tree.merges()[merge].height + 0.0;
                lines.push(if known[merge] { format!("{first}{mean:.2}\n") } else { format!("{first}-\n") });
            } else {
                lines.push(format!("{first}{}\n", printable(&self.classifiers[node].name)));
            }
        }
        lines.concat()
    }
}

/// A figure to two digits, without the sign of a zero.
fn hundredths(value: f64) -> String {
    format!("{:.2}", (value * 100.0).round() / 100.0 + 0.0)
}

/// Whether any pair across each merge has a known dependence.
fn known_merges(tree: &Dendrogram, dependence: &Dependence) -> Vec<bool> {
    let across = |merge: &Merge| {
        let [first, second] = merge.children.map(|child| tree.leaves(child));
        first.iter().any(|&a| second.iter().any(|&b| dependence.get(a, b).is_some()))
    };
    tree.merges().iter().map(across).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Control, Evidence, Fit, Predictions, Truth, audit::Audit, methods::Majority};

    #[test]
    fn a_report_fits_a_terminal() {
        let mut rows = Predictions::builder(["ten-letter", "b", "c"]).expect("three names");
        for t in 0..200 {
            let truth = if t % 3 == 0 { "x" } else { "y" };
            let wrong = if t % 3 == 0 { "y" } else { "x" };
            rows.push([Some(wrong), Some(truth), Some("x")]).expect("three answers");
        }
        let truth =
            Truth::new((0..200).map(|t| Some(if t % 3 == 0 { "x" } else { "y" }))).expect("two labels");
        let evidence = Evidence::new(&rows.finish(), &truth).expect("rows");
        let model = Majority.fit(&evidence).expect("rows");
        let audit = Audit::new(&evidence, Some(&model), &Control::default()).expect("a tally");
        let text = audit.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        // Every figure ends where the name of its column ends.
        let lines: Vec<&str> = text.lines().collect();
        for (at, name) in [(2, "relabelled"), (2, "infor-"), (2, "influ-"), (3, "accuracy"), (3, "coverage")]
        {
            let end = lines[at].find(name).expect("a column") + name.len();
            assert!(lines[4..7].iter().all(|line| line[end..].starts_with(' ')), "{name}:\n{text}");
            assert!(lines[4..7].iter().all(|line| !line[..end].ends_with(' ')), "{name}:\n{text}");
        }
        assert!(text.contains("adversary") && text.contains("constant") && text.contains("useful"), "{text}");
    }
}
