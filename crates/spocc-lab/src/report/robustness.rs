//! Robustness on real data: the accuracy of every method as classifiers are added or validation rows removed.

use super::{
    document::{CellTone, PictureSize, ReportCell, ReportColumn, ReportSection, ReportTable, signed},
    line_chart,
    svg::plain,
};
use crate::{
    aggregate::{ResultSet, points},
    results::Results,
};

/// One way to make an experiment harder.
struct Difficulty {
    /// Last word of the experiment's name.
    name: &'static str,
    /// Label of the axis.
    varied: &'static str,
    title: &'static str,
    explanation: &'static str,
    /// The easy and the hard end, in words.
    ends: [&'static str; 2],
    /// Whether the hard end is the smallest value, not the largest.
    is_hard_when_small: bool,
}

const DIFFICULTIES: [Difficulty; 4] = [
    Difficulty {
        name: "adversaries",
        varied: "adversaries added",
        title: "Adversaries on real data",
        explanation: "Adversaries are added, one for each base classifier in turn. An adversary predicts what its base classifier predicts, but half of its predictions are replaced by another class, drawn at random. With two classes such predictions carry no information; with more they still favour the original prediction. A robust method's line stays level.",
        ends: ["no adversaries", "the most adversaries"],
        is_hard_when_small: false,
    },
    Difficulty {
        name: "guessers",
        varied: "random classifiers added",
        title: "Random classifiers on real data",
        explanation: "Classifiers that predict at random are added. They carry no information, so a robust method's line stays level.",
        ends: ["no random classifiers", "the most random classifiers"],
        is_hard_when_small: false,
    },
    Difficulty {
        name: "copies",
        varied: "near-copies added",
        title: "Near-copies on real data",
        explanation: "Near-copies of the first classifier are added: one prediction in a hundred is redrawn at random. A method that treats them as independent evidence drifts towards the accuracy of that one classifier; Bayes meets combinations of predictions that it has no counts for.",
        ends: ["no copies", "the most copies"],
        is_hard_when_small: false,
    },
    Difficulty {
        name: "rows",
        varied: "validation rows",
        title: "Few validation rows",
        explanation: "The methods are fitted to fewer validation rows. Methods with many parameters need more of them: their lines start low and rise late.",
        ends: ["all validation rows", "the fewest validation rows"],
        is_hard_when_small: true,
    },
];

/// A section per difficulty that was run.
pub(super) fn sections(all: &ResultSet<'_>) -> Vec<ReportSection> {
    DIFFICULTIES.iter().filter_map(|difficulty| section(all, difficulty)).collect()
}

fn section(all: &ResultSet<'_>, difficulty: &Difficulty) -> Option<ReportSection> {
    let suffix = format!("-{}", difficulty.name);
    let found: Vec<(&str, &Results)> = all
        .named("robustness-")
        .into_iter()
        .filter_map(|(name, results)| Some((name.strip_suffix(suffix.as_str())?, results)))
        .collect();
    if found.is_empty() {
        return None;
    }
    let varied = difficulty.varied;
    let picture =
        |(name, results): &(&str, &Results)| line_chart::accuracy(all, results, &all.methods, name, varied);
    let caption = format!(
        "Mean accuracy against {varied} (logarithmic axis). Bands: 95 % intervals, from three repetitions on. Orange: SPOCC, adaSPOCC and the ladder; blue and grey: the other methods."
    );
    let section = ReportSection::new(difficulty.title)
        .paragraph(difficulty.explanation)
        .pictures(caption, PictureSize::Wide, found.iter().map(picture).collect())
        .tables(tables(all, &found, difficulty));
    Some(section)
}

/// Accuracy at the easy end, at the hard end, and the change.
fn tables(all: &ResultSet<'_>, found: &[(&str, &Results)], difficulty: &Difficulty) -> [ReportTable; 3] {
    let [easy, hard] = difficulty.ends;
    let captions = [
        format!("Mean accuracy in % with {easy} (the number below the name). Bold: the best method."),
        format!("Mean accuracy in % with {hard} (the number below the name). Bold: the best method."),
        format!("Change from {easy} to {hard}, in percentage points."),
    ];
    let ends: Vec<[f64; 2]> = found.iter().map(|(_, results)| difficulty.ends_of(results)).collect();
    let mut tables = captions.map(|caption| ReportTable::new(caption, found.iter().map(|(name, _)| *name)));
    for (table, end) in tables.iter_mut().zip([0, 1]) {
        table.columns = found.iter().zip(&ends).map(|(found, ends)| column(found.0, ends[end])).collect();
    }
    let mut means = [vec![Vec::new(); found.len()], vec![Vec::new(); found.len()]];
    for method in &all.methods {
        let pairs: Vec<[Option<f64>; 2]> = found
            .iter()
            .zip(&ends)
            .map(|((_, results), ends)| {
                ends.map(|at| all.summary_at(results, method, at).map(|summary| summary.mean))
            })
            .collect();
        for end in [0, 1] {
            tables[end].add(method, pairs.iter().map(|pair| ReportCell::figure(pair[end], 1)).collect());
            means[end].iter_mut().zip(&pairs).for_each(|(means, pair)| means.push(pair[end]));
        }
        tables[2].add(method, pairs.iter().map(change).collect());
    }
    for (table, means) in tables.iter_mut().zip(&means) {
        means.iter().enumerate().for_each(|(column, means)| table.mark_best(column, means));
    }
    tables
}

fn column(name: &str, at: f64) -> ReportColumn {
    ReportColumn { name: name.to_owned(), note: Some(plain(at)) }
}

fn change(&[easy, hard]: &[Option<f64>; 2]) -> ReportCell {
    let Some((easy, hard)) = easy.zip(hard) else { return ReportCell::none() };
    let tone = if hard < easy - 1.0 { CellTone::Bad } else { CellTone::Plain };
    ReportCell { tone, ..ReportCell::new(signed(hard - easy, 1)) }
}

impl Difficulty {
    /// The easy and the hard end of what an experiment varied.
    fn ends_of(&self, results: &Results) -> [f64; 2] {
        let points = points(results);
        let [least, most] = [points[0], points[points.len() - 1]];
        if self.is_hard_when_small { [most, least] } else { [least, most] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{document::DocumentBlock, simulated};

    #[test]
    fn each_difficulty_that_was_run_has_a_section_with_both_ends_and_the_change() {
        let results = ["robustness-wine-copies", "robustness-20newsgroup-copies", "robustness-wine-rows"]
            .map(|name| simulated::experiment(name, 2, &[10.0, 100.0], 3));
        let sections = sections(&ResultSet::new(&results));
        let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).collect();
        assert_eq!(titles, ["Near-copies on real data", "Few validation rows"]);
        let notes = |section: &ReportSection| -> Vec<Option<String>> {
            let tables = section.blocks.iter().filter_map(|block| match block {
                DocumentBlock::Table(table) => Some(table.columns[0].note.clone()),
                _ => None,
            });
            tables.collect()
        };
        assert_eq!(notes(&sections[0]), [Some("10".to_owned()), Some("100".to_owned()), None]);
        assert_eq!(notes(&sections[1]), [Some("100".to_owned()), Some("10".to_owned()), None]);
    }

    #[test]
    fn the_change_is_the_hard_end_minus_the_easy_end() {
        assert_eq!(change(&[Some(80.0), Some(60.0)]).text, "−20.0");
        assert_eq!(change(&[Some(80.0), None]).text, "–");
    }
}
