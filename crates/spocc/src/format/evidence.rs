//! The sections of evidence: an evidence file has them, and the section `evidence` of a model.

use crate::{
    data::Labels,
    error::Error,
    evidence::{Confusions, Evidence, Unlabelled},
    format::sections::{SectionWriter, Sections},
};

const SECTIONS: [&str; 9] = [
    "Confusion",
    "Confusion-cells",
    "Counts",
    "Pairs",
    "Panel",
    "Tally",
    "Unlabelled",
    "Unlabelled-total",
    "Weights",
];

pub(super) fn write(evidence: &Evidence, bytes: &mut Vec<u8>) {
    let mut sections = SectionWriter::new(bytes);
    match evidence.confusions().to_dense(sizes(&evidence.classifiers, &evidence.labels)) {
        Some(counts) => sections.value("Confusion", &counts),
        None => sections.value("Confusion-cells", evidence.confusions()),
    }
    sections.value("Counts", &(evidence.fraction_bits, &evidence.class_counts));
    sections.optional("Pairs", evidence.pairs.as_ref());
    sections.value("Panel", &(&evidence.classifiers, &evidence.labels));
    sections.optional("Tally", evidence.tally.as_ref());
    if let Some((patterns, total)) = evidence.unlabelled.as_ref().map(Unlabelled::to_store) {
        sections.value("Unlabelled", patterns);
        sections.optional("Unlabelled-total", total.as_ref());
    }
    sections.optional("Weights", evidence.whole_weights.then_some(&()));
}

pub(super) fn read(payload: &[u8]) -> Result<Evidence, Error> {
    let sections = Sections::split(payload, |name| SECTIONS.contains(&name))?;
    let (classifiers, labels): (Vec<String>, Labels) = sections.value("Panel")?;
    let (fraction_bits, class_counts) = sections.value("Counts")?;
    let (patterns, total) = (sections.optional("Unlabelled")?, sections.optional("Unlabelled-total")?);
    if patterns.is_none() && total.is_some() {
        let found = "`Unlabelled-total` alone".to_owned();
        return Err(Error::Inconsistent { expected: "the patterns of unlabelled rows", found });
    }
    let size = sizes(&classifiers, &labels);
    let whole_weights = sections.optional::<()>("Weights")?.is_some();
    let confusions = match (sections.optional("Confusion-cells")?, sections.content("Confusion")) {
        (None, _) => dense_confusions(&sections.value::<Vec<u64>>("Confusion")?, size)?,
        (Some(confusions), None) => confusions,
        (Some(_), Some(_)) => {
            let found = "`Confusion` and `Confusion-cells`".to_owned();
            return Err(Error::Inconsistent { expected: "the confusions once", found });
        }
    };
    Ok(Evidence {
        classifiers,
        labels,
        fraction_bits,
        whole_weights,
        class_counts,
        confusions,
        pairs: sections.optional("Pairs")?,
        tally: sections.optional("Tally")?,
        unlabelled: patterns.map(|patterns| Unlabelled::stored(patterns, total)),
        row_units: Vec::new(),
    })
}

/// Numbers of classifiers, labels and classes.
pub(super) fn sizes(classifiers: &[String], labels: &Labels) -> [usize; 3] {
    [classifiers.len(), labels.len(), labels.n_classes()]
}

/// The confusions of counts by classifier, predicted and true.
pub(super) fn dense_confusions(counts: &[u64], size: [usize; 3]) -> Result<Confusions, Error> {
    Confusions::from_dense(counts, size).ok_or_else(|| Error::Inconsistent {
        expected: "one confusion table per classifier",
        found: "another size".to_owned(),
    })
}
