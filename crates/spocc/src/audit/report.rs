//! An audit as text.

use std::fmt;

use crate::{Dendrogram, audit::Audit};

impl fmt::Display for Audit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes: Vec<String> =
            self.classes.iter().map(|(label, count)| format!("{label} {count}")).collect();
        writeln!(
            out,
            "{} classifiers, {} labelled rows: {}",
            self.classifiers.len(),
            self.n_rows,
            crate::error::list(classes)
        )?;
        let who = self.classifiers.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0).max(10);
        let with_influence = self.classifiers.iter().any(|entry| entry.influence.is_some());
        write!(out, "\n{:who$}  accuracy  95 % interval  relabelled  spoke   bits", "classifier")?;
        writeln!(out, "{}  verdict", if with_influence { "  influence" } else { "" })?;
        for entry in &self.classifiers {
            let [low, high] = entry.interval.map(|share| share * 100.0);
            write!(out, "{:who$}  {:>7.1}%", entry.name, entry.accuracy * 100.0)?;
            write!(out, "  {:>13}", format!("{low:.1} - {high:.1}"))?;
            write!(
                out,
                "  {:>9.1}%  {:>4.0}%  {:>5.2}",
                entry.relabelled_accuracy * 100.0,
                entry.coverage * 100.0,
                entry.information
            )?;
            match entry.influence {
                Some(influence) => write!(out, "  {:>8.1}%", influence * 100.0)?,
                None if with_influence => write!(out, "  {:>9}", "")?,
                None => {}
            }
            writeln!(out, "  {}", entry.verdict)?;
        }
        self.write_panel(out)
    }
}

impl Audit {
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
            writeln!(out, "\n{}", known.join(", "))?;
        }
        if let Some(votes) = panel.effective_votes {
            writeln!(out, "this panel counts as {votes:.1} independent voices")?;
        }
        match &panel.dendrogram {
            Some(tree) if tree.n_leaves() > 1 => {
                writeln!(out, "\nwho depends on whom (0: not at all, 1: entirely)")?;
                let names: Vec<&str> = self.classifiers.iter().map(|entry| entry.name.as_str()).collect();
                write!(out, "{}", tree.to_text(&names))
            }
            _ => Ok(()),
        }
    }
}

impl Dendrogram {
    /// The tree as text: merges with their dependence `1 - height`, the most dependent deepest.
    pub fn to_text(&self, names: &[&str]) -> String {
        let mut text = String::new();
        self.write_node(self.root(), names, "", "", &mut text);
        text
    }

    fn write_node(&self, node: usize, names: &[&str], first: &str, rest: &str, text: &mut String) {
        let mut stack = vec![(node, first.to_owned(), rest.to_owned())];
        while let Some((node, first, rest)) = stack.pop() {
            text.push_str(&first);
            if let Some([a, b]) = self.children(node) {
                let height = self.merges()[node - self.n_leaves()].height;
                // Ward heights grow beyond 1 towards the root, where nothing depends on anything.
                text.push_str(&format!("{:.2}\n", (1.0 - height).max(0.0)));
                stack.push((b, format!("{rest}└─ "), format!("{rest}   ")));
                stack.push((a, format!("{rest}├─ "), format!("{rest}│  ")));
            } else {
                text.push_str(names.get(node).copied().unwrap_or("?"));
                text.push('\n');
            }
        }
    }
}
