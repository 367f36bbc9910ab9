//! A comparison as text, 80 columns wide.

use std::{fmt, time::Duration};

use spocc::Method;

use crate::compare::{Comparison, Entry, Judged, curve::Curve};

const WIDTH: usize = 80;

/// Lines of a learning curve that are shown; majority comes on top.
const CURVES: usize = 4;

impl fmt::Display for Comparison {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(out)?;
        self.write_methods(out)?;
        self.verdict.lines.iter().try_for_each(|line| paragraph(out, line))?;
        match (&self.curve, &self.curve_left_out) {
            (Some(curve), _) => self.write_curve(out, curve),
            (None, Some(reason)) => paragraph(out, &format!("No learning curve: {reason}.")),
            (None, None) => Ok(()),
        }
    }
}

impl Comparison {
    fn write_head(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_rows, n_classifiers, n_classes, .. } = self;
        writeln!(out, "{n_rows} labelled rows, {n_classifiers} classifiers, {n_classes} classes")?;
        let how = match self.judged {
            Judged::Folds { folds, repeats: 1, .. } => format!("{folds} folds"),
            Judged::Folds { folds, repeats, .. } => format!("{folds} folds, drawn {repeats} times"),
            Judged::Test { n_rows } => format!("{n_rows} test rows"),
        };
        paragraph(out, &format!("Every method is judged on rows it did not learn from: {how}."))?;
        writeln!(out)
    }

    fn write_methods(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "method            right       95 %    behind the best         fit   1e6 rows")?;
        self.methods.iter().try_for_each(|entry| write_entry(out, entry))?;
        for refusal in &self.refused {
            paragraph(out, &format!("{:<15}  refused: {}", refusal.method.to_string(), refusal.reason))?;
        }
        let marks = [
            (self.methods.iter().skip(1).any(|entry| !entry.is_behind()), "~ within noise of the best"),
            (self.methods.iter().any(|entry| entry.is_reference), "* for reference"),
        ];
        let marks: Vec<&str> =
            marks.into_iter().filter(|(is_met, _)| *is_met).map(|(_, mark)| mark).collect();
        if !marks.is_empty() {
            writeln!(out, "{}", marks.join("; "))?;
        }
        if let Some(best) = &self.best_classifier {
            let share = best.accuracy * 100.0;
            let line = format!("The best classifier in hindsight is `{}`, right on {share:.1} %.", best.name);
            paragraph(out, &line)?;
        }
        writeln!(out)
    }

    fn write_curve(&self, out: &mut fmt::Formatter<'_>, curve: &Curve) -> fmt::Result {
        let round =
            if matches!(self.judged, Judged::Folds { repeats: 2.., .. }) { " (first draw)" } else { "" };
        writeln!(out, "\nRight after learning from so many labelled rows{round}:\n")?;
        let n_rows: String = curve.n_rows.iter().map(|n| format!("{n:>11}")).collect();
        writeln!(out, "{:15}{n_rows}", "method")?;
        let is_shown = |at: usize, method: Method| at < CURVES || method == Method::Majority;
        let lines = curve.methods.iter().enumerate().filter(|(at, line)| is_shown(*at, line.method));
        for (_, line) in lines {
            let share = |share: &Option<f64>| share.map_or("-".to_owned(), |share| percent(share));
            let shares: String = line.accuracies.iter().map(|a| format!("{:>11}", share(a))).collect();
            writeln!(out, "{:15}{shares}", line.method.to_string())?;
        }
        writeln!(out)?;
        curve.outlook.iter().try_for_each(|outlook| paragraph(out, &outlook.to_string()))
    }
}

fn write_entry(out: &mut fmt::Formatter<'_>, entry: &Entry) -> fmt::Result {
    let name = format!("{}{}", entry.method, if entry.is_reference { " *" } else { "" });
    let [low, high] = entry.interval.map(|share| share * 100.0);
    let behind = entry.behind.map_or_else(String::new, |behind| {
        let [low, high] = behind.interval.map(|share| share * 100.0);
        let mark = if behind.is_beyond_noise { ' ' } else { '~' };
        format!("{mark} {:>4.1} ({low:.1} .. {high:.1})", behind.by * 100.0)
    });
    let (fit, predict) = (time(entry.times.fit), time(entry.times.predict));
    let interval = format!("{low:.1}-{high:.1}");
    writeln!(
        out,
        "{name:<15} {:>7}  {interval:>9}  {behind:<22} {fit:>8}  {predict:>9}",
        percent(entry.accuracy)
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..0.01 => format!("{:.1} ms", seconds * 1e3),
        ..1.0 => format!("{:.0} ms", seconds * 1e3),
        ..100.0 => format!("{seconds:.1} s"),
        _ => format!("{seconds:.0} s"),
    }
}

/// Writes a text in lines that fit; a word is never cut.
fn paragraph(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{line}")?;
            line = "  ".to_owned();
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "{line}")
}
