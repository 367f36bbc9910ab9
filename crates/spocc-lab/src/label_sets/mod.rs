//! Label sets: the labels that several classifiers or people gave to the same rows, with the truth of some rows.
//!
//! In: a folder of data. Out: a [`LabelSet`]. `crowd` reads long tables (item, worker, label) and `wide` reads tables with
//! a column per classifier; panels that are trained on the paper's datasets are made by the experiments.

mod crowd;
mod numbering;
mod wide;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use spocc::{
    Label, Predictions, Truth,
    data::{AnswerId, Answers},
};

use crate::{error::Error, random};

/// Tables with more different truths have no closed list of classes: they are scores or open answers.
pub(crate) const MAX_CLASSES: usize = 50;

/// The labels of some rows; cells may be missing, and so may truths.
#[derive(Clone, Debug)]
pub(crate) struct LabelSet {
    pub(crate) name: String,
    pub(crate) classifiers: Vec<String>,
    /// Every label that a classifier gave.
    pub(crate) labels: Vec<Label>,
    /// The cells of each row: classifier, and position among the labels.
    pub(crate) rows: Vec<Vec<(usize, usize)>>,
    /// The classes, in their order: every label that is true of a row.
    pub(crate) classes: Vec<Label>,
    /// The class of each row, where it is known.
    pub(crate) truth: Vec<Option<u16>>,
}

/// The files of label sets in a folder of data: `crowd/NAME.label.csv` with `crowd/NAME.truth.csv`, and `panels/NAME.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LabelFiles {
    Crowd { labels: PathBuf, truth: PathBuf },
    Wide(PathBuf),
}

/// The label sets below `dir` by name, crowds first.
pub(crate) fn find(dir: &Path) -> Result<Vec<(String, LabelFiles)>, Error> {
    let mut found = Vec::new();
    for path in list(&dir.join("crowd"))? {
        if let Some(name) = name_before(&path, ".label.csv") {
            let truth = path.with_file_name(format!("{name}.truth.csv"));
            found.push((name, LabelFiles::Crowd { labels: path, truth }));
        }
    }
    for path in list(&dir.join("panels"))? {
        if let Some(name) = name_before(&path, ".csv") {
            found.push((name, LabelFiles::Wide(path)));
        }
    }
    Ok(found)
}

/// The files of a folder by name; none if there is no such folder.
fn list(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    if !dir.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(dir).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut paths: Vec<PathBuf> = entries.map_err(Error::io(dir))?;
    paths.sort();
    Ok(paths)
}

fn name_before(path: &Path, ending: &str) -> Option<String> {
    path.file_name()?.to_str()?.strip_suffix(ending).map(ToOwned::to_owned)
}

impl LabelFiles {
    /// Reads the label set.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::BadLine`]; [`Error::BadFile`] where the truths are not between two and
    /// [`MAX_CLASSES`] different labels.
    pub(crate) fn load(&self, name: &str) -> Result<LabelSet, Error> {
        let (set, path) = self.read(name)?;
        if (2..=MAX_CLASSES).contains(&set.classes.len()) {
            return Ok(set);
        }
        let expected = format!("2 to {MAX_CLASSES} different truths");
        let found = set.classes.len().to_string();
        Err(Error::BadFile { path: path.to_owned(), expected, found })
    }

    /// Reads the label set with any number of different truths.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::BadLine`].
    pub(crate) fn load_open(&self, name: &str) -> Result<LabelSet, Error> {
        Ok(self.read(name)?.0)
    }

    fn read(&self, name: &str) -> Result<(LabelSet, &PathBuf), Error> {
        Ok(match self {
            Self::Crowd { labels, truth } => (crowd::read(name, labels, truth)?, truth),
            Self::Wide(path) => (wide::read(name, path)?, path),
        })
    }

    /// Whether it is a table of scores or open answers, which has no closed list of classes.
    pub(crate) fn is_open(&self) -> Result<bool, Error> {
        match self {
            Self::Crowd { .. } => Ok(false),
            Self::Wide(path) => Ok(wide::read("", path)?.classes.len() > MAX_CLASSES),
        }
    }
}

impl LabelSet {
    /// A set of rows with their truths as labels; the classes are all of these, numbers in their order.
    fn new(
        name: &str,
        classifiers: Vec<String>,
        labels: Vec<Label>,
        rows: Vec<Vec<(usize, usize)>>,
        truth: &[Option<Label>],
    ) -> Self {
        let classes: Vec<Label> =
            truth.iter().flatten().collect::<BTreeSet<_>>().into_iter().cloned().collect();
        let number = |label: &Label| classes.binary_search(label).ok().map(|at| at as u16);
        let truth = truth.iter().map(|label| label.as_ref().and_then(number)).collect();
        Self { name: name.to_owned(), classifiers, labels, rows, classes, truth }
    }

    /// The rows with a truth.
    pub(crate) fn known(&self) -> Vec<usize> {
        (0..self.rows.len()).filter(|&row| self.truth[row].is_some()).collect()
    }

    /// Some rows, as the engine takes them.
    pub(crate) fn predictions(&self, rows: &[usize]) -> Result<Predictions, Error> {
        let cells = rows.iter().enumerate().flat_map(|(at, &row)| {
            self.rows[row].iter().map(move |&(classifier, label)| (at, classifier, label))
        });
        Ok(Predictions::from_cells(self.classifiers.iter().cloned(), rows.len(), &self.labels, cells)?)
    }

    /// Some labelled rows and some without their truth, as open answers.
    pub(crate) fn answers(&self, labelled: &[usize], unlabelled: &[usize]) -> Result<Answers, Error> {
        let mut answers = Answers::builder(self.classifiers.iter().cloned())?;
        let ids = self
            .labels
            .iter()
            .map(|label| answers.id(label.clone()))
            .collect::<Result<Vec<AnswerId>, spocc::Error>>()?;
        let known = labelled.iter().map(|&row| (row, self.truth[row]));
        for (row, truth) in known.chain(unlabelled.iter().map(|&row| (row, None))) {
            let truth =
                truth.map(|class| answers.id(self.classes[usize::from(class)].clone())).transpose()?;
            answers.push_cells(self.rows[row].iter().map(|&(k, label)| (k, ids[label])), truth)?;
        }
        Ok(answers.finish())
    }

    /// The truths of some rows, followed by `n_unknown` rows without truth.
    pub(crate) fn truths(&self, rows: &[usize], n_unknown: usize) -> Result<Truth, Error> {
        let class = |row: &usize| self.truth[*row].map(|class| self.classes[usize::from(class)].clone());
        Ok(Truth::new(rows.iter().map(class).chain(std::iter::repeat_n(None, n_unknown)))?)
    }

    /// A hash of the labels and truths.
    pub(crate) fn hash(&self) -> u64 {
        let start = [self.rows.len(), self.classifiers.len(), self.classes.len()].into_iter();
        let cells = self.rows.iter().zip(&self.truth).flat_map(|(cells, truth)| {
            let truth = truth.map_or(usize::MAX, usize::from);
            cells.iter().flat_map(|&(k, label)| [k, label]).chain([truth])
        });
        let names = self.labels.iter().chain(&self.classes).flat_map(|label| label.canonical().bytes());
        let numbers = start.chain(cells).chain(names.map(usize::from));
        numbers.fold(0, |hash, number| random::mix(hash ^ number as u64))
    }
}
