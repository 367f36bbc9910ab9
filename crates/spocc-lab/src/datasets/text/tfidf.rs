//! TF-IDF: texts as weights of their words, of which rare ones weigh more.
//!
//! The paper names the method and no details. As in scikit-learn, a word is two or more letters, digits or
//! underscores in a row, in lower case; common English words stay; words of a single text stay as well.
//!
//! ```text
//! weight = times in the text * (ln((1 + n) / (1 + texts with the word)) + 1), then every row has length 1
//! ```

use std::collections::HashMap;

use super::sparse::Sparse;

/// The weights: a row a text, a column a word, words in the order of their bytes.
pub(super) fn weigh(texts: &[Vec<u8>]) -> Sparse {
    let lower: [u8; 256] = std::array::from_fn(|byte| lower(byte as u8));
    let texts: Vec<Vec<u8>> =
        texts.iter().map(|text| text.iter().map(|&byte| lower[usize::from(byte)]).collect()).collect();
    let (counts, n_texts_with) = count(&texts);
    let rarity: Vec<f64> =
        n_texts_with.iter().map(|&with| ((1 + texts.len()) as f64 / (1 + with) as f64).ln() + 1.0).collect();
    let weighted = |counts: Vec<(u32, usize)>| -> Vec<(u32, f64)> {
        let weight = |(word, times)| (word, times as f64 * rarity[word as usize]);
        let row: Vec<(u32, f64)> = counts.into_iter().map(weight).collect();
        let length = row.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        row.into_iter().map(|(word, weight)| (word, weight / length)).collect()
    };
    let rows: Vec<_> = counts.into_iter().map(weighted).collect();
    Sparse::from_rows(&rows, rarity.len())
}

/// How often each word is in each text, words in order, and in how many texts each word is.
fn count(texts: &[Vec<u8>]) -> (Vec<Vec<(u32, usize)>>, Vec<usize>) {
    let mut ids: HashMap<&[u8], u32> = HashMap::new();
    let mut words_of: Vec<Vec<u32>> = Vec::with_capacity(texts.len());
    for text in texts {
        let words = text.split(|&byte| !is_word(byte)).filter(|word| word.len() > 1);
        words_of.push(
            words
                .map(|word| {
                    let next = ids.len() as u32;
                    *ids.entry(word).or_insert(next)
                })
                .collect(),
        );
    }
    let mut words: Vec<(&[u8], u32)> = ids.into_iter().collect();
    words.sort_unstable();
    let mut ranks = vec![0; words.len()];
    for (rank, (_, id)) in (0..).zip(words) {
        ranks[id as usize] = rank;
    }
    let mut n_texts_with = vec![0; ranks.len()];
    let counts = words_of.into_iter().map(|ids| {
        let mut words: Vec<u32> = ids.into_iter().map(|id| ranks[id as usize]).collect();
        words.sort_unstable();
        let counts: Vec<(u32, usize)> = words.chunk_by(u32::eq).map(|same| (same[0], same.len())).collect();
        counts.iter().for_each(|&(word, _)| n_texts_with[word as usize] += 1);
        counts
    });
    (counts.collect(), n_texts_with)
}

/// The lower case of a character of Latin-1.
fn lower(byte: u8) -> u8 {
    char::from(byte).to_lowercase().next().and_then(|letter| u8::try_from(letter).ok()).unwrap_or(byte)
}

/// Whether a character of Latin-1 belongs to a word.
fn is_word(byte: u8) -> bool {
    byte == b'_' || char::from(byte).is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(texts: &[&[u8]]) -> Sparse {
        weigh(&texts.iter().map(|text| text.to_vec()).collect::<Vec<_>>())
    }

    #[test]
    fn weights_are_those_computed_by_hand() {
        // Columns: cat, dog, the. Of three texts "the" is in two, the others in one.
        let weights = weights(&[b"The cat, the", b"a DOG the!", b""]);
        assert_eq!(weights.dim(), (3, 3));
        let (rare, common) = (2.0_f64.ln() + 1.0, (4.0 / 3.0_f64).ln() + 1.0);
        let length = (rare * rare + 4.0 * common * common).sqrt();
        assert_eq!(weights.row(0), [(0, rare / length), (2, 2.0 * common / length)]);
        let length = rare.hypot(common);
        assert_eq!(weights.row(1).iter().map(|(word, _)| *word).collect::<Vec<_>>(), [1, 2]);
        assert!((weights.row(1)[0].1 - rare / length).abs() < 1e-15);
        assert_eq!(weights.row(2), []);
    }

    #[test]
    fn words_are_two_or_more_letters_digits_or_underscores_of_latin_1() {
        let texts: [Vec<u8>; 1] = [b"don't a x_1 \xe9t\xe9 42 ab-cd \xbd\xd7\xb5".to_vec()];
        let (counts, n_texts_with) = count(&texts);
        // 42, ab, cd, don, x_1 and, last by their bytes, the word with accents; no "t", "a" or signs around "\xd7".
        assert_eq!(counts, [(0..6).map(|word| (word, 1)).collect::<Vec<_>>()]);
        assert_eq!(n_texts_with, [1; 6]);
    }

    #[test]
    fn capitals_with_accents_are_the_same_letters() {
        assert_eq!(weights(&[b"\xc9T\xc9 \xe9t\xe9"]).dim(), (1, 1));
        assert_eq!((lower(b'\xdf'), lower(b'\xff'), lower(b'Z')), (b'\xdf', b'\xff', b'z'));
    }
}
