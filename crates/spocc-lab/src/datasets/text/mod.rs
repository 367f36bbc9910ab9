//! From messages to features: what the author wrote, weights of its words, their main directions.
//!
//! The paper (§5.2) says: headers, footers and quotes stripped, TF-IDF, latent semantic analysis, 100 dimensions.
//! What it leaves open is chosen as in scikit-learn, which its authors used: see each step. Texts are bytes of
//! Latin-1, of which every byte is a character.

mod strip;
mod sparse;
mod tfidf;
mod lsa;

use ndarray::Array2;

pub(super) use strip::strip;

/// A row of `n_features` numbers for every text.
pub(super) fn features(texts: &[Vec<u8>], n_features: usize) -> Array2<f64> {
    lsa::reduce(&tfidf::weigh(texts), n_features)
}
