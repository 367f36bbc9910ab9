//! Influence: how often a decision depends on one classifier.

use crate::{
    data::{MISSING, Row},
    error::Error,
    evidence::Evidence,
    methods::Scratch,
    model::{self, Model},
    parallel,
    progress::Control,
};

/// Norm evaluations above which influence is not computed.
const MAX_EVALUATIONS: f64 = 2e10;

/// For every classifier, the share of rows for which the decision changes without it; none if there is no tally or the
/// computation would take too long.
pub(super) fn influences(
    evidence: &Evidence,
    model: &Model,
    control: &Control<'_>,
) -> Result<Option<Vec<f64>>, Error> {
    if model.classifiers != evidence.classifiers() {
        let difference = crate::error::list(&model.classifiers);
        return Err(Error::DifferentClassifiers { difference: format!("a model of {difference}") });
    }
    let evidence =
        model::read(evidence, evidence.labels().classes(), &model.missing_is_answer, &[], control)?;
    let Some(tally) = evidence.tally() else { return Ok(None) };
    let n = evidence.n_classifiers();
    let cost = tally.n_patterns() as f64 * (n * n * evidence.n_classes()) as f64;
    if cost > MAX_EVALUATIONS {
        return Ok(None);
    }
    let enlarged = model.with_candidates(evidence.n_labels().saturating_sub(1));
    let model = enlarged.as_ref().unwrap_or(model);
    let map = model.labels.translate(evidence.labels().all());
    let stop = |range: &std::ops::Range<usize>| control.report("influence", range.start, tally.n_patterns());
    let parts = parallel::map_ranges(tally.n_patterns(), 256, |range| {
        stop(&range)?;
        let mut scratch = Scratch::default();
        let mut changed = vec![0u64; n];
        for p in range {
            let mut cells = tally.pattern(p).to_dense(n);
            cells.iter_mut().filter(|id| **id != MISSING).for_each(|id| *id = map[usize::from(*id)]);
            let decided = model.decision(Row::Dense(&cells), &mut scratch).class;
            for k in 0..n {
                let predicted = std::mem::replace(&mut cells[k], MISSING);
                if predicted != MISSING && model.decision(Row::Dense(&cells), &mut scratch).class != decided {
                    changed[k] += tally.weight(p);
                }
                cells[k] = predicted;
            }
        }
        Ok(changed)
    });
    let parts = parts.into_iter().collect::<Result<Vec<Vec<u64>>, Error>>()?;
    let total = evidence.total() as f64;
    let sum = |k: usize| parts.iter().map(|part| part[k]).sum::<u64>() as f64 / total;
    Ok(Some((0..n).map(sum).collect()))
}
