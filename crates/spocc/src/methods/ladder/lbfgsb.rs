//! Minimising a smooth function within bounds: L-BFGS on what is free to move, projected.
//!
//! Written by hand: what the field keeps for bounds is a binding to Fortran.

use std::collections::VecDeque;

/// Steps remembered.
const MEMORY: usize = 8;
const MAX_STEPS: usize = 80;
const MAX_HALVINGS: usize = 25;
/// Relative decrease below which nothing more is to be gained.
const TOLERANCE: f64 = 1e-8;

/// From `start` down to a point where no coordinate can move within its bounds and lower the value.
///
/// # Errors
///
/// Those of `value`.
pub(super) fn minimise<E>(
    start: Vec<f64>,
    bounds: &[(f64, f64)],
    mut value: impl FnMut(&[f64]) -> Result<(f64, Vec<f64>), E>,
) -> Result<Vec<f64>, E> {
    let mut at = start;
    let (mut least, mut slope) = value(&at)?;
    let mut past: VecDeque<(Vec<f64>, Vec<f64>)> = VecDeque::new();
    let mut flat = 0;
    for step in 0..MAX_STEPS {
        let is_free: Vec<bool> = (0..at.len())
            .map(|i| !(at[i] <= bounds[i].0 && slope[i] > 0.0 || at[i] >= bounds[i].1 && slope[i] < 0.0))
            .collect();
        let free = |vector: &[f64]| -> Vec<f64> {
            vector.iter().zip(&is_free).map(|(value, free)| if *free { *value } else { 0.0 }).collect()
        };
        let down = free(&slope);
        let mut direction = newton(&down, &past, &free);
        if dot(&direction, &down) >= 0.0 {
            past.clear();
            direction = down.iter().map(|slope| -slope).collect();
        }
        let length = dot(&direction, &direction).sqrt();
        if length == 0.0 {
            break;
        }
        let mut share = if step == 0 || past.is_empty() { (0.3 / length).min(1.0) } else { 1.0 };
        let mut next = None;
        for _ in 0..MAX_HALVINGS {
            let moved: Vec<f64> = (0..at.len())
                .map(|i| (at[i] + share * direction[i]).clamp(bounds[i].0, bounds[i].1))
                .collect();
            let gained: f64 = (0..at.len()).map(|i| slope[i] * (moved[i] - at[i])).sum();
            let (there, slope_there) = value(&moved)?;
            if there <= least + 1e-4 * gained {
                next = Some((moved, there, slope_there));
                break;
            }
            share *= 0.4;
        }
        let Some((moved, there, slope_there)) = next else { break };
        let change: Vec<f64> = moved.iter().zip(&at).map(|(to, from)| to - from).collect();
        let bend: Vec<f64> = slope_there.iter().zip(&slope).map(|(to, from)| to - from).collect();
        if dot(&change, &bend) > 1e-12 * dot(&bend, &bend) {
            past.push_front((change, bend));
            past.truncate(MEMORY);
        }
        flat = if least - there <= TOLERANCE * (1.0 + least.abs()) { flat + 1 } else { 0 };
        (at, least, slope) = (moved, there, slope_there);
        if flat == 2 {
            break;
        }
    }
    Ok(at)
}

/// The direction to go by the curvature that past steps met, among free coordinates.
fn newton(
    slope: &[f64],
    past: &VecDeque<(Vec<f64>, Vec<f64>)>,
    free: &impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let past: Vec<(Vec<f64>, Vec<f64>)> = past
        .iter()
        .map(|(change, bend)| (free(change), free(bend)))
        .filter(|(s, y)| dot(s, y) > 0.0)
        .collect();
    let mut direction: Vec<f64> = slope.iter().map(|slope| -slope).collect();
    let mut factors = Vec::with_capacity(past.len());
    for (change, bend) in &past {
        let factor = dot(change, &direction) / dot(change, bend);
        direction.iter_mut().zip(bend).for_each(|(to, bend)| *to -= factor * bend);
        factors.push(factor);
    }
    if let Some((change, bend)) = past.first() {
        let scale = dot(change, bend) / dot(bend, bend);
        direction.iter_mut().for_each(|to| *to *= scale);
    }
    for ((change, bend), factor) in past.iter().zip(&factors).rev() {
        let factor = factor - dot(bend, &direction) / dot(change, bend);
        direction.iter_mut().zip(change).for_each(|(to, change)| *to += factor * change);
    }
    direction
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn a_valley_is_followed_to_its_end_and_to_its_bound() {
        let value = |x: &[f64]| {
            let (a, b) = (x[0], x[1]);
            let slope = vec![-400.0 * a * (b - a * a) - 2.0 * (1.0 - a), 200.0 * (b - a * a)];
            Ok::<_, Infallible>((100.0 * (b - a * a).powi(2) + (1.0 - a).powi(2), slope))
        };
        let Ok(free) = minimise(vec![-1.2, 1.0], &[(-5.0, 5.0), (-5.0, 5.0)], value);
        assert!((free[0] - 1.0).abs() < 1e-2 && (free[1] - 1.0).abs() < 2e-2, "{free:?}");
        let Ok(bound) = minimise(vec![-1.2, 1.0], &[(-5.0, 0.5), (-5.0, 5.0)], value);
        assert!(bound[0] == 0.5 && (bound[1] - 0.25).abs() < 1e-4, "{bound:?}");
    }
}
