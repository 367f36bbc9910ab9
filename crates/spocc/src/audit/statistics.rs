//! The statistics of an audit: intervals, tests of independence, agreement and copies.
//!
//! In: evidence. Out: figures of single classifiers and of pairs.

use statrs::{
    distribution::{ContinuousCDF, Gamma, Normal},
    function::{beta::inv_beta_reg, gamma::gamma_ur},
};

use crate::{
    data::MISSING,
    error::Error,
    evidence::{ConfusionCell, Evidence, Tally, map_tables, pair_index},
    parallel,
    progress::Control,
};

/// The 95 % Clopper-Pearson interval of a share: `successes` of `trials`.
///
/// ```
/// let [low, high] = spocc::audit::clopper_pearson(8.0, 10.0);
/// assert!((low - 0.4439).abs() < 1e-4 && (high - 0.9748).abs() < 1e-4);
/// ```
pub fn clopper_pearson(successes: f64, trials: f64) -> [f64; 2] {
    interval(successes, trials, 0.025)
}

/// Number of trials above which an interval is that of a limiting distribution.
const MANY: f64 = 1e6;
/// Number of successes or failures below which they are rare among so many.
const RARE: f64 = 1e4;

/// The Clopper-Pearson interval that leaves `tail` on either side.
pub(super) fn interval(successes: f64, trials: f64, tail: f64) -> [f64; 2] {
    let failures = trials - successes;
    let valid = successes >= 0.0 && failures >= 0.0 && trials.is_finite() && trials > 0.0;
    if !valid {
        return [0.0, 1.0];
    }
    if trials > MANY {
        return interval_of_many(successes, trials, tail);
    }
    let low = if successes > 0.0 { inv_beta_reg(successes, failures + 1.0, tail) } else { 0.0 };
    let high = if failures > 0.0 { inv_beta_reg(successes + 1.0, failures, 1.0 - tail) } else { 1.0 };
    [low, high]
}

/// The same for so many trials that limiting distributions are as accurate, and the quantiles of the beta distribution do
/// not converge: Poisson's interval where successes or failures are rare, otherwise Wilson's.
fn interval_of_many(successes: f64, trials: f64, tail: f64) -> [f64; 2] {
    let failures = trials - successes;
    let rare = successes.min(failures);
    if rare >= RARE {
        let z = Normal::standard().inverse_cdf(1.0 - tail);
        let (share, spread) = (successes / trials, z * z / trials);
        let centre = share + spread / 2.0;
        let width = (spread * share * (1.0 - share) + spread * spread / 4.0).sqrt();
        return [-1.0, 1.0].map(|side| (centre + side * width) / (1.0 + spread));
    }
    let quantile = |shape: f64, p: f64| Gamma::new(shape, 1.0).map_or(shape, |gamma| gamma.inverse_cdf(p));
    let low = if rare > 0.0 { quantile(rare, tail) / trials } else { 0.0 };
    let high = quantile(rare + 1.0, 1.0 - tail) / trials;
    if successes <= failures { [low, high] } else { [1.0 - high, 1.0 - low] }
}

/// G statistic, degrees of freedom and p value of the independence of the predictions of classifier `k` and the truth, given
/// their mutual information in nats.
pub(super) fn g_test(evidence: &Evidence, k: usize, information: f64) -> (f64, usize, f64) {
    let [labels, truths] = evidence.n_occurring(k);
    let freedom = labels.saturating_sub(1) * truths.saturating_sub(1);
    let g = 2.0 * evidence.rows_of(evidence.answered(k)) * information;
    let p = chi_squared_tail(g, freedom);
    (g, freedom, p)
}

/// p value of the independence of the predictions of classifier `k` and the truth, by Pearson's statistic.
///
/// With few rows per cell the G test rejects too often; Pearson's keeps its level.
pub(super) fn pearson_p_value(evidence: &Evidence, k: usize, freedom: usize) -> f64 {
    let l = evidence.n_classes();
    let answered = evidence.answered(k) as f64;
    let numbers = |counts: Vec<u64>| -> Vec<f64> { counts.into_iter().map(|count| count as f64).collect() };
    let (predicted, truths) = (numbers(evidence.predicted_counts(k)), numbers(evidence.answered_by_class(k)));
    let mut statistic = 0.0;
    for (at, &count) in evidence.dense_confusion(k).iter().enumerate() {
        let expected = predicted[at / l] * truths[at % l] / answered;
        if expected > 0.0 {
            statistic += (count as f64 - expected).powi(2) / expected;
        }
    }
    chi_squared_tail(evidence.rows_of(1) * statistic, freedom)
}

