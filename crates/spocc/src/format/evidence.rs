//! The sections of evidence: an evidence file has them, and the section `evidence` of a model.

use crate::{
    error::Error,
    evidence::Evidence,
    format::sections::{SectionWriter, Sections},
};

const SECTIONS: [&str; 6] = ["Confusion", "Counts", "Pairs", "Panel", "Tally", "Unlabelled"];

pub(super) fn write(evidence: &Evidence, bytes: &mut Vec<u8>) {
    let mut sections = SectionWriter::new(bytes);
    sections.value("Confusion", &evidence.confusion);
    sections.value("Counts", &(evidence.fraction_bits, &evidence.class_counts));
    sections.optional("Pairs", evidence.pairs.as_ref());
    sections.value("Panel", &(&evidence.classifiers, &evidence.labels));
    sections.optional("Tally", evidence.tally.as_ref());
    sections.optional("Unlabelled", evidence.unlabelled.as_ref());
}

pub(super) fn read(payload: &[u8]) -> Result<Evidence, Error> {
    let sections = Sections::split(payload, |name| SECTIONS.contains(&name))?;
    let (classifiers, labels) = sections.value("Panel")?;
    let (fraction_bits, class_counts) = sections.value("Counts")?;
    Ok(Evidence {
        classifiers,
        labels,
        fraction_bits,
        class_counts,
        confusion: sections.value("Confusion")?,
        pairs: sections.optional("Pairs")?,
        tally: sections.optional("Tally")?,
        unlabelled: sections.optional("Unlabelled")?,
        row_units: Vec::new(),
    })
}
