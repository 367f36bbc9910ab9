//! The report: from results to one page that needs nothing else, and the same tables as Markdown.
//!
//! `tables`, `standing`, `differences` and `robustness` set results beside the paper's, `duels` and
//! `probabilities` judge what the paper does not have, `violin`,
//! `scatter`, `confusion`, `critical` and `lines` draw them with `svg`, `story` puts all of it in order as a `page`
//! under `headlines`, which `html` and `markdown` write.

mod tables;
mod standing;
mod differences;
mod duels;
mod probabilities;
mod robustness;
mod svg;
mod violin;
mod scatter;
mod confusion;
mod critical;
mod lines;
mod page;
mod headlines;
mod story;
mod html;
mod markdown;
#[cfg(test)]
pub(crate) mod invented;

use std::{fs, io::Write, path::Path};

use crate::{error::Error, experiments, results::Results};

/// Writes `report.html` and `report.md` into a folder; each is whole or not there.
pub(crate) fn write(results: &[Results], dir: &Path) -> Result<(), Error> {
    let seed = results.first().map_or(0, |results| results.heading.seed);
    let points = experiments::synthetic::sample_points(seed);
    let page = story::tell(results, &points, &experiments::example3::curve());
    replace(dir, "report.html", &html::render(&page))?;
    replace(dir, "report.md", &markdown::render(&page))
}

fn replace(dir: &Path, name: &str, text: &str) -> Result<(), Error> {
    let path = dir.join(name);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".report-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: the user's mask takes away what it should.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut part = builder.tempfile_in(dir).map_err(Error::io(dir))?;
    part.write_all(text.as_bytes()).map_err(Error::io(&path))?;
    part.as_file().sync_all().map_err(Error::io(&path))?;
    part.persist(&path).map_err(|error| error.error).map_err(Error::io(&path))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a browser opens without complaint and a mail takes along.
    const LARGEST: usize = 5_000_000;

    #[test]
    fn a_full_report_is_written_whole_twice_the_same_and_not_too_large() {
        let results = invented::everything(100);
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
        let pages = folders.each_ref().map(|folder| {
            write(&results, folder.path()).expect("a folder that takes files");
            let mut names: Vec<_> = fs::read_dir(folder.path())
                .expect("a folder")
                .map(|entry| entry.expect("an entry").file_name())
                .collect();
            names.sort();
            assert_eq!(names, ["report.html", "report.md"], "and nothing half-written");
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
    fn a_report_that_has_nowhere_to_go_is_refused_and_makes_no_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let missing = folder.path().join("missing");
        let refused = write(&[], &missing).expect_err("there is no such folder");
        assert!(refused.to_string().contains("missing"), "{refused}");
        assert!(!missing.exists());
    }

    #[test]
    fn a_folder_without_results_gives_a_page_that_says_so() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write(&[], folder.path()).expect("a folder that takes files");
        let text = fs::read_to_string(folder.path().join("report.md")).expect("a report");
        assert!(text.contains("No experiment has results yet"), "{text}");
    }
}
