//! MNIST: images and labels of handwritten digits, in the binary IDX format.
//!
//! A file is a magic number, its dimensions and then bytes; numbers are big-endian, of 32 bits.

use std::path::Path;

use ndarray::Array2;

use super::{Dataset, file::DataFile};
use crate::error::Error;

const IMAGES: usize = 0x803;
const LABELS: usize = 0x801;
const N_CLASSES: usize = 10;

/// Height and width of an image.
pub(super) const SIDE: usize = 28;

/// Two files that belong together, and how many images of each digit they hold.
pub(super) struct MnistFiles {
    pub(super) images: &'static str,
    pub(super) labels: &'static str,
    pub(super) digits: [usize; N_CLASSES],
}

pub(super) const PARTS: [MnistFiles; 2] = [
    MnistFiles {
        images: "mnist/train-images-idx3-ubyte",
        labels: "mnist/train-labels-idx1-ubyte",
        digits: [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949],
    },
    MnistFiles {
        images: "mnist/t10k-images-idx3-ubyte",
        labels: "mnist/t10k-labels-idx1-ubyte",
        digits: [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009],
    },
];

/// Pixels go from 0 to 1.
pub(super) fn load(dir: &Path) -> Result<Dataset, Error> {
    read(dir, &PARTS, SIDE)
}

fn read(dir: &Path, parts: &[MnistFiles], side: usize) -> Result<Dataset, Error> {
    let n_pixels = side * side;
    let n_rows: usize = parts.iter().flat_map(|part| part.digits).sum();
    let shades: [f64; 256] = std::array::from_fn(|byte| byte as f64 / 255.0);
    let mut pixels = Vec::with_capacity(n_rows * n_pixels);
    let mut classes = Vec::with_capacity(n_rows);
    for part in parts {
        let n_rows = part.digits.iter().sum();
        let images = DataFile::read(dir, part.images, "mnist")?;
        let bytes = content(&images, IMAGES, &[n_rows, side, side])?;
        pixels.extend(bytes.iter().map(|&byte| shades[usize::from(byte)]));
        let labels = DataFile::read(dir, part.labels, "mnist")?;
        classes.extend(digits(&labels, &part.digits)?);
    }
    let rows = Array2::from_shape_vec((n_rows, n_pixels), pixels)
        .expect("the content of every part has as many bytes as its dimensions say");
    Ok(Dataset { name: "mnist", rows, classes, n_classes: N_CLASSES, is_subset: false })
}

/// The bytes behind the heading of a file, which must be of this kind and have these dimensions.
fn content<'a>(file: &'a DataFile, magic: usize, dimensions: &[usize]) -> Result<&'a [u8], Error> {
    let heading = 4 * (1 + dimensions.len());
    let size: usize = dimensions.iter().product();
    let numbers: Vec<usize> = file
        .bytes
        .chunks_exact(4)
        .take(1 + dimensions.len())
        .map(|bytes| u32::from_be_bytes(bytes.try_into().expect("chunks of four bytes")) as usize)
        .collect();
    match numbers.split_first() {
        Some((&found, _)) if found != magic => {
            return Err(
                file.refuse(format!("an IDX file that starts with {magic:#x}"), format!("{found:#x}"))
            );
        }
        Some((_, found)) if found.len() == dimensions.len() && *found != dimensions[..] => {
            return Err(file.refuse(format!("dimensions {dimensions:?}"), format!("{found:?}")));
        }
        _ => {}
    }
    if file.bytes.len() != heading + size {
        return Err(file.refuse(format!("{} bytes", heading + size), file.bytes.len().to_string()));
    }
    Ok(&file.bytes[heading..])
}

