//! Fitting: a method and evidence become a model, which on request knows its accuracy on held-out rows.
//!
//! This comes last because a model is evaluated by deciding held-out rows with models of the same method.

use std::borrow::Cow;

use crate::{Combiner, Control, Error, Evidence, Model, Options, evaluate::held_out_accuracy};

/// Fitting a method to evidence with default options; [`Model::fit`] takes others.
pub trait Fit: Combiner {
    /// The model of the evidence.
    ///
    /// # Errors
    ///
    /// As [`Model::fit`].
    fn fit(&self, evidence: &Evidence) -> Result<Model, Error> {
        Model::fit(self, evidence, &Options::default(), &Control::default())
    }
}

impl<C: Combiner + ?Sized> Fit for C {}

impl Model {
    /// Fits a combiner to evidence.
    ///
    /// With [`Options::evaluate`] the model also has a [held-out accuracy](Self::held_out_accuracy), for which the
    /// evidence must be a tally; the model keeps as much of it as the method needs.
    ///
    /// # Errors
    ///
    /// [`Error::NoLabelledRows`], [`Error::LevelTooLow`], what [`Evidence::class_weights`] refuses and whatever
    /// the combiner refuses; to calibrate it, [`Error::Weighted`] and [`Error::OutOfRange`] for a single row. An evaluation
    /// that is not possible is no error: [`no_accuracy_reason`](Self::no_accuracy_reason) has the reason.
    pub fn fit<C: Combiner + ?Sized>(
        combiner: &C,
        evidence: &Evidence,
        options: &Options,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        if !options.evaluate {
            return Self::fit_among(combiner, evidence, None, options, control);
        }
        let keeps_all = options.calibrate.is_some() || combiner.method().uses_unlabelled(evidence);
        let kept = if keeps_all {
            Cow::Borrowed(evidence)
        } else {
            Cow::Owned(evidence.reduce_to(combiner.needs(), control)?)
        };
        let mut model = Self::fit_among(combiner, &kept, None, options, control)?;
        match held_out_accuracy(&combiner, evidence, options, control)? {
            Ok(accuracy) => model.held_out_accuracy = Some(accuracy),
            Err(reason) => model.no_accuracy_reason = Some(reason),
        }
        Ok(model)
    }
}
