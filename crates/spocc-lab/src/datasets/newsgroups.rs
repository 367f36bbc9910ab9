//! 20 newsgroups, in the version sorted by date: an archive of messages, one file each.

use std::{
    io::{self, Read},
    path::Path,
};

use super::{Dataset, file::DataFile, text};
use crate::error::Error;

pub(super) const FILE: &str = "20newsgroups/20news-bydate.tar";
/// Dimensions after reduction, as in the paper.
pub(super) const N_FEATURES: usize = 100;

/// The folders of the archive.
const SPLITS: [&str; 2] = ["20news-bydate-train", "20news-bydate-test"];

/// A newsgroup, and how many of its messages are in either split.
pub(super) struct Newsgroup {
    name: &'static str,
    pub(super) messages: [usize; SPLITS.len()],
}

const fn group(name: &'static str, train: usize, test: usize) -> Newsgroup {
    Newsgroup { name, messages: [train, test] }
}

pub(super) const GROUPS: [Newsgroup; 20] = [
    group("alt.atheism", 480, 319),
    group("comp.graphics", 584, 389),
    group("comp.os.ms-windows.misc", 591, 394),
    group("comp.sys.ibm.pc.hardware", 590, 392),
    group("comp.sys.mac.hardware", 578, 385),
    group("comp.windows.x", 593, 395),
    group("misc.forsale", 585, 390),
    group("rec.autos", 594, 396),
    group("rec.motorcycles", 598, 398),
    group("rec.sport.baseball", 597, 397),
    group("rec.sport.hockey", 600, 399),
    group("sci.crypt", 595, 396),
    group("sci.electronics", 591, 393),
    group("sci.med", 594, 396),
    group("sci.space", 593, 394),
    group("soc.religion.christian", 599, 398),
    group("talk.politics.guns", 546, 364),
    group("talk.politics.mideast", 564, 376),
    group("talk.politics.misc", 465, 310),
    group("talk.religion.misc", 377, 251),
];

/// A raw message; the order of the fields is the order of the rows, whatever the order of the archive.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Message {
    split: usize,
    group: usize,
    id: u32,
    text: Vec<u8>,
}

/// Texts without headers, footers and quotes, as TF-IDF weights reduced by latent semantic analysis.
pub(super) fn load(dir: &Path) -> Result<Dataset, Error> {
    read(&DataFile::read(dir, FILE, "20newsgroup")?, &GROUPS, N_FEATURES)
}

fn read(file: &DataFile, groups: &[Newsgroup], n_features: usize) -> Result<Dataset, Error> {
    let messages = messages(file, groups)?;
    let texts: Vec<Vec<u8>> = messages.iter().map(|message| text::strip(&message.text)).collect();
    Ok(Dataset {
        name: "20newsgroup",
        rows: text::features(&texts, n_features),
        classes: messages.iter().map(|message| message.group as u16).collect(),
        n_classes: groups.len(),
        is_subset: false,
    })
}

fn messages(file: &DataFile, groups: &[Newsgroup]) -> Result<Vec<Message>, Error> {
    let mut messages = members(file, groups)?;
    messages.sort_unstable();
    let place = |message: &Message| (message.split, message.group, message.id);
    if let Some([double, ..]) = messages.windows(2).find(|pair| place(&pair[0]) == place(&pair[1])) {
        let found = format!("{}/{}/{} twice", SPLITS[double.split], groups[double.group].name, double.id);
        return Err(file.refuse("every message once", found));
    }
    for (split, folder) in SPLITS.iter().enumerate() {
        for (group, known) in groups.iter().enumerate() {
            let is_here = |message: &&Message| (message.split, message.group) == (split, group);
            let found = messages.iter().filter(is_here).count();
            if found != known.messages[split] {
                let expected = format!("{} messages in {folder}/{}", known.messages[split], known.name);
                return Err(file.refuse(expected, found.to_string()));
            }
        }
    }
    Ok(messages)
}

/// Every file in the archive.
fn members(file: &DataFile, groups: &[Newsgroup]) -> Result<Vec<Message>, Error> {
    let cut = |fault: io::Error| file.refuse("a whole tar archive", fault.to_string());
    let mut members = Vec::new();
    for entry in tar::Archive::new(&file.bytes[..]).entries().map_err(cut)? {
        let mut entry = entry.map_err(cut)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let (split, group, id) = place(&name, groups)
            .ok_or_else(|| file.refuse(format!("members like {}/{}/1", SPLITS[0], groups[0].name), &name))?;
        let mut text = Vec::new();
        entry.read_to_end(&mut text).map_err(cut)?;
        if text.len() as u64 != entry.size() {
            return Err(file.refuse("a whole tar archive", format!("its end within {name}")));
        }
        members.push(Message { split, group, id, text });
    }
    Ok(members)
}

