//! An audit as text, 80 columns wide for names of up to ten letters.

use std::fmt;

use crate::{
    Dendrogram,
    audit::{Audit, ClassifierAudit},
};

/// Names longer than this are not lined up any more.
const WIDEST: usize = 60;

impl fmt::Display for Audit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes: Vec<String> =
            self.classes.iter().map(|(label, count)| format!("{label} {count}")).collect();
        let (judges, rows) = (self.classifiers.len(), self.n_rows);
        let many = |n: f64| if n == 1.0 { "" } else { "s" };
        let (who, what) = (many(judges as f64), many(rows));
        writeln!(
            out,
            "{judges} classifier{who}, {rows} labelled row{what}: {}\n",
            crate::error::list(classes)
        )?;
        self.write_classifiers(out)?;
        self.write_panel(out)
    }
}

impl Audit {
    fn write_classifiers(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = self
            .classifiers
            .iter()
            .map(|entry| entry.name.chars().count())
            .max()
            .unwrap_or(0)
            .clamp(10, WIDEST);
        let with_influence = self.classifiers.iter().any(|entry| entry.influence.is_some());
        let sways = if with_influence { "  sways" } else { "" };
        writeln!(out, "{:who$}   right    95 %  relabel  spoke  bits{sways}  verdict", "classifier")?;
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
            let [low, high] = interval.map(|share| share * 100.0);
            write!(out, "{name:who$}  {:>5.1}%  {:>6}", accuracy * 100.0, format!("{low:.0}-{high:.0}"))?;
            write!(
                out,
                "  {:>6.1}%  {:>4.0}%  {information:>4.2}",
                relabelled_accuracy * 100.0,
                coverage * 100.0
            )?;
            if let Some(influence) = influence {
                write!(out, "  {:>4.1}%", influence * 100.0)?;
            }
            writeln!(out, "  {verdict}")?;
        }
        writeln!(out, "\nrelabel: right, once each answer is read as what it mostly means")?;
        write!(out, "bits: what it tells about the truth")?;
        writeln!(out, "{}", if with_influence { "; sways: decisions that change without it" } else { "" })
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
            .filter_map(|(name, value)| value.map(|value| format!("{name} {value:.2}")))
            .collect();
        if !known.is_empty() {
            writeln!(out, "{}", known.join(", "))?;
        }
        if let Some(votes) = panel.effective_votes {
            writeln!(out, "this panel counts as {votes:.1} independent voices")?;
        }
        if let Some(reason) = &panel.left_out {
            writeln!(out, "pairs are left out: {reason}")?;
        }
        match &panel.dendrogram {
            Some(tree) if tree.n_leaves() > 1 => {
                writeln!(out, "\nwho depends on whom (0: not at all, 1: entirely)\n")?;
                let names: Vec<&str> = self.classifiers.iter().map(|entry| entry.name.as_str()).collect();
                write!(out, "{}", tree.to_text(&names))
            }
            _ => Ok(()),
        }
    }
}

impl Dendrogram {
    /// The tree as text: merges with their dependence `1 - height`, the most dependent deepest.
    ///
    /// Ward heights grow beyond 1 towards the root; there nothing depends on anything, and 0.00 is written.
    pub fn to_text(&self, names: &[&str]) -> String {
        let mut lines = Vec::with_capacity(2 * self.n_leaves());
        let mut stack = vec![(self.root(), String::new(), String::new())];
        while let Some((node, first, rest)) = stack.pop() {
            if let Some([a, b]) = self.children(node) {
                stack.push((b, format!("{rest}└─ "), format!("{rest}   ")));
                stack.push((a, format!("{rest}├─ "), format!("{rest}│  ")));
                let height = self.merges()[node - self.n_leaves()].height;
                lines.push(format!("{first}{:.2}\n", (1.0 - height).max(0.0)));
            } else {
                lines.push(format!("{first}{}\n", names.get(node).unwrap_or(&"?")));
            }
        }
        lines.concat()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Audit, Combiner, Evidence, Majority, Predictions, Truth, Watch};

    #[test]
    fn a_report_fits_a_terminal() {
        let mut rows = Predictions::builder(["ten-letter", "b", "c"]).expect("three names");
        for t in 0..200 {
            let truth = if t % 3 == 0 { "x" } else { "y" };
            let lie = if t % 3 == 0 { "y" } else { "x" };
            rows.push([Some(lie), Some(truth), Some("x")]).expect("three answers");
        }
        let truth =
            Truth::new((0..200).map(|t| Some(if t % 3 == 0 { "x" } else { "y" }))).expect("two labels");
        let evidence = Evidence::new(&rows.finish(), &truth).expect("rows");
        let model = Majority.fit(&evidence).expect("rows");
        let audit = Audit::new(&evidence, Some(&model), &Watch::default()).expect("a tally");
        let text = audit.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(
            text.contains("adversary (rectified)") && text.contains("constant") && text.contains("useful"),
            "{text}"
        );
    }
}
