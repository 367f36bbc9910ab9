//! The datasets that are tables of numbers: how their files look, and how many rows of each class they hold.
//!
//! Classes are merged, renumbered and features standardised as the authors of the paper did.

use super::delimited::{ClassLabel, DelimitedFile, DelimitedTable, Delimiter};

const PLAIN: DelimitedTable = DelimitedTable {
    dataset: "",
    features: 0,
    delimiter: Delimiter::Sign(','),
    header: None,
    is_standardised: false,
    is_subset: false,
    parts: &[],
};

const fn label(word: &'static str, class: u16, rows: usize) -> ClassLabel {
    ClassLabel { word, class, rows }
}

/// No row has class 6; class 7 comes after 5.
pub(super) const SATELLITE: DelimitedTable = DelimitedTable {
    dataset: "satellite",
    features: 36,
    delimiter: Delimiter::Blanks,
    parts: &[
        DelimitedFile {
            file: "satellite/sat.trn",
            labels: &[
                label("1", 0, 1072),
                label("2", 1, 479),
                label("3", 2, 961),
                label("4", 3, 415),
                label("5", 4, 470),
                label("7", 5, 1038),
            ],
        },
        DelimitedFile {
            file: "satellite/sat.tst",
            labels: &[
                label("1", 0, 461),
                label("2", 1, 224),
                label("3", 2, 397),
                label("4", 3, 211),
                label("5", 4, 237),
                label("7", 5, 470),
            ],
        },
    ],
    ..PLAIN
};

/// Red and white together; scores up to 5 against those above.
pub(super) const WINE: DelimitedTable = DelimitedTable {
    dataset: "wine",
    features: 11,
    delimiter: Delimiter::Sign(';'),
    header: Some(concat!(
        r#""fixed acidity";"volatile acidity";"citric acid";"residual sugar";"chlorides";"free sulfur dioxide";"#,
        r#""total sulfur dioxide";"density";"pH";"sulphates";"alcohol";"quality""#
    )),
    parts: &[
        DelimitedFile {
            file: "wine/winequality-red.csv",
            labels: &[
                label("3", 0, 10),
                label("4", 0, 53),
                label("5", 0, 681),
                label("6", 1, 638),
                label("7", 1, 199),
                label("8", 1, 18),
            ],
        },
        DelimitedFile {
            file: "wine/winequality-white.csv",
            labels: &[
                label("3", 0, 20),
                label("4", 0, 163),
                label("5", 0, 1457),
                label("6", 1, 2198),
                label("7", 1, 880),
                label("8", 1, 175),
                label("9", 1, 5),
            ],
        },
    ],
    ..PLAIN
};

pub(super) const SPAM: DelimitedTable = DelimitedTable {
    dataset: "spam",
    features: 57,
    is_standardised: true,
    parts: &[DelimitedFile {
        file: "spambase/spambase.data",
        labels: &[label("0", 0, 2788), label("1", 1, 1813)],
    }],
    ..PLAIN
};

/// The first half of the original alone; the first five copyists against the others.
pub(super) const AVILA: DelimitedTable = DelimitedTable {
    dataset: "avila",
    features: 10,
    parts: &[DelimitedFile {
        file: "avila/avila-tr.txt",
        labels: &[
            label("A", 0, 4286),
            label("B", 0, 5),
            label("C", 0, 103),
            label("D", 0, 352),
            label("E", 0, 1095),
            label("F", 1, 1961),
            label("G", 1, 446),
            label("H", 1, 519),
            label("I", 1, 831),
            label("W", 1, 44),
            label("X", 1, 522),
            label("Y", 1, 266),
        ],
    }],
    ..PLAIN
};

/// Eleven states of a drive, as many rows of each.
const fn states(rows: usize) -> [ClassLabel; 11] {
    [
        label("1", 0, rows),
        label("2", 1, rows),
        label("3", 2, rows),
        label("4", 3, rows),
        label("5", 4, rows),
        label("6", 5, rows),
        label("7", 6, rows),
        label("8", 7, rows),
        label("9", 8, rows),
        label("10", 9, rows),
        label("11", 10, rows),
    ]
}

pub(super) const DRIVE: DelimitedTable = DelimitedTable {
    dataset: "drive",
    features: 48,
    delimiter: Delimiter::Blanks,
    is_standardised: true,
    parts: &[DelimitedFile { file: "drive/Sensorless_drive_diagnosis.txt", labels: &states(5319) }],
    ..PLAIN
};

/// Whole rows of the original, 200 of each class.
pub(super) const DRIVE_SUBSET: DelimitedTable = DelimitedTable {
    is_subset: true,
    parts: &[DelimitedFile { file: "drive/Sensorless_drive_diagnosis.subset2200.txt", labels: &states(200) }],
    ..DRIVE
};

/// Not in the paper.
pub(super) const DIGITS: DelimitedTable = DelimitedTable {
    dataset: "digits",
    features: 64,
    parts: &[DelimitedFile {
        file: "digits/digits.csv",
        labels: &[
            label("0", 0, 178),
            label("1", 1, 182),
            label("2", 2, 177),
            label("3", 3, 183),
            label("4", 4, 181),
            label("5", 5, 182),
            label("6", 6, 181),
            label("7", 7, 179),
            label("8", 8, 174),
            label("9", 9, 180),
        ],
    }],
    ..PLAIN
};

/// Not in the paper.
pub(super) const BREAST: DelimitedTable = DelimitedTable {
    dataset: "breast",
    features: 30,
    parts: &[DelimitedFile { file: "breast/breast.csv", labels: &[label("0", 0, 212), label("1", 1, 357)] }],
    ..PLAIN
};
