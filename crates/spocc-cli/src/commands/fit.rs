//! `spocc fit`: fits a model to a labelled table or a tally.

use std::{borrow::Cow, collections::HashSet};

use spocc::{
    Control, Evidence, Method, Model, Options,
    conformal::{Calibration, ConformalScheme, Coverage},
    data::{Missing, Normalise},
    evidence::Level,
    methods::{Expert, FittedExpert, Parameters},
};

use crate::{
    args::{FitArgs, refused_setting},
    commands::{
        counted_rows::{describe_rows, note_sample},
        tally::warn_small_min_count,
    },
    error::{Error, count, list, quoted},
    output::Output,
    print_status,
    read::{CountOptions, CountedInput},
};

/// Fits a model and writes it to a file.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn fit(args: &FitArgs, control: &Control<'_>) -> Result<(), Error> {
    let combiner = args.method.combiner()?;
    args.options.refuse_unused_seed(&args.calibrate)?;
    let calibrate = args.calibrate.calibrate(args.options.seed());
    let options = Options { calibrate, evaluate: !args.no_evaluate, ..args.options.options() };
    let method = combiner.method();
    let tables = args.unlabelled.tables("fit")?;
    let unlabelled = method
        .counts_unlabelled(args.unlabelled.asked(), args.columns.label.is_some())
        .map_err(|error| refused_setting(&error))?;
    let output = Output::new(&args.output)?;
    output.refuse_inputs(args.input.iter().chain(&args.columns.gold).chain(tables))?;
    // Count only what the fit needs: the full tally of a large panel may not fit into memory. To evaluate a method that
    // needs less than a tally is worth one only if there is room.
    let level = options.needs(&*combiner);
    let enough = if calibrate.is_some() { Level::Tally } else { combiner.needs() };
    let keep = if unlabelled {
        CountOptions::all(Level::Tally)
            .or_no_truth(args.method.method.is_some_and(|asked| !asked.needs_truth()))
    } else {
        CountOptions::labelled(level).or_reduced_to(enough)
    };
    let labelled = CountedInput::read_with(&args.input, tables, &args.columns, "fit", keep, control)?;
    let engine = |error| labelled.engine(error);
    let evidence = if method.uses_unlabelled(&labelled.evidence) {
        Cow::Borrowed(&labelled.evidence)
    } else {
        Cow::Owned(labelled.evidence.reduce_to(level, control).map_err(engine)?)
    };
    let model = Model::fit(&*combiner, &evidence, &options, control).map_err(|error| match error {
        spocc::Error::LevelTooLow { what, needs, found } if what == method.to_string() => {
            let others = Method::ALL.iter().filter(|method| method.combiner().needs() <= evidence.level());
            let others: Vec<String> = others.map(ToString::to_string).collect();
            let found = format!("{found}, enough for {}", others.join(", "));
            labelled.place.refused(format!("{needs} for {what}"), found)
        }
        other => engine(other),
    })?;

    let stored = if let Some(min_count) = args.slim {
        model.slim(min_count).map_err(engine)?
    } else if args.without_evidence {
        model.without_evidence()
    } else {
        model.clone()
    };
    let bytes = stored.to_bytes();
    output.write_all(&bytes)?;
    print_status(format_args!(
        "fitted {} to {}: {}, {}",
        model.method(),
        describe_rows(model.evidence().unwrap_or(&evidence)),
        count(model.classifiers().len(), "classifier", "classifiers"),
        describe_classes(&model),
    ));
    report_accuracy(&model, &labelled);
    if let Some(share) = evidence.answerable_share().filter(|share| *share < 1.0) {
        let most = share * 100.0;
        print_status(format_args!(
            "some classifier gives the true answer on {most:.1} % of the labelled rows; no method is more accurate"
        ));
    }
    labelled.evidence.row_shortages().iter().for_each(|lack| print_status(format_args!("note: {lack}")));
    if let Some(experts) = describe_experts(&model.parameters(), model.classifiers()) {
        print_status(format_args!("weights of the experts: {experts}"));
    }
    let informative = missing_is_answer(&model);
    if model.missing() == Missing::Auto && !informative.is_empty() {
        print_status(format_args!(
            "missing predictions are informative, so they count as a label, for {}",
            list(informative)
        ));
    }
    if let Some(calibration) = model.calibration() {
        print_status(format_args!("{calibration}"));
        note_guarantee(calibration, &model);
        note_coverage(calibration, &model, labelled.evidence.n_rows());
    }
    if let Some(min_count) = args.slim {
        let n_changed = model.n_decided_differently(&stored, control).map_err(engine)?;
        report_slim(&model, &stored, n_changed, min_count);
    }
    if args.without_evidence && !stored.row_parts().is_empty() {
        print_status(format_args!(
            "warning: rows can be read from this model without its evidence: it has {} (--slim drops what reveals them)",
            stored.row_parts().join(" and ")
        ));
    }
    note_never_decided(&model, &evidence);
    note_sample(&evidence);
    labelled.report_notes();
    print_status(format_args!("wrote {output} ({} bytes)", bytes.len()));
    Ok(())
}