/// Probability that a chi-squared variable is at least `statistic`: 1 at 0, 0 at infinity.
fn chi_squared_tail(statistic: f64, freedom: usize) -> f64 {
    let x = statistic / 2.0;
    // The library refuses 0 and infinity.
    match freedom {
        0 => 1.0,
        _ if x <= 0.0 => 1.0,
        _ if x.is_infinite() => 0.0,
        _ => gamma_ur(freedom as f64 / 2.0, x),
    }
}

/// Agreement of all classifiers beyond that by chance.
#[derive(Clone, Copy)]
pub(super) struct PanelAgreement {
    pub(super) fleiss: Option<f64>,
    pub(super) krippendorff: Option<f64>,
}

/// Fleiss' kappa and Krippendorff's alpha over the rows with at least two predictions.
pub(super) fn agreement(evidence: &Evidence, tally: &Tally) -> PanelAgreement {
    let n_labels = evidence.n_labels();
    let mut predicted = vec![0.0; n_labels];
    let (mut rows, mut predictions, mut agreeing_share, mut disagreement) = (0.0, 0.0, 0.0, 0.0);
    let mut here = vec![0.0; n_labels];
    for p in 0..tally.n_patterns() {
        let raters = tally.pattern(p).n_answered() as f64;
        if raters < 2.0 {
            continue;
        }
        let weight = evidence.rows_of(tally.weight(p));
        here.fill(0.0);
        tally.pattern(p).for_each(|_, j| here[usize::from(j)] += 1.0);
        predicted.iter_mut().zip(&here).for_each(|(sum, count)| *sum += weight * count);
        let same: f64 = here.iter().map(|count| count * (count - 1.0)).sum();
        rows += weight;
        predictions += weight * raters;
        agreeing_share += weight * same / (raters * (raters - 1.0));
        disagreement += weight * (raters * (raters - 1.0) - same) / (raters - 1.0);
    }
    if rows == 0.0 {
        return PanelAgreement { fleiss: None, krippendorff: None };
    }
    let by_chance: f64 = predicted.iter().map(|count| (count / predictions).powi(2)).sum();
    let expected = (predictions * predictions - predicted.iter().map(|count| count * count).sum::<f64>())
        / (predictions - 1.0);
    PanelAgreement {
        fleiss: (by_chance < 1.0).then(|| (agreeing_share / rows - by_chance) / (1.0 - by_chance)),
        krippendorff: (expected > 0.0).then(|| 1.0 - disagreement / expected),
    }
}

/// Agreement beyond that of independent errors from which one classifier is a copy of another.
const MIN_COPY_AGREEMENT: f64 = 0.8;

/// The statistics of every pair of classifiers.
pub(super) struct PairStatistics {
    n: usize,
    pairs: Vec<PairStatistic>,
}

#[derive(Clone, Copy, Default)]
struct PairStatistic {
    /// Rows that both answered.
    shared_rows: f64,
    /// Correlation of being correct over these rows; none if one of them is always or never correct.
    correlation: Option<f64>,
    /// Agreement beyond that of independent errors: 1 for copies, 0 for independent errors.
    beyond_truth: f64,
    /// Rows on which independent classifiers would have disagreed.
    expected_disagreements: f64,
    /// Whether the predictions of one are those of the other with renamed labels.
    is_renaming: bool,
}

/// The statistics of every pair; none without a tally.
pub(super) fn pair_statistics(
    evidence: &Evidence,
    control: &Control<'_>,
) -> Result<Option<PairStatistics>, Error> {
    let (n, s) = (evidence.n_classifiers(), evidence.n_labels());
    let Some(tally) = evidence.tally() else { return Ok(None) };
    let renamings = map_tables(evidence.pairs(), tally, s, control, |table| is_renaming(table, s))?;
    control.allow(
        || format!("agreement of {n} x {n} classifiers"),
        &[n, n, std::mem::size_of::<PairStatistic>() / 2],
    )?;
    let columns = TallyColumns::new(evidence, tally, control)?;
    let mut pairs = Vec::with_capacity(renamings.len());
    for a in 0..n {
        control.report("agreement", a, n)?;
        pairs.extend(parallel::map(n - a - 1, |at| columns.pair(evidence, a, a + 1 + at)));
    }
    pairs.iter_mut().zip(renamings).for_each(|(pair, is_renaming)| pair.is_renaming = is_renaming);
    Ok(Some(PairStatistics { n, pairs }))
}

impl PairStatistics {
    /// Mean correlation of being correct, not below 0; none if no pair has one.
    pub(super) fn mean_correlation(&self) -> Option<f64> {
        let known: Vec<f64> = self.pairs.iter().filter_map(|pair| pair.correlation).collect();
        (!known.is_empty()).then(|| (known.iter().sum::<f64>() / known.len() as f64).max(0.0))
    }