/// Split, group and number of a message, from its name in the archive.
fn place(name: &str, groups: &[Newsgroup]) -> Option<(usize, usize, u32)> {
    let mut steps = name.strip_prefix("./").unwrap_or(name).split('/');
    let folder = steps.next()?;
    let split = SPLITS.iter().position(|split| *split == folder)?;
    let folder = steps.next()?;
    let group = groups.iter().position(|group| group.name == folder)?;
    let id = steps.next()?.parse().ok()?;
    steps.next().is_none().then_some((split, group, id))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const GROUPS: [Newsgroup; 2] = [group("alt.atheism", 2, 0), group("sci.med", 1, 1)];
    const MEMBERS: [(&str, &str); 4] = [
        ("20news-bydate-test/sci.med/7", "From: d\n\nheart and blood"),
        ("20news-bydate-train/alt.atheism/10", "From: a\n\ngod or none"),
        ("20news-bydate-train/sci.med/7", "From: c\n\nblood and heart"),
        ("./20news-bydate-train/alt.atheism/9", "From: b\n\nno god at all"),
    ];

    fn archive(members: &[(&str, &str)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, text) in members {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            builder.append_data(&mut header, name, text.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn load(bytes: &[u8]) -> Result<Dataset, String> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("news.tar"), bytes).unwrap();
        let folder = format!("{}/", dir.path().display());
        DataFile::read(dir.path(), "news.tar", "20newsgroup")
            .and_then(|file| read(&file, &GROUPS, 2))
            .map_err(|error| error.to_string().replace(&folder, ""))
    }

    #[track_caller]
    fn is_refused(bytes: &[u8], message: &str) {
        assert_eq!(load(bytes).err(), Some(format!("news.tar: {message}")));
    }

    #[test]
    fn rows_come_by_split_group_and_number_whatever_the_order_of_the_archive() {
        let dataset = load(&archive(&MEMBERS)).unwrap();
        assert_eq!((&dataset.classes[..], dataset.n_classes), (&[0, 0, 1, 1][..], 2));
        assert_eq!(dataset.rows.dim(), (4, 2));
        let heart = &dataset.rows.row(2) - &dataset.rows.row(3);
        assert!(heart.iter().all(|difference| difference.abs() < 1e-12), "two messages have the same words");
        let mut turned = MEMBERS;
        turned.reverse();
        assert_eq!(load(&archive(&turned)).unwrap().rows, dataset.rows);
    }

    #[test]
    fn an_unknown_missing_or_repeated_member_is_refused() {
        let like = "expected members like 20news-bydate-train/alt.atheism/1, found";
        is_refused(&archive(&[("readme.txt", "x")]), &format!("{like} readme.txt"));
        let other = "20news-bydate-train/rec.cats/1";
        is_refused(&archive(&[(other, "x")]), &format!("{like} {other}"));
        let letter = "20news-bydate-train/sci.med/one";
        is_refused(&archive(&[(letter, "x")]), &format!("{like} {letter}"));
        let expected = "expected 1 messages in 20news-bydate-test/sci.med, found 0";
        is_refused(&archive(&MEMBERS[1..]), expected);
        let doubled = [&MEMBERS[..], &MEMBERS[..1]].concat();
        is_refused(
            &archive(&doubled),
            "expected every message once, found 20news-bydate-test/sci.med/7 twice",
        );
    }

    #[test]
    fn a_cut_archive_is_refused() {
        let whole = archive(&MEMBERS);
        let refusal = load(&whole[..3 * 1024 + 520]).err().unwrap();
        assert!(refusal.starts_with("news.tar: expected a whole tar archive, found "), "{refusal}");
        let refusal = load(&whole[..3 * 1024 + 100]).err().unwrap();
        assert!(refusal.starts_with("news.tar: expected a whole tar archive, found "), "{refusal}");
        is_refused(&[], "expected 2 messages in 20news-bydate-train/alt.atheism, found 0");
    }
}
