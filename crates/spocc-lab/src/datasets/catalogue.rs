//! The datasets, their shapes, files and sources.

use std::path::Path;

use serde::Serialize;

use super::{
    Dataset,
    delimited::DelimitedTable,
    file, mnist, newsgroups, particle,
    table_specs::{AVILA, BREAST, DIGITS, DRIVE, DRIVE_SUBSET, SATELLITE, SPAM, WINE},
};
use crate::error::Error;

/// The names of all datasets.
pub(crate) const NAMES: [&str; 10] =
    ["20newsgroup", "mnist", "satellite", "wine", "spam", "avila", "drive", "particle", "digits", "breast"];

/// Which part of a dataset is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    Whole,
    Subset,
    Absent,
}

/// The description of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Listing {
    pub(crate) name: &'static str,
    pub(crate) is_in_paper: bool,
    /// Rows, features and classes of the whole.
    pub(crate) rows: usize,
    pub(crate) features: usize,
    pub(crate) classes: usize,
    pub(crate) state: State,
    /// The files of the whole, from the folder of all datasets; each may be gzipped, with `.gz` behind its name.
    pub(crate) files: Vec<&'static str>,
    /// Title and DOI of the source.
    pub(crate) title: &'static str,
    pub(crate) doi: Option<&'static str>,
}

/// A dataset, and how to read it.
pub(super) struct CatalogueEntry {
    name: &'static str,
    is_in_paper: bool,
    shape: [usize; 3],
    source: DatasetReader,
    title: &'static str,
    doi: Option<&'static str>,
}

enum DatasetReader {
    Newsgroups,
    Mnist,
    Particle,
    Table { whole: DelimitedTable, subset: Option<DelimitedTable> },
}

const fn only(whole: DelimitedTable) -> DatasetReader {
    DatasetReader::Table { whole, subset: None }
}

static ENTRIES: [CatalogueEntry; NAMES.len()] = [
    CatalogueEntry {
        name: "20newsgroup",
        is_in_paper: true,
        shape: [18846, 100, 20],
        source: DatasetReader::Newsgroups,
        title: "Twenty Newsgroups (K. Lang), the version sorted by date (J. Rennie)",
        doi: Some("10.24432/C5C323"),
    },
    CatalogueEntry {
        name: "mnist",
        is_in_paper: true,
        shape: [70000, 784, 10],
        source: DatasetReader::Mnist,
        title: "The MNIST database of handwritten digits (LeCun, Cortes, Burges)",
        doi: None,
    },
    CatalogueEntry {
        name: "satellite",
        is_in_paper: true,
        shape: [6435, 36, 6],
        source: only(SATELLITE),
        title: "Statlog (Landsat Satellite)",
        doi: Some("10.24432/C55887"),
    },
    CatalogueEntry {
        name: "wine",
        is_in_paper: true,
        shape: [6497, 11, 2],
        source: only(WINE),
        title: "Wine Quality",
        doi: Some("10.24432/C56S3T"),
    },
    CatalogueEntry {
        name: "spam",
        is_in_paper: true,
        shape: [4601, 57, 2],
        source: only(SPAM),
        title: "Spambase",
        doi: Some("10.24432/C53G6X"),
    },
    CatalogueEntry {
        name: "avila",
        is_in_paper: true,
        shape: [10430, 10, 2],
        source: only(AVILA),
        title: "Avila",
        doi: Some("10.24432/C5K02X"),
    },
    CatalogueEntry {
        name: "drive",
        is_in_paper: true,
        shape: [58509, 48, 11],
        source: DatasetReader::Table { whole: DRIVE, subset: Some(DRIVE_SUBSET) },
        title: "Dataset for Sensorless Drive Diagnosis",
        doi: Some("10.24432/C5VP5F"),
    },
    CatalogueEntry {
        name: "particle",
        is_in_paper: true,
        shape: [130_064, 50, 2],
        source: DatasetReader::Particle,
        title: "MiniBooNE particle identification",
        doi: Some("10.24432/C5QC87"),
    },
    CatalogueEntry {
        name: "digits",
        is_in_paper: false,
        shape: [1797, 64, 10],
        source: only(DIGITS),
        title: "Optical Recognition of Handwritten Digits, test part, as scikit-learn ships it",
        doi: None,
    },
    CatalogueEntry {
        name: "breast",
        is_in_paper: false,
        shape: [569, 30, 2],
        source: only(BREAST),
        title: "Breast Cancer Wisconsin (Diagnostic), as scikit-learn ships it",
        doi: None,
    },
];

/// The dataset of that name.
pub(super) fn find(name: &str) -> Option<&'static CatalogueEntry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// Which part of a dataset is below `dir`, by the names of its files.
pub(crate) fn state(name: &str, dir: &Path) -> State {
    find(name).map_or(State::Absent, |entry| entry.state(dir))
}

