//! The sections of evidence: an evidence file has them, and the section `evidence` of a model.

use crate::{
    error::Error,
    evidence::{Evidence, Unlabelled},
    format::sections::{SectionWriter, Sections},
};

const SECTIONS: [&str; 7] =
    ["Confusion", "Counts", "Pairs", "Panel", "Tally", "Unlabelled", "Unlabelled-total"];

pub(super) fn write(evidence: &Evidence, bytes: &mut Vec<u8>) {
    let mut sections = SectionWriter::new(bytes);
    sections.value("Confusion", &evidence.confusion);
    sections.value("Counts", &(evidence.fraction_bits, &evidence.class_counts));
    sections.optional("Pairs", evidence.pairs.as_ref());
    sections.value("Panel", &(&evidence.classifiers, &evidence.labels));
    sections.optional("Tally", evidence.tally.as_ref());
    if let Some((patterns, total)) = evidence.unlabelled.as_ref().map(Unlabelled::to_store) {
        sections.value("Unlabelled", patterns);
        sections.optional("Unlabelled-total", total.as_ref());
    }
}

pub(super) fn read(payload: &[u8]) -> Result<Evidence, Error> {
    let sections = Sections::split(payload, |name| SECTIONS.contains(&name))?;
    let (classifiers, labels) = sections.value("Panel")?;
    let (fraction_bits, class_counts) = sections.value("Counts")?;
    let (patterns, total) = (sections.optional("Unlabelled")?, sections.optional("Unlabelled-total")?);
    if patterns.is_none() && total.is_some() {
        let found = "`Unlabelled-total` alone".to_owned();
        return Err(Error::Inconsistent { expected: "the patterns of unlabelled rows", found });
    }
    Ok(Evidence {
        classifiers,
        labels,
        fraction_bits,
        class_counts,
        confusion: sections.value("Confusion")?,
        pairs: sections.optional("Pairs")?,
        tally: sections.optional("Tally")?,
        unlabelled: patterns.map(|patterns| Unlabelled::stored(patterns, total)),
        row_units: Vec::new(),
    })
}
