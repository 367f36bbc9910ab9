//! The regression expert: a conditional logit with one weight per leaf.
//!
//! `p(candidate) = exp(sum of the weights of the leaves that give it) / sum over the candidates and "none of these"`. The
//! weights are a common level, not penalised, and deviations from it with an L2 penalty: few rows give every leaf the same
//! weight. Of very many patterns a sample is enough for one weight per leaf.

use std::convert::Infallible;

use crate::{
    data::Row,
    evidence::{Evidence, Tally},
    math::{exp, ln},
    methods::{
        ladder::{CellKeys, PatternCell, lbfgsb},
        open::experts::CandidateScores,
    },
    parallel,
};

/// Penalties of the squared deviations that are tried, the strongest first.
pub(super) const PENALTIES: [f64; 7] = [320.0, 100.0, 32.0, 10.0, 3.2, 1.0, 0.32];
/// Weak penalties of the squared level and of the squared score of "none of these": without an error both would grow
/// without bound.
const LEVEL_PENALTY: f64 = 0.1;
const NONE_PENALTY: f64 = 0.02;
/// Patterns above which a sample of about as many is used, and the same per leaf.
const MAX_PATTERNS: usize = 1 << 14;
const MAX_PATTERNS_PER_LEAF: usize = 64;
/// Leaves above which there is no regression.
const MAX_LEAVES: usize = 4096;
/// Patterns of one parallel task.
const PATTERNS_PER_TASK: usize = 256;
/// Bounds that no solution reaches.
const BOUNDS: (f64, f64) = (-100.0, 100.0);

/// The patterns that the regression is fitted to.
pub(super) struct LogitRows<'a> {
    tally: &'a Tally,
    cells: &'a [PatternCell],
    /// First and last cell of every pattern.
    patterns: Vec<std::ops::Range<usize>>,
    n_leaves: usize,
}

impl<'a> LogitRows<'a> {
    /// None where a regression makes no sense: without labelled rows, or with too many leaves.
    pub(super) fn new(
        panel: &Evidence,
        tally: &'a Tally,
        cells: &'a [PatternCell],
        keys: &CellKeys<'_>,
    ) -> Option<Self> {
        let n_leaves = panel.n_classifiers();
        let n_patterns = MAX_PATTERNS.max(MAX_PATTERNS_PER_LEAF * n_leaves);
        let share = n_patterns as f64 / tally.n_patterns().max(1) as f64;
        let mut patterns = Vec::new();
        let mut start = 0;
        for of_pattern in cells.chunk_by(|a, b| a.pattern == b.pattern) {
            let range = start..start + of_pattern.len();
            start = range.end;
            if share >= 1.0 || keys.draw(of_pattern[0].pattern as usize) < share {
                patterns.push(range);
            }
        }
        (!patterns.is_empty() && n_leaves <= MAX_LEAVES).then_some(Self { tally, cells, patterns, n_leaves })
    }

    /// Fits the regression at one penalty after another, the strongest first; `rows` are the rows of every cell to train
    /// on, perhaps 0.
    pub(super) fn fit_path(&self, rows: &[f64], penalties: &[f64], mut visit: impl FnMut(CandidateScores)) {
        // Level, score of "none of these", and the deviation of every leaf.
        let mut at = vec![0.0; 2 + self.n_leaves];
        at[0] = 1.0 / (self.n_leaves as f64).sqrt();
        let bounds = vec![BOUNDS; at.len()];
        for penalty in penalties {
            let Ok(found) =
                lbfgsb::minimise(at, &bounds, |at| Ok::<_, Infallible>(self.loss(at, rows, *penalty)));
            at = found;
            visit(CandidateScores {
                weights: at[2..].iter().map(|deviation| at[0] + deviation).collect(),
                none: at[1],
            });
        }
    }

    /// The penalised log-loss and its gradient.
    fn loss(&self, at: &[f64], rows: &[f64], penalty: f64) -> (f64, Vec<f64>) {
        let scores = CandidateScores {
            weights: at[2..].iter().map(|deviation| at[0] + deviation).collect(),
            none: at[1],
        };
        let parts = parallel::map_ranges(self.patterns.len(), PATTERNS_PER_TASK, |patterns| {
            let (mut value, mut slopes) = (0.0, vec![0.0; at.len()]);
            let mut residuals = Vec::new();
            for of_pattern in &self.patterns[patterns] {
                let n_rows: f64 = rows[of_pattern.clone()].iter().sum();
                if n_rows == 0.0 {
                    continue;
                }
                let row = self.tally.pattern(self.cells[of_pattern.start].pattern as usize);
                scores.score(row, &mut residuals);
                value += self.residuals(of_pattern.clone(), rows, n_rows, &mut residuals);
                slopes[1] += residuals[0];
                add_slopes(row, &residuals, &mut slopes);
            }
            (value, slopes)
        });
        let (mut value, mut slopes) =
            parts.into_iter().fold((0.0, vec![0.0; at.len()]), |(value, mut sum), (more, part)| {
                sum.iter_mut().zip(part).for_each(|(sum, slope)| *sum += slope);
                (value + more, sum)
            });
        // The level moves the weights of all leaves.
        slopes[0] = slopes[2..].iter().sum();
        for (place, deviation) in at[2..].iter().enumerate() {
            value += 0.5 * penalty * deviation * deviation;
            slopes[2 + place] += penalty * deviation;
        }
        for (place, penalty) in [LEVEL_PENALTY, NONE_PENALTY].into_iter().enumerate() {
            value += 0.5 * penalty * at[place] * at[place];
            slopes[place] += penalty * at[place];
        }
        (value, slopes)
    }

    /// Turns the scores of a pattern into expected minus observed rows of every candidate, and returns the log-loss.
    fn residuals(
        &self,
        of_pattern: std::ops::Range<usize>,
        rows: &[f64],
        n_rows: f64,
        scores: &mut [f64],
    ) -> f64 {
        let observed = |cell: usize| (usize::from(self.cells[cell].truth), rows[cell]);
        let of_truths: f64 = of_pattern.clone().map(observed).map(|(truth, rows)| rows * scores[truth]).sum();
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        scores.iter_mut().for_each(|score| *score = exp(*score - best));
        let total: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|share| *share *= n_rows / total);
        of_pattern.map(observed).for_each(|(truth, rows)| scores[truth] -= rows);
        n_rows * (best + ln(total)) - of_truths
    }
}

fn add_slopes(row: Row<'_>, residuals: &[f64], slopes: &mut [f64]) {
    row.for_each(|leaf, j| slopes[2 + leaf] += residuals[usize::from(j)]);
}
