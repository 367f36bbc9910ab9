//! The section of a fitted rule, which has the name of its structure.

use serde::de::DeserializeOwned;

use crate::{
    error::Error,
    format::sections::{SectionWriter, Sections, broken, decode_with},
    methods::Rule,
};

/// Reads a rule and returns the bytes after it.
type ReadRule = for<'a> fn(&'a [u8]) -> postcard::Result<(Rule, &'a [u8])>;

/// The sections of rules. Version 2 stores the first eight by their position here.
const RULES: [(&str, ReadRule); 10] = [
    ("Rule-possibilities", |bytes| take(bytes, Rule::Spocc)),
    ("Rule-adaspocc", |bytes| take(bytes, Rule::AdaSpocc)),
    ("Rule-ranking", |bytes| take(bytes, Rule::Selection)),
    ("Rule-vote", |bytes| take(bytes, Rule::Vote)),
    ("Rule-likelihoods", |bytes| take(bytes, Rule::NaiveBayes)),
    ("Rule-joint-table", |bytes| take(bytes, Rule::Bayes)),
    ("Rule-regression", |bytes| take(bytes, Rule::Stacking)),
    ("Rule-ladder", |bytes| take(bytes, Rule::FirstLadder)),
    ("Rule-pool", |bytes| take(bytes, Rule::Ladder)),
    ("Rule-open", |bytes| take(bytes, Rule::Open)),
];

fn take<T: DeserializeOwned>(bytes: &[u8], rule: fn(T) -> Rule) -> postcard::Result<(Rule, &[u8])> {
    postcard::take_from_bytes(bytes).map(|(value, rest)| (rule(value), rest))
}

pub(super) fn write(rule: &Rule, sections: &mut SectionWriter<'_>) {
    match rule {
        Rule::Spocc(possibilities) => sections.value("Rule-possibilities", possibilities),
        Rule::AdaSpocc(fitted) => sections.value("Rule-adaspocc", fitted),
        Rule::Selection(ranking) => sections.value("Rule-ranking", ranking),
        Rule::Vote(vote) => sections.value("Rule-vote", vote),
        Rule::NaiveBayes(likelihoods) => sections.value("Rule-likelihoods", likelihoods),
        Rule::Bayes(table) => sections.value("Rule-joint-table", table),
        Rule::Stacking(regression) => sections.value("Rule-regression", regression),
        Rule::FirstLadder(fitted) => sections.value("Rule-ladder", fitted),
        Rule::Ladder(fitted) => sections.value("Rule-pool", fitted),
        Rule::Open(fitted) => sections.value("Rule-open", fitted),
    }
}

pub(super) fn is_rule(name: &str) -> bool {
    RULES.iter().any(|rule| rule.0 == name)
}

/// The one rule among the sections.
pub(super) fn read(sections: &Sections<'_>) -> Result<Rule, Error> {
    let mut found = RULES.iter().filter_map(|&(name, read)| Some((name, read, sections.content(name)?)));
    match (found.next(), found.count()) {
        (Some((name, read, content)), 0) => decode_with(&format!("section `{name}`"), content, read),
        (first, more) => Err(Error::Inconsistent {
            expected: "one section with a rule",
            found: (usize::from(first.is_some()) + more).to_string(),
        }),
    }
}

/// The rule of a file of version 2, and the bytes after it.
pub(super) fn read_version2(number: u32, bytes: &[u8]) -> Result<(Rule, &[u8]), Error> {
    const N_RULES: usize = 8;
    let rule = RULES[..N_RULES].get(number as usize).ok_or_else(|| Error::Inconsistent {
        expected: "a rule of version 2",
        found: format!("number {number}"),
    })?;
    rule.1(bytes).map_err(|error| broken("rule", &error))
}
