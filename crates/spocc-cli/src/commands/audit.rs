//! `spocc audit`: the quality of each classifier and their dependence.

use spocc::{Control, Model, audit::Audit, evidence::Level};

use crate::{
    args::AuditArgs,
    error::{Error, Location},
    input::Input,
    read::{CountOptions, CountedInput},
    report,
};

/// Audits the classifiers of a table, a tally or a model.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn audit(args: &AuditArgs, control: &Control<'_>) -> Result<(), Error> {
    args.columns.refuse_double_use("audit")?;
    let (audit, notes) = match Input::open(&args.input, &args.columns.table.reading(control))? {
        Input::Model(place, model) => (audit_model(&place, &model, args, control)?, None),
        Input::Tally(place, evidence) => {
            args.columns.refuse_columns("audit", "a tally")?;
            let labelled = CountedInput::of_tally(place, &evidence, &args.columns, control)?;
            (audit_labelled(&labelled, control)?, Some(labelled))
        }
        Input::Table(table) => {
            let labelled = CountedInput::count(
                *table,
                &args.columns,
                "audit",
                CountOptions::labelled(Level::Tally),
                control,
            )?;
            (audit_labelled(&labelled, control)?, Some(labelled))
        }
    };
    crate::progress::clear();
    report::print(args.json, &audit, || report::audit(&audit))?;
    if let Some(labelled) = notes {
        labelled.report_notes();
    }
    Ok(())
}

fn audit_model(
    place: &Location,
    model: &Model,
    args: &AuditArgs,
    control: &Control<'_>,
) -> Result<Audit, Error> {
    args.columns.refuse_columns("audit", "a model")?;
    let Some(evidence) = model.evidence() else {
        return Err(place.engine(spocc::Error::NoEvidence { what: "audit" }).into());
    };
    Ok(Audit::new(evidence, Some(model), control).map_err(|error| place.engine(error))?)
}

fn audit_labelled(labelled: &CountedInput, control: &Control<'_>) -> Result<Audit, Error> {
    Ok(Audit::of_evidence(&labelled.evidence, control).map_err(|error| labelled.engine(error))?)
}
