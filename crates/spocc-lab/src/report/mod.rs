//! The report: from results to one self-contained HTML page, and the same tables as Markdown.
//!
//! `paper_comparison` and `ranking` put results beside the paper's; `paired_tests`, `win_counts`, `probabilities` and
//! `robustness` report what the paper does not; `violin`, `scatter`, `confusion_matrix`, `critical_difference` and
//! `line_chart` draw with `svg`; `outline` arranges all of it as a `document` with its `findings`, which `html` and
//! `markdown` write. `budgets` arranges the results of `spocc-lab budgets`.

mod paper_comparison;
mod ranking;
mod paired_tests;
mod win_counts;
mod probabilities;
mod robustness;
mod svg;
mod violin;
mod scatter;
mod confusion_matrix;
mod critical_difference;
mod line_chart;
mod document;
mod findings;
mod outline;
mod budgets;
mod html;
mod markdown;
#[cfg(test)]
pub(crate) mod simulated;

use std::path::Path;

use crate::{error::Error, experiments, results::Results};

/// Writes `report.html` and `report.md` into a folder, each atomically.
pub(crate) fn write(results: &[Results], dir: &Path) -> Result<(), Error> {
    let seed = results.first().map_or(0, |results| results.header.seed);
    let points = experiments::synthetic::sample_points(seed);
    let document = if budgets::is_budgets(results) {
        budgets::arrange(results)
    } else {
        outline::arrange(results, &points, &experiments::example3::curve())
    };
    replace(dir, "report.html", &html::render(&document))?;
    replace(dir, "report.md", &markdown::render(&document))
}

fn replace(dir: &Path, name: &str, text: &str) -> Result<(), Error> {
    let path = dir.join(name);
    spocc_file::write(&path, text.as_bytes()).map_err(|source| Error::Write { path, source })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Bytes that a browser opens quickly and a mail can carry.
    const LARGEST: usize = 5_000_000;

    #[test]
    fn a_full_report_is_complete_reproducible_and_below_the_size_limit() {
        let results = simulated::everything(100);
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
        let pages = folders.each_ref().map(|folder| {
            write(&results, folder.path()).expect("a folder that takes files");
            let mut names: Vec<_> = fs::read_dir(folder.path())
                .expect("a folder")
                .map(|entry| entry.expect("an entry").file_name())
                .collect();
            names.sort();
            assert_eq!(names, ["report.html", "report.md"], "and no temporary file");
            ["report.html", "report.md"]
                .map(|name| fs::read_to_string(folder.path().join(name)).expect("a report"))
        });
        assert_eq!(pages[0], pages[1]);
        assert!(pages[0][0].len() < LARGEST, "{} bytes", pages[0][0].len());
        assert!(!pages[0][0].contains("NaN") && !pages[0][1].contains("NaN"));
        // To look at it: SPOCC_LAB_LOOK=folder cargo test -p spocc-lab.
        if let Some(folder) = std::env::var_os("SPOCC_LAB_LOOK") {
            write(&results, Path::new(&folder)).expect("a folder that takes files");
        }
    }

    #[test]
    fn a_report_into_a_missing_folder_is_refused_and_creates_none() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let missing = folder.path().join("missing");
        let refused = write(&[], &missing).expect_err("there is no such folder");
        assert!(refused.to_string().contains("missing"), "{refused}");
        assert!(!missing.exists());
    }

    #[test]
    fn a_report_without_results_says_so() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write(&[], folder.path()).expect("a folder that takes files");
        let text = fs::read_to_string(folder.path().join("report.md")).expect("a report");
        assert!(text.contains("No experiment has results yet"), "{text}");
    }
}
