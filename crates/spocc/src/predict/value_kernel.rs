//! The value kernel: probabilities, possibilities and margins of many rows at once.
//!
//! For rules that are sums over predictions. The sums, and the ratios made of them, are those of the rule to the last bit.
//! A row without a prediction, or on which no class leads clearly, is left to the rule.

use crate::{
    data::Row,
    decision,
    math::exponentiate,
    methods::{ClassSums, LEAD, SumKind},
    possibility::Transform,
    predict::{AlignedTable, alignment::RowBuffer, decisions::DecisionRows, linear_kernel::UNDECIDED},
};

/// The tables of a rule that is a sum over predictions, less is better.
pub(super) struct ValueKernel {
    n_labels: usize,
    n_classes: usize,
    /// Values of a prediction: the classes, padded to a width that [`ValueKernel::decide`] has.
    width: usize,
    start: Vec<f64>,
    /// By classifier, predicted label and class.
    table: Vec<f64>,
    is_votes: bool,
    /// Whether possibilities are the exponentials of the sums.
    is_fused: bool,
}

/// Rows evaluated at once.
pub(super) const ROWS: usize = 64;

/// Buffers of the kernel.
#[derive(Default)]
pub(super) struct ValueScratch {
    buffer: RowBuffer,
    classes: Vec<u16>,
    /// The sums of every row, then its ratios.
    ratios: Vec<f64>,
    possibilities: Vec<f64>,
    transform: Transform,
}

impl ValueKernel {
    /// None for sums whose surprisals are roots.
    pub(super) fn new(
        sums: &ClassSums<'_>,
        n_labels: usize,
        n_classes: usize,
        is_fused: bool,
    ) -> Option<Self> {
        if matches!(sums.kind, SumKind::Surprisals(power) if power != 1.0) || n_classes < 2 {
            return None;
        }
        let width =
            if n_classes <= 8 { n_classes.next_multiple_of(2) } else { n_classes.next_multiple_of(8) };
        let is_votes = sums.kind == SumKind::Votes;
        let sign = if matches!(sums.kind, SumKind::Surprisals(_)) { 1.0 } else { -1.0 };
        let padded = |values: &[f64], padding: f64| -> Vec<f64> {
            let padding = std::iter::repeat_n(padding, width - n_classes);
            values
                .chunks_exact(n_classes)
                .flat_map(|values| values.iter().map(|value| sign * value).chain(padding.clone()))
                .collect()
        };
        let zeros = vec![0.0; n_classes];
        let start = sums.start.as_deref().unwrap_or(&zeros);
        Some(Self {
            n_labels,
            n_classes,
            width,
            start: padded(start, if is_votes { 0.0 } else { f64::INFINITY }),
            table: padded(&sums.table, 0.0),
            is_votes,
            is_fused,
        })
    }