    /// Whether `b` repeats `a` on enough rows for which independent classifiers would have differed.
    pub(super) fn is_copy(&self, evidence: &Evidence, a: usize, b: usize) -> bool {
        let pair = &self.pairs[pair_index(self.n, a.min(b), a.max(b))];
        let repeats =
            pair.beyond_truth >= MIN_COPY_AGREEMENT && pair.expected_disagreements >= super::MIN_ROWS;
        let shared = pair.shared_rows / evidence.rows_of(evidence.answered(a)).max(1.0);
        repeats || (pair.is_renaming && shared * disagreements_with_itself(evidence, a) >= super::MIN_ROWS)
    }
}

/// Rows for which a classifier would differ from an independent one with the same confusion table: 0 if its prediction is a
/// function of the truth.
fn disagreements_with_itself(evidence: &Evidence, k: usize) -> f64 {
    let rows = evidence.answered_by_class(k);
    let same = same_by_class(evidence, k, k);
    rows.into_iter().zip(same).map(|(rows, same)| evidence.rows_of(rows) * (1.0 - same)).sum()
}

/// Whether every prediction of one side occurs with exactly one prediction of the other.
fn is_renaming(table: &[u64], n_labels: usize) -> bool {
    let filled = |count: &&u64| **count > 0;
    let rows = table.chunks(n_labels.max(1)).map(|row| row.iter().filter(filled).count());
    let columns = (0..n_labels).map(|w| table.iter().skip(w).step_by(n_labels.max(1)).filter(filled).count());
    rows.chain(columns).all(|filled| filled <= 1)
}

/// The tally by columns: the prediction of each classifier in each cell.
struct TallyColumns {
    predicted: Vec<Vec<u16>>,
    truths: Vec<u16>,
    counts: Vec<u64>,
}

impl TallyColumns {
    fn new(evidence: &Evidence, tally: &Tally, control: &Control<'_>) -> Result<Self, Error> {
        let n = evidence.n_classifiers();
        control.allow(|| "predictions by classifier".to_owned(), &[tally.n_cells(), n, 2])?;
        let mut predicted = vec![vec![MISSING; tally.n_cells()]; n];
        let (mut truths, mut counts) = (Vec::new(), Vec::new());
        for (at, (row, class, count)) in tally.cells().enumerate() {
            row.for_each(|k, j| predicted[k][at] = j);
            truths.push(class);
            counts.push(count);
        }
        Ok(Self { predicted, truths, counts })
    }

    fn pair(&self, evidence: &Evidence, a: usize, b: usize) -> PairStatistic {
        let mut rows = vec![0u64; evidence.n_classes()];
        let (mut both, mut agree, mut correct) = (0u64, 0u64, [0u64; 3]);
        let cells =
            self.predicted[a].iter().zip(&self.predicted[b]).zip(self.truths.iter().zip(&self.counts));
        for ((&u, &w), (&class, &count)) in cells {
            if u == MISSING || w == MISSING {
                continue;
            }
            both += count;
            rows[usize::from(class)] += count;
            agree += if u == w { count } else { 0 };
            correct[0] += if u == class { count } else { 0 };
            correct[1] += if w == class { count } else { 0 };
            correct[2] += if u == class && w == class { count } else { 0 };
        }
        if both == 0 {
            return PairStatistic::default();
        }
        let n = both as f64;
        let [p, q, pq] = correct.map(|count| count as f64 / n);
        let spread = p * (1.0 - p) * q * (1.0 - q);
        // Expected agreement of classifiers that are independent given the truth.
        let same = same_by_class(evidence, a, b);
        let expected: f64 =
            (0..same.len()).filter(|&i| rows[i] > 0).map(|i| rows[i] as f64 / n * same[i]).sum();
        let observed = agree as f64 / n;
        PairStatistic {
            shared_rows: evidence.rows_of(both),
            correlation: (spread > 0.0).then(|| (pq - p * q) / spread.sqrt()),
            beyond_truth: if expected < 1.0 { (observed - expected) / (1.0 - expected) } else { 0.0 },
            expected_disagreements: evidence.rows_of(both) * (1.0 - expected),
            is_renaming: false,
        }
    }
}