/// `3 classes (a, b, c)`, `open answers, compared as numbers`.
fn describe_classes(model: &Model) -> String {
    match model.normalise() {
        None => {
            let classes = count(model.classes().len(), "class", "classes");
            format!("{classes} ({})", list(model.classes()).replace('`', ""))
        }
        Some(form) => open_answers(form),
    }
}

/// `open answers, compared as numbers`.
pub(super) fn open_answers(form: Normalise) -> String {
    let compared = match form {
        Normalise::Number => ", compared as numbers",
        Normalise::Text => ", compared as texts",
        _ => "",
    };
    format!("open answers{compared}")
}

/// Prints the held-out accuracy, or why there is none.
fn report_accuracy(model: &Model, input: &CountedInput) {
    match (model.held_out_accuracy(), model.no_accuracy_reason()) {
        (Some(accuracy), _) => print_status(format_args!("{accuracy}")),
        (None, Some(_)) if input.is_reduced() => print_status(format_args!(
            "no held-out accuracy: the tally of all rows, from which rows are held out, needs more than --memory"
        )),
        (None, Some(reason)) => print_status(format_args!("no held-out accuracy: {reason}")),
        (None, None) => {}
    }
}

/// `votes 43 %, confusions 31 %, best classifier (ada) 26 %`: the experts that carry weight in a pool, the heaviest first.
pub(super) fn describe_experts(parameters: &Parameters, classifiers: &[String]) -> Option<String> {
    let (Parameters::Ladder { experts, best_classifier, .. }
    | Parameters::Open { experts, best_classifier, .. }) = parameters
    else {
        return None;
    };
    let mut experts = experts.clone();
    let total: f64 = experts.iter().map(|expert| expert.weight).sum();
    experts.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let describe = |fitted: &FittedExpert| {
        let percent = (100.0 * fitted.weight / total).round();
        let name = best_classifier.filter(|_| fitted.expert == Expert::BestClassifier);
        let name = name.map_or_else(String::new, |k| format!(" ({})", classifiers[k]));
        (percent >= 1.0).then(|| format!("{}{name} {percent} %", fitted.expert))
    };
    let described: Vec<String> = experts.iter().filter_map(describe).collect();
    (total > 0.0).then(|| described.join(", "))
}

/// Prints for which rows the guarantee of split conformal sets holds, if not for all new rows.
fn note_guarantee(calibration: &Calibration, model: &Model) {
    let n_unlabelled = model.evidence().map_or(0.0, Evidence::n_unlabelled);
    if calibration.settings().scheme == ConformalScheme::Split && n_unlabelled > 0.0 {
        print_status(format_args!(
            "note: the guarantee is for the unlabelled rows of this fit; for other rows the coverage is approximate \
             (exact with --unlabelled none)"
        ));
    }
}

