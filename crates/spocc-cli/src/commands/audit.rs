//! `spocc audit`: who in a panel is worth listening to.

use spocc::{Control, Model, audit::Audit, evidence::Level};

use crate::{
    args::AuditArgs,
    error::{Error, Location},
    input::Input,
    labelled::{Keep, Labelled},
    report,
};

/// Audits the panel behind a table, a tally or a model.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn audit(args: &AuditArgs, control: &Control<'_>) -> Result<(), Error> {
    args.panel.refuse_double_use("audit")?;
    let (audit, notes) = match Input::open(&args.input, &args.panel.table.reading())? {
        Input::Model(place, model) => (of_model(&place, &model, args, control)?, None),
        Input::Tally(place, evidence) => {
            args.panel.refuse_columns("audit", "a tally")?;
            let labelled = Labelled::of_tally(place, &evidence, &args.panel, control)?;
            (of_labelled(&labelled, control)?, Some(labelled))
        }
        Input::Table(table) => {
            let labelled =
                Labelled::count(*table, &args.panel, "audit", Keep::labelled(Level::Tally), control)?;
            (of_labelled(&labelled, control)?, Some(labelled))
        }
    };
    crate::progress::clear();
    report::print(args.json, &audit, || report::audit(&audit))?;
    if let Some(labelled) = notes {
        labelled.tell_notes();
    }
    Ok(())
}

fn of_model(
    place: &Location,
    model: &Model,
    args: &AuditArgs,
    control: &Control<'_>,
) -> Result<Audit, Error> {
    args.panel.refuse_columns("audit", "a model")?;
    let Some(evidence) = model.evidence() else {
        return Err(place.refused("a model that holds its counts", "a slim one").into());
    };
    Ok(Audit::new(evidence, Some(model), control).map_err(|error| place.engine(error))?)
}

fn of_labelled(labelled: &Labelled, control: &Control<'_>) -> Result<Audit, Error> {
    Ok(Audit::of_evidence(&labelled.evidence, control).map_err(|error| labelled.place.engine(error))?)
}