fn digits(file: &DataFile, expected: &[usize; N_CLASSES]) -> Result<Vec<u16>, Error> {
    let labels = content(file, LABELS, &[expected.iter().sum()])?;
    let mut counts = [0; N_CLASSES];
    for (row, &label) in labels.iter().enumerate() {
        let count = counts.get_mut(usize::from(label)).ok_or_else(|| {
            file.refuse("digits from 0 to 9", format!("{label} for image {}, counted from 1", row + 1))
        })?;
        *count += 1;
    }
    if counts != *expected {
        return Err(file.refuse(format!("{expected:?} images of the digits"), format!("{counts:?}")));
    }
    Ok(labels.iter().map(|&label| u16::from(label)).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const PARTS: [MnistFiles; 2] = [
        MnistFiles { images: "train-images", labels: "train-labels", digits: [0, 1, 0, 0, 0, 0, 0, 0, 0, 1] },
        MnistFiles { images: "t10k-images", labels: "t10k-labels", digits: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
    ];

    fn idx(magic: usize, dimensions: &[usize], bytes: &[u8]) -> Vec<u8> {
        let heading =
            std::iter::once(&magic).chain(dimensions).flat_map(|&number| (number as u32).to_be_bytes());
        heading.chain(bytes.iter().copied()).collect()
    }

    /// Reads the small set below, one of its files replaced.
    fn load(replaced: &str, by: &[u8]) -> Result<Dataset, String> {
        let dir = tempfile::tempdir().unwrap();
        let files = [
            ("train-images", idx(IMAGES, &[2, 2, 2], &[0, 51, 102, 153, 204, 255, 0, 0])),
            ("train-labels", idx(LABELS, &[2], &[9, 1])),
            ("t10k-images", idx(IMAGES, &[1, 2, 2], &[255; 4])),
            ("t10k-labels", idx(LABELS, &[1], &[0])),
        ];
        for (name, bytes) in &files {
            fs::write(dir.path().join(name), if *name == replaced { by } else { bytes }).unwrap();
        }
        let folder = format!("{}/", dir.path().display());
        read(dir.path(), &PARTS, 2).map_err(|error| error.to_string().replace(&folder, ""))
    }

    #[track_caller]
    fn is_refused(file: &str, bytes: &[u8], message: &str) {
        assert_eq!(load(file, bytes).err(), Some(format!("{file}: {message}")));
    }

    #[test]
    fn train_and_test_images_are_pooled_with_pixels_from_0_to_1() {
        let dataset = load("", &[]).unwrap();
        let expected = ndarray::array![[0.0, 0.2, 0.4, 0.6], [0.8, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]];
        assert_eq!(dataset.rows, expected);
        assert_eq!((&dataset.classes[..], dataset.n_classes), (&[9, 1, 0][..], 10));
    }

    #[test]
    fn a_cut_file_is_refused() {
        let whole = idx(IMAGES, &[2, 2, 2], &[0; 8]);
        is_refused("train-images", &whole[..20], "expected 24 bytes, found 20");
        is_refused("train-images", &whole[..10], "expected 24 bytes, found 10");
        is_refused("train-images", &[], "expected 24 bytes, found 0");
        is_refused("t10k-labels", &idx(LABELS, &[1], &[0, 0]), "expected 9 bytes, found 10");
    }

    #[test]
    fn another_kind_or_shape_is_refused() {
        let labels = idx(LABELS, &[2], &[9, 1]);
        is_refused("train-images", &labels, "expected an IDX file that starts with 0x803, found 0x801");
        let wide = idx(IMAGES, &[2, 2, 3], &[0; 12]);
        is_refused("train-images", &wide, "expected dimensions [2, 2, 2], found [2, 2, 3]");
    }

    #[test]
    fn labels_that_are_no_digits_or_too_many_of_one_are_refused() {
        let ten = idx(LABELS, &[2], &[9, 10]);
        is_refused("train-labels", &ten, "expected digits from 0 to 9, found 10 for image 2, counted from 1");
        let message = "expected [0, 1, 0, 0, 0, 0, 0, 0, 0, 1] images of the digits, \
                       found [0, 0, 0, 0, 0, 0, 0, 0, 0, 2]";
        is_refused("train-labels", &idx(LABELS, &[2], &[9, 9]), message);
    }
}