/// For every class, the probability that two classifiers, independent given the truth, predict the same label for its rows.
fn same_by_class(evidence: &Evidence, a: usize, b: usize) -> Vec<f64> {
    let [mut left, right] = [a, b].map(|k| evidence.confusion(k));
    let mut sums = vec![0.0; evidence.n_classes()];
    // Cells of both are in the same order.
    for cell in right {
        let place = |cell: &ConfusionCell| (cell.predicted, cell.truth);
        left = &left[left.iter().take_while(|other| place(other) < place(cell)).count()..];
        if let Some(other) = left.first().filter(|other| place(other) == place(cell)) {
            sums[usize::from(cell.truth)] += other.count as f64 * cell.count as f64;
        }
    }
    let totals = [a, b].map(|k| evidence.answered_by_class(k));
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum /= totals.iter().map(|rows| (rows[i] as f64).max(1.0)).product::<f64>();
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Predictions, Truth};

    #[test]
    fn intervals_follow_the_beta_quantiles() {
        // scipy.stats.beta.ppf: (0.025, 123, 9878), (0.975, 124, 9877)
        let [low, high] = clopper_pearson(123.0, 10_000.0);
        assert!((low - 0.010_232_65).abs() < 1e-7 && (high - 0.014_658_17).abs() < 1e-7, "{low} {high}");
        assert_eq!(clopper_pearson(0.0, 10.0)[0], 0.0);
        assert_eq!(clopper_pearson(10.0, 10.0)[1], 1.0);
        assert_eq!(clopper_pearson(0.0, 0.0), [0.0, 1.0]);
    }

    #[test]
    fn intervals_of_very_many_rows_agree_with_the_exact_ones() {
        for share in [1e-6, 1e-5, 1e-3, 0.02, 0.5, 0.9, 0.999, 1.0 - 1e-6] {
            let exact = interval(share * MANY, MANY, 0.025);
            let limit = interval_of_many(share * MANY, MANY, 0.025);
            let narrow = 1e-3 * (exact[1] - exact[0]);
            assert!(
                (0..2).all(|side| (exact[side] - limit[side]).abs() < 10.0 * narrow),
                "{share}: {exact:?} {limit:?}"
            );
        }
        for (right, rows) in [(1e7, 1e7), (0.0, 1e7), (9_999_990.0, 1e7), (1e3, 1e9), (8e8, 1e9)] {
            let [low, high] = clopper_pearson(right, rows);
            assert!(
                low <= right / rows && right / rows <= high && high - low < 1e-5 * 10.0,
                "{right} {rows}"
            );
        }
        assert_eq!((clopper_pearson(0.0, 1e7)[0], clopper_pearson(1e7, 1e7)[1]), (0.0, 1.0));
    }

    fn tally(answers: &[[Option<&str>; 3]]) -> Evidence {
        let mut rows = Predictions::builder(["a", "b", "c"]).expect("three names");
        answers.iter().for_each(|row| rows.push(*row).expect("three answers"));
        let truth = Truth::new(answers.iter().map(|_| Some("x"))).expect("one label");
        Evidence::new(&rows.finish(), &truth).expect("rows")
    }

    #[test]
    fn agreement_of_a_small_table() {
        let (x, y) = (Some("x"), Some("y"));
        let evidence = tally(&[[x, x, x], [x, y, y], [y, y, y], [x, x, None]]);
        let found = agreement(&evidence, evidence.tally().expect("a tally"));
        // Shares of agreeing pairs 1, 1/3, 1, 1; answers: 6 x and 5 y.
        let chance = (36.0 + 25.0) / 121.0;
        let kappa = ((1.0 + 1.0 / 3.0 + 1.0 + 1.0) / 4.0 - chance) / (1.0 - chance);
        assert!((found.fleiss.expect("several answers") - kappa).abs() < 1e-12);
        // Krippendorff: one row disagrees, with 4 ordered unequal pairs over 3 - 1.
        let alpha = 1.0 - (4.0 / 2.0) / ((121.0 - 61.0) / 10.0);
        assert!((found.krippendorff.expect("several answers") - alpha).abs() < 1e-12);
    }

    #[test]
    fn a_constant_panel_has_no_chance_corrected_agreement() {
        let evidence = tally(&[[Some("x"); 3], [Some("x"); 3]]);
        let found = agreement(&evidence, evidence.tally().expect("a tally"));
        assert!(found.fleiss.is_none() && found.krippendorff.is_none());
    }

    #[test]
    fn tails_of_the_chi_squared_distribution_end_at_1_and_0() {
        for freedom in [1, 2, 9, 400] {
            assert_eq!(chi_squared_tail(0.0, freedom), 1.0);
            assert_eq!(chi_squared_tail(-1e-18, freedom), 1.0);
            assert!((chi_squared_tail(1e-300, freedom) - 1.0).abs() < 1e-12, "{freedom}");
            assert_eq!(chi_squared_tail(1e6, freedom), 0.0);
            assert_eq!(chi_squared_tail(f64::INFINITY, freedom), 0.0);
        }
        // scipy.stats.chi2.sf(3.84, 1)
        assert!((chi_squared_tail(3.84, 1) - 0.050_043_521_248_705).abs() < 1e-12);
    }

    #[test]
    fn renamings_are_one_to_one() {
        assert!(is_renaming(&[0, 3, 4, 0], 2));
        assert!(!is_renaming(&[1, 3, 4, 0], 2));
    }
}
