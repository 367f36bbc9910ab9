//! L-BFGS-B: minimises a smooth function within bounds, by projected L-BFGS on the free coordinates.
//!
//! Written by hand: the crates for bounded problems bind the original Fortran, which is neither portable nor equal to the
//! bit across platforms.

use std::collections::VecDeque;

/// Past steps whose curvature is remembered.
const MEMORY: usize = 8;
const MAX_STEPS: usize = 80;
const MAX_BACKTRACKS: usize = 25;
/// Relative decrease below which a step counts as flat; two flat steps in a row end the search.
const TOLERANCE: f64 = 1e-8;
/// Share of the decrease that the gradient predicts which a step must reach (Armijo).
const SUFFICIENT_DECREASE: f64 = 1e-4;

/// A past step: the change of the point and that of the gradient.
type Correction = (Vec<f64>, Vec<f64>);

/// Descends from `start` to a point where no coordinate can move within its bounds and lower the value.
///
/// `evaluate` gives the value and the gradient at a point.
///
/// # Errors
///
/// Those of `evaluate`.
pub(in crate::methods) fn minimise<E>(
    start: Vec<f64>,
    bounds: &[(f64, f64)],
    mut evaluate: impl FnMut(&[f64]) -> Result<(f64, Vec<f64>), E>,
) -> Result<Vec<f64>, E> {
    let mut at = start;
    let (mut value, mut gradient) = evaluate(&at)?;
    let mut past: VecDeque<Correction> = VecDeque::new();
    let mut flat_steps = 0;
    for step in 0..MAX_STEPS {
        let direction = descent_direction(&at, &gradient, bounds, &mut past);
        let length = dot(&direction, &direction).sqrt();
        if length == 0.0 {
            break;
        }
        let mut scale = if step == 0 || past.is_empty() { (0.3 / length).min(1.0) } else { 1.0 };
        let mut accepted = None;
        for _ in 0..MAX_BACKTRACKS {
            let next: Vec<f64> = (0..at.len())
                .map(|i| (at[i] + scale * direction[i]).clamp(bounds[i].0, bounds[i].1))
                .collect();
            let predicted: f64 = (0..at.len()).map(|i| gradient[i] * (next[i] - at[i])).sum();
            let (next_value, next_gradient) = evaluate(&next)?;
            if next_value <= value + SUFFICIENT_DECREASE * predicted {
                accepted = Some((next, next_value, next_gradient));
                break;
            }
            scale *= 0.4;
        }
        let Some((next, next_value, next_gradient)) = accepted else { break };
        let change: Vec<f64> = next.iter().zip(&at).map(|(to, from)| to - from).collect();
        let bend: Vec<f64> = next_gradient.iter().zip(&gradient).map(|(to, from)| to - from).collect();
        if dot(&change, &bend) > 1e-12 * dot(&bend, &bend) {
            past.push_front((change, bend));
            past.truncate(MEMORY);
        }
        flat_steps = if value - next_value <= TOLERANCE * (1.0 + value.abs()) { flat_steps + 1 } else { 0 };
        (at, value, gradient) = (next, next_value, next_gradient);
        if flat_steps == 2 {
            break;
        }
    }
    Ok(at)
}

/// The quasi-Newton direction among the coordinates that are free to move; steepest descent, with the memory cleared, if
/// that direction does not descend.
fn descent_direction(
    at: &[f64],
    gradient: &[f64],
    bounds: &[(f64, f64)],
    past: &mut VecDeque<Correction>,
) -> Vec<f64> {
    let is_free: Vec<bool> = (0..at.len())
        .map(|i| !(at[i] <= bounds[i].0 && gradient[i] > 0.0 || at[i] >= bounds[i].1 && gradient[i] < 0.0))
        .collect();
    let project = |vector: &[f64]| -> Vec<f64> {
        vector.iter().zip(&is_free).map(|(value, free)| if *free { *value } else { 0.0 }).collect()
    };
    let gradient = project(gradient);
    let direction = two_loop_recursion(&gradient, past, &project);
    if dot(&direction, &gradient) >= 0.0 {
        past.clear();
        return gradient.iter().map(|slope| -slope).collect();
    }
    direction
}

/// The inverse curvature of past steps times the negative gradient, restricted to the free coordinates.
fn two_loop_recursion(
    gradient: &[f64],
    past: &VecDeque<Correction>,
    project: &impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let past: Vec<Correction> = past
        .iter()
        .map(|(change, bend)| (project(change), project(bend)))
        .filter(|(s, y)| dot(s, y) > 0.0)
        .collect();
    let mut direction: Vec<f64> = gradient.iter().map(|slope| -slope).collect();
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

/// The inner product, summed in order.
fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn the_minimum_is_found_inside_and_on_the_bounds() {
        let rosenbrock = |x: &[f64]| {
            let (a, b) = (x[0], x[1]);
            let gradient = vec![-400.0 * a * (b - a * a) - 2.0 * (1.0 - a), 200.0 * (b - a * a)];
            Ok::<_, Infallible>((100.0 * (b - a * a).powi(2) + (1.0 - a).powi(2), gradient))
        };
        let Ok(free) = minimise(vec![-1.2, 1.0], &[(-5.0, 5.0), (-5.0, 5.0)], rosenbrock);
        assert!((free[0] - 1.0).abs() < 1e-2 && (free[1] - 1.0).abs() < 2e-2, "{free:?}");
        let Ok(bound) = minimise(vec![-1.2, 1.0], &[(-5.0, 0.5), (-5.0, 5.0)], rosenbrock);
        assert!(bound[0] == 0.5 && (bound[1] - 0.25).abs() < 1e-4, "{bound:?}");
    }
}