/// Prints the largest possible coverage, and how to raise it, if it is below the usual one.
fn note_coverage(calibration: &Calibration, model: &Model, n_labelled: f64) {
    const USUAL: f64 = 0.95;
    let needed = Coverage::try_from(USUAL).map_or(0, Coverage::n_needed);
    let n_rows = calibration.n_rows();
    let Some((list, &fewest)) = n_rows.iter().enumerate().min_by_key(|(_, n)| **n) else { return };
    if fewest >= needed {
        return;
    }
    let how = calibration.settings();
    let (of_class, of_each) = if how.per_class {
        (format!(" of class {}", quoted(&model.classes()[list].to_string())), " of each class")
    } else {
        (String::new(), "")
    };
    let supports = match fewest {
        0 => "support no coverage".to_owned(),
        n => format!(
            "support{} a coverage of at most {}",
            if n == 1 { "s" } else { "" },
            // Rounded down: a larger coverage would be refused.
            (100.0 * calibration.max_coverage()).floor() / 100.0
        ),
    };
    // Split conformal uses a quarter of the rows for calibration.
    let n_cross = if how.per_class { 4.0 * fewest as f64 } else { n_labelled };
    let helps = [
        (how.scheme == ConformalScheme::Split && n_cross >= needed as f64, "--calibrate cross"),
        (how.per_class && n_rows.iter().sum::<u64>() >= needed, "no --per-class"),
        (true, "more labelled rows"),
    ];
    let helps: Vec<&str> = helps.iter().filter(|(helps, _)| *helps).map(|(_, what)| *what).collect();
    print_status(format_args!(
        "note: {}{of_class} {supports} ({USUAL} needs {needed}{of_each}): use {}",
        count(fewest as usize, "calibration row", "calibration rows"),
        helps.join(" or "),
    ));
}

/// Prints a note about labels that are predicted but never decided, if --classes is not given.
fn note_never_decided(model: &Model, evidence: &Evidence) {
    if model.is_open() {
        return;
    }
    let labels = evidence.labels();
    let classes: HashSet<&spocc::Label> = model.classes().iter().collect();
    let is_other = |label: &&spocc::Label| !labels.is_closed() && !classes.contains(label);
    let others: Vec<&spocc::Label> = labels.all().iter().filter(is_other).collect();
    if !others.is_empty() {
        print_status(format_args!(
            "note: {} predicted but never true, so never decided: {} (--classes sets the list of classes)",
            if others.len() == 1 { "one label is" } else { "some labels are" },
            list(others)
        ));
    }
}

/// Prints what a slim model decides differently.
fn report_slim(whole: &Model, slim: &Model, n_changed: Option<f64>, min_count: u64) {
    warn_small_min_count("--slim", min_count);
    match (n_changed, whole.evidence()) {
        (Some(n_changed), Some(evidence)) => print_status(format_args!(
            "slim: {n_changed:.0} of {:.0} rows of the fit are decided differently without counts of fewer than {min_count} rows",
            evidence.n_rows() + evidence.n_unlabelled()
        )),
        // Without a tally there is no table of patterns.
        _ => print_status(format_args!("slim: decisions are those of the whole model")),
    }
    let Some(calibration) = slim.calibration() else { return };
    let most = calibration.max_informative_coverage();
    let limit = if most < calibration.max_coverage() {
        format!("; above a coverage of {} they have every class", (100.0 * most).floor() / 100.0)
    } else {
        String::new()
    };
    print_status(format_args!("slim: conformal scores are rounded up, so sets can be larger{limit}"));
}

/// The classifiers for which a missing prediction counts as an answer.
pub(super) fn missing_is_answer(model: &Model) -> Vec<&String> {
    let classifiers = model.classifiers().iter().zip(model.missing_is_answer());
    classifiers.filter(|(_, is_answer)| **is_answer).map(|(name, _)| name).collect()
}
