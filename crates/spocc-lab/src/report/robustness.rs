//! Robustness on real data: what is left of every method's accuracy when many classifiers join, or rows are few.

use super::{
    lines,
    page::{Cell, Column, Row, Section, Size, Table, Tone, signed},
    svg::plain,
};
use crate::{
    measured::{Measured, points},
    results::Results,
};

/// What is varied: its name in experiments, on axes, in headings, and what to look for.
const KINDS: [(&str, &str, &str, &str); 4] = [
    (
        "adversaries",
        "adversaries added",
        "Adversaries on real data",
        "Adversaries of every base classifier in turn join the panel. Each answers as that classifier does, but half of its answers are turned into another class, drawn at random. A robust method's line stays level. With two classes such answers carry nothing; with more they still lean towards the answer they come from.",
    ),
    (
        "guessers",
        "guessers added",
        "Guessers on real data",
        "Classifiers that answer at random join the panel. They carry nothing, so a robust method's line stays level.",
    ),
    (
        "copies",
        "copies added",
        "Copies on real data",
        "Near-copies of the first classifier join the panel: one answer in a hundred is drawn anew. A method that counts each as a new witness drifts towards the accuracy of that one classifier; Bayes meets patterns of answers it never saw and sinks.",
    ),
    (
        "rows",
        "validation rows",
        "Few validation rows",
        "The combiners learn from fewer or more validation rows. Methods with many parameters need more of them: their lines start low and rise late.",
    ),
];

/// A section per difficulty that was run.
pub(super) fn sections(measured: &Measured<'_>) -> Vec<Section> {
    KINDS.iter().filter_map(|kind| section(measured, kind)).collect()
}

fn section(measured: &Measured<'_>, kind: &(&str, &str, &str, &str)) -> Option<Section> {
    let (kind, varied, title, words) = *kind;
    let suffix = format!("-{kind}");
    let found: Vec<(&str, &Results)> = measured
        .named("robustness-")
        .into_iter()
        .filter_map(|(name, results)| Some((name.strip_suffix(suffix.as_str())?, results)))
        .collect();
    if found.is_empty() {
        return None;
    }
    let picture = |(name, results): &(&str, &Results)| lines::robustness(measured, results, name, varied);
    let caption = format!(
        "Mean accuracy against {varied}; the axis is compressed towards the right (logarithmic). The band is the 95 % interval, from three repetitions on; the name stands where the line ends. Oranges: SPOCC and its kin; blues and greys: the others."
    );
    let section = Section::new(title)
        .words(words)
        .pictures(caption, Size::Wide, found.iter().map(picture).collect())
        .table(table(measured, &found, varied));
    Some(section)
}

/// From one end of what is varied to the other.
fn table(measured: &Measured<'_>, found: &[(&str, &Results)], varied: &str) -> Table {
    let ends = |results: &Results| {
        let points = points(results);
        (points[0], points[points.len() - 1])
    };
    let column = |(name, results): &(&str, &Results)| {
        let (first, last) = ends(results);
        let note = Some(format!("{} → {}", plain(first), plain(last)));
        Column { name: (*name).to_owned(), note }
    };
    let caption =
        format!("Mean accuracy at the two ends of {varied}, and the change; bold is the best lower end.");
    let mut table = Table { caption, columns: found.iter().map(column).collect(), rows: Vec::new() };
    let mut lower = vec![Vec::new(); found.len()];
    for method in &measured.methods {
        let mut cells = Vec::with_capacity(found.len());
        for ((_, results), lower) in found.iter().zip(&mut lower) {
            let (first, last) = ends(results);
            let mean = |at| measured.summary_at(results, method, at).map(|summary| summary.mean);
            let pair = mean(first).zip(mean(last));
            lower.push(pair.map(|(first, last)| first.min(last)));
            cells.push(pair.map_or_else(Cell::none, |(first, last)| {
                let tone = if last < first - 1.0 { Tone::Bad } else { Tone::Plain };
                Cell::new(format!("{first:.1} → {last:.1}")).toned(signed(last - first, 1), tone)
            }));
        }
        table.rows.push(Row { name: method.clone(), is_reference: false, cells });
    }
    for (column, lower) in lower.iter().enumerate() {
        table.mark_best(column, lower);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{invented, page::Block};

    #[test]
    fn a_section_stands_for_each_difficulty_that_was_run() {
        let results = ["robustness-wine-copies", "robustness-20newsgroup-copies", "robustness-wine-rows"]
            .map(|name| invented::experiment(name, 2, &[10.0, 100.0], 3));
        let sections = sections(&Measured::new(&results));
        let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).collect();
        assert_eq!(titles, ["Copies on real data", "Few validation rows"]);
        let Some(Block::Table(table)) = sections[0].blocks.last() else { panic!("a table comes last") };
        assert_eq!(table.columns.len(), 2);
        assert_eq!(table.columns[0].note.as_deref(), Some("10 → 100"));
        assert!(table.rows.iter().all(|row| row.cells[0].text.contains(" → ")));
    }
}