    /// Decides rows and writes them to the places from `first` on; those left to the rule get the class [`UNDECIDED`].
    pub(super) fn decide<'r>(
        &self,
        aligned: &AlignedTable<'_>,
        rows: impl Iterator<Item = Row<'r>>,
        scratch: &mut ValueScratch,
        out: &mut DecisionRows<'_>,
        first: usize,
    ) {
        // Loops over a constant number of classes are unrolled.
        match self.width {
            2 => self.decide_in::<2>(aligned, rows, scratch, out, first),
            4 => self.decide_in::<4>(aligned, rows, scratch, out, first),
            6 => self.decide_in::<6>(aligned, rows, scratch, out, first),
            _ => self.decide_in::<8>(aligned, rows, scratch, out, first),
        }
    }

    /// The same, with the classes in chunks of `N`.
    fn decide_in<'r, const N: usize>(
        &self,
        aligned: &AlignedTable<'_>,
        rows: impl Iterator<Item = Row<'r>>,
        scratch: &mut ValueScratch,
        out: &mut DecisionRows<'_>,
        first: usize,
    ) {
        let ValueScratch { buffer, classes, ratios, possibilities, transform } = scratch;
        let chunks = self.width / N;
        ratios.resize(ROWS * self.width, 0.0);
        classes.clear();
        for (row, sums) in rows.zip(ratios.as_chunks_mut::<N>().0.chunks_exact_mut(chunks)) {
            let row = aligned.translate(row, buffer);
            if let Some(n_answered) = out.n_answered.get_mut(first + classes.len()) {
                *n_answered = aligned.model.n_answered(row) as u32;
            }
            classes.push(self.add(row, sums));
        }
        let ratios = &mut ratios[..classes.len() * self.width];
        out.class[first..first + classes.len()].copy_from_slice(classes);
        if self.is_fused && !out.possibility.is_empty() {
            possibilities.clear();
            possibilities.extend(ratios.iter().map(|sum| -sum));
            exponentiate(possibilities);
        }
        let decided = (0..).zip(&*classes).filter(|(_, class)| **class != UNDECIDED);
        for (row, &class) in (0..).zip(&*classes) {
            let sums = &mut ratios[row * self.width..][..self.width];
            if class == UNDECIDED {
                sums.fill(0.0);
                continue;
            }
            let least = sums[usize::from(class)];
            for sum in sums.as_chunks_mut::<N>().0.as_flattened_mut() {
                *sum = if self.is_votes { *sum / least } else { least - *sum };
            }
        }
        if !self.is_votes {
            exponentiate(ratios);
        }
        let l = self.n_classes;
        for (row, &class) in decided {
            let (at, ratios) = (first + row, &ratios[row * self.width..][..self.width]);
            let values = at * l..(at + 1) * l;
            if let Some(margin) = out.margin.get_mut(at) {
                *margin = decision::margin(ratios);
            }
            if let Some(is_tied) = out.ties.get_mut(values.clone()) {
                is_tied[usize::from(class)] = true;
            }
            if let Some(probability) = out.probability.get_mut(values.clone()) {
                let (ratios, _) = ratios.as_chunks::<N>();
                let sum: f64 = ratios.as_flattened().iter().sum();
                for (to, ratios) in probability.chunks_mut(N).zip(ratios) {
                    let quotients = ratios.map(|ratio| ratio / sum);
                    to.iter_mut().zip(quotients).for_each(|(to, quotient)| *to = quotient);
                }
            }
            if let Some(possibility) = out.possibility.get_mut(values) {
                if self.is_fused {
                    possibility.copy_from_slice(&possibilities[row * self.width..][..l]);
                } else {
                    transform.ratios(&ratios[..l], possibility);
                }
            }
        }
    }

    /// Adds up a row of the model's classifiers and labels, and returns the class of the least sum if it leads clearly, else
    /// [`UNDECIDED`].
    #[inline]
    fn add<const N: usize>(&self, row: Row<'_>, sums: &mut [[f64; N]]) -> u16 {
        // Sparse rows are left to the rule.
        let Row::Dense(cells) = row else { return UNDECIDED };
        let (table, start) = (self.table.as_chunks::<N>().0, self.start.as_chunks::<N>().0);
        let mut has_prediction = false;
        let chunks = sums.len();
        for (chunk, (sums, start)) in sums.iter_mut().zip(start).enumerate() {
            let mut own = *start;
            for (j, table) in cells.iter().zip(table.chunks_exact(self.n_labels * chunks)) {
                // A missing prediction is beyond the table of its classifier.
                if let Some(values) = table.get(usize::from(*j) * chunks + chunk) {
                    own.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
                    has_prediction = true;
                }
            }
            *sums = own;
        }
        let (mut least, mut second, mut class) = (f64::INFINITY, f64::INFINITY, UNDECIDED);
        for (at, &sum) in (0..).zip(sums.as_flattened()) {
            let more = if sum < least { least } else { sum };
            class = if sum < least { at } else { class };
            least = if sum < least { sum } else { least };
            second = if more < second { more } else { second };
        }
        let gap = if self.is_votes { LEAD * -least } else { LEAD * (1.0 + least.abs()) };
        if has_prediction && second - least > gap { class } else { UNDECIDED }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Control, Evidence, Method, Model, Options, Predictions, Truth,
        data::MISSING,
        hash::{draw, mix},
        methods::Scratch,
        predict::{DecisionColumns, Decisions},
    };

    /// Rows of nine classifiers; of the classes all but the last are true of some row.
    fn evidence(n_classes: u64) -> Evidence {
        let label = |seed: u64| Some(format!("{:03}", draw(seed, n_classes)));
        let mut rows = Predictions::builder((0..9).map(|k| format!("c{k}"))).expect("nine names");
        let mut truth = Truth::default();
        for t in 0..200 {
            let own = draw(mix(t, 99), (n_classes - 1).max(2));
            let right = Some(format!("{own:03}"));
            let cell = |k: u64| if draw(mix(t, k), 3) > 0 { right.clone() } else { label(mix(mix(t, k), 7)) };
            rows.push((0..9).map(cell)).expect("nine predictions");
            truth.push(right.clone()).expect("few classes");
        }
        Evidence::new(&rows.finish(), &truth).expect("rows")
    }

    #[test]
    fn every_value_is_that_of_the_rule_to_the_last_bit() {
        let columns = DecisionColumns { scores: false, ..DecisionColumns::ALL };
        let (mut n_decided, mut n_left) = (0, 0);
        for n_classes in [2, 3, 5, 8, 9, 16, 17, 130] {
            let evidence = evidence(n_classes);
            let methods =
                [Method::Ladder, Method::NaiveBayes, Method::Stacking, Method::Majority, Method::Spocc];
            for method in methods.into_iter().filter(|method| *method != Method::Stacking || n_classes < 10) {
                let options = Options::default();
                let control = Control::default();
                let model = Model::fit(&*method.combiner(), &evidence, &options, &control).expect("rows");
                let (s, l) = (model.labels.len(), model.labels.n_classes());
                let is_fused = model.rule.possibilities().is_some();
                let kernel = model.rule.sums(s).and_then(|sums| ValueKernel::new(&sums, s, l, is_fused));
                let Some(kernel) = kernel else { continue };
                let rows: Vec<Vec<u16>> = (0..ROWS as u64)
                    .map(|t| {
                        let cell = |k: u64| match draw(mix(t, k), 4) {
                            0 => MISSING,
                            1 => draw(mix(t, 50 + k), s as u64) as u16,
                            _ => draw(mix(t, 50), s as u64) as u16,
                        };
                        (0..9).map(|k| if t == 5 { MISSING } else { cell(k) }).collect()
                    })
                    .collect();
                let header = Predictions::builder(model.classifiers.clone()).expect("names").finish();
                let aligned = model.align(&header).expect("all columns");
                let classes = model.classes().to_vec();
                let mut out = Decisions::new(ROWS, columns, classes, Vec::new());
                let rows_of = rows.iter().map(|row| Row::Dense(row));
                let mut scratch = ValueScratch::default();
                kernel.decide(&aligned, rows_of, &mut scratch, &mut out.rows_mut(), 0);
                for (t, row) in rows.iter().enumerate() {
                    if out.class[t] == UNDECIDED {
                        n_left += 1;
                        continue;
                    }
                    n_decided += 1;
                    let expected = model.decision(Row::Dense(row), &mut Scratch::default());
                    let context = format!("{method}, {n_classes} classes, row {t}");
                    assert_eq!((usize::from(out.class[t]), false), (expected.class, expected.is_tie()));
                    let bits =
                        |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                    let margin = out.margin.as_ref().expect("a column")[t];
                    assert_eq!(margin.to_bits(), expected.margin.to_bits(), "{context}");
                    let possibility = out.of_row(&out.possibility, t).expect("a column");
                    assert_eq!(bits(possibility), bits(expected.possibility.degrees()), "{context}");
                    if let Some(probability) = &expected.probability {
                        let found = out.of_row(&out.probability, t).expect("a column");
                        assert_eq!(bits(found), bits(probability), "{context}");
                    }
                }
            }
        }
        assert!(n_decided > 1_500 && n_left > 20, "{n_decided} decided, {n_left} left to the rule");
    }
}