/// All datasets with their state below `dir`.
pub(crate) fn describe(dir: &Path) -> Vec<Listing> {
    let listing = |entry: &CatalogueEntry| {
        let [rows, features, classes] = entry.shape;
        let (state, files) = (entry.state(dir), entry.source.files());
        let CatalogueEntry { name, is_in_paper, title, doi, .. } = *entry;
        Listing { name, is_in_paper, rows, features, classes, state, files, title, doi }
    };
    ENTRIES.iter().map(listing).collect()
}

impl CatalogueEntry {
    /// Reads the whole, or the subset if only that is present.
    pub(super) fn load(&self, dir: &Path) -> Result<Dataset, Error> {
        match &self.source {
            DatasetReader::Newsgroups => newsgroups::load(dir),
            DatasetReader::Mnist => mnist::load(dir),
            DatasetReader::Particle => particle::load(dir),
            DatasetReader::Table { subset: Some(subset), .. } if self.state(dir) == State::Subset => {
                subset.load(dir)
            }
            DatasetReader::Table { whole, .. } => whole.load(dir),
        }
    }

    fn state(&self, dir: &Path) -> State {
        let are_present = |files: Vec<&str>| files.into_iter().all(|name| file::find(dir, name).is_some());
        match &self.source {
            source if are_present(source.files()) => State::Whole,
            DatasetReader::Table { subset: Some(subset), .. } if are_present(files_of(subset)) => {
                State::Subset
            }
            _ => State::Absent,
        }
    }
}

impl DatasetReader {
    /// The files of the whole.
    fn files(&self) -> Vec<&'static str> {
        match self {
            Self::Newsgroups => vec![newsgroups::FILE],
            Self::Mnist => mnist::PARTS.iter().flat_map(|part| [part.images, part.labels]).collect(),
            Self::Particle => vec![particle::FILE],
            Self::Table { whole, .. } => files_of(whole),
        }
    }
}

fn files_of(table: &DelimitedTable) -> Vec<&'static str> {
    table.parts.iter().map(|part| part.file).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Rows, features and classes that the readers require.
    fn shape(source: &DatasetReader) -> [usize; 3] {
        let of_table = |table: &DelimitedTable| {
            let rows = table.parts.iter().flat_map(|part| part.labels).map(|label| label.rows).sum();
            [rows, table.features, table.n_classes()]
        };
        match source {
            DatasetReader::Newsgroups => {
                let messages = newsgroups::GROUPS.iter().flat_map(|group| group.messages).sum();
                [messages, newsgroups::N_FEATURES, newsgroups::GROUPS.len()]
            }
            DatasetReader::Mnist => {
                let images = mnist::PARTS.iter().flat_map(|part| part.digits).sum();
                [images, mnist::SIDE * mnist::SIDE, mnist::PARTS[0].digits.len()]
            }
            DatasetReader::Particle => {
                [particle::COUNTS.iter().sum(), particle::N_FEATURES, particle::COUNTS.len()]
            }
            DatasetReader::Table { whole, .. } => of_table(whole),
        }
    }

    #[test]
    fn names_and_shapes_agree_with_the_readers() {
        assert_eq!(ENTRIES.each_ref().map(|entry| entry.name), NAMES);
        for entry in &ENTRIES {
            assert_eq!(shape(&entry.source), entry.shape, "{}", entry.name);
            if let DatasetReader::Table { whole, subset } = &entry.source {
                assert_eq!(whole.dataset, entry.name);
                assert!(subset.iter().all(|subset| subset.dataset == entry.name && subset.is_subset));
            }
        }
    }

    #[test]
    fn a_dataset_is_whole_when_all_its_files_are_present() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("wine")).unwrap();
        fs::create_dir(dir.path().join("drive")).unwrap();
        let put = |file: &str| fs::write(dir.path().join(file), "").unwrap();
        assert_eq!(state("wine", dir.path()), State::Absent);
        put("wine/winequality-red.csv");
        assert_eq!(state("wine", dir.path()), State::Absent);
        put("wine/winequality-white.csv.gz");
        assert_eq!(state("wine", dir.path()), State::Whole);
        put("drive/Sensorless_drive_diagnosis.subset2200.txt");
        assert_eq!(state("drive", dir.path()), State::Subset);
        put("drive/Sensorless_drive_diagnosis.txt.gz");
        assert_eq!(state("drive", dir.path()), State::Whole);
        assert_eq!(state("iris", dir.path()), State::Absent);
        let present = describe(dir.path()).into_iter().filter(|listing| listing.state == State::Whole);
        assert_eq!(present.map(|listing| listing.name).collect::<Vec<_>>(), ["wine", "drive"]);
    }
}
