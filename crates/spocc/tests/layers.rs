//! The layers of the engine: a module refers only to modules that `lib.rs` declares before it.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

/// The top-level modules, in the order of their declaration.
fn declared(source: &Path) -> Vec<String> {
    let text = fs::read_to_string(source.join("lib.rs")).expect("the crate has a lib.rs");
    let name = |line: &str| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';').map(ToOwned::to_owned)
    };
    text.lines().filter_map(name).collect()
}

/// The names that `lib.rs` re-exports, each with its module.
fn reexported(source: &Path) -> HashMap<String, String> {
    let text = fs::read_to_string(source.join("lib.rs")).expect("the crate has a lib.rs");
    let mut modules = HashMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("pub use ")?.strip_suffix(';')) {
        let (module, names) = line.split_once("::").expect("names of a module");
        for name in names.trim_matches(['{', '}']).split(',') {
            modules.insert(name.trim().to_owned(), module.to_owned());
        }
    }
    modules
}

/// The source files of a top-level module, a file or a folder.
fn files(source: &Path, module: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut stack = vec![source.join(format!("{module}.rs")), source.join(module)];
    while let Some(path) = stack.pop() {
        if path.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        } else if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder of sources");
            stack.extend(entries.map(|entry| entry.expect("an entry of a folder").path()));
        }
    }
    files.sort();
    files
}

/// The code of a file: lines up to its test module, without comments.
fn code(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a source file");
    let lines = text.lines().take_while(|line| !line.trim_start().starts_with("#[cfg(test)]"));
    lines.map(|line| line.split("//").next().unwrap_or_default().to_owned()).collect()
}

/// The first names of the paths after each `crate::`, with their lines (from 1): one, or all of a list in braces.
fn references(code: &[String]) -> Vec<(usize, String)> {
    let text: Vec<(usize, char)> = (1..)
        .zip(code)
        .flat_map(|(number, line)| line.chars().chain(['\n']).map(move |letter| (number, letter)))
        .collect();
    let letters: String = text.iter().map(|(_, letter)| letter).collect();
    let mut found = Vec::new();
    for (start, _) in letters.match_indices("crate::") {
        let mut at = letters[..start].chars().count() + "crate::".len();
        let is_list = text.get(at).is_some_and(|(_, letter)| *letter == '{');
        let (mut depth, mut name) = (usize::from(is_list), String::new());
        at += usize::from(is_list);
        // Only the first name of each path counts: `skip` is set after it until the next path.
        let mut skip = false;
        while let Some(&(line, letter)) = text.get(at) {
            if letter.is_alphanumeric() || letter == '_' {
                name.push(letter);
            } else {
                if !name.is_empty() && !skip {
                    found.push((line, std::mem::take(&mut name)));
                    skip = true;
                }
                name.clear();
                match letter {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    ',' if is_list && depth == 1 => skip = false,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
            at += 1;
        }
    }
    found
}

#[test]
fn modules_refer_only_to_modules_declared_before_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (modules, reexported) = (declared(&source), reexported(&source));
    assert!(modules.len() > 10, "lib.rs declares {modules:?}");
    let mut later = Vec::new();
    for (place, module) in modules.iter().enumerate() {
        for path in files(&source, module) {
            for (line, name) in references(&code(&path)) {
                let name = reexported.get(&name).unwrap_or(&name);
                if modules.iter().position(|other| other == name).is_some_and(|other| other > place) {
                    let path = path.strip_prefix(&source).expect("a file of the crate").display();
                    later.push(format!("src/{path}:{line}: {module} refers to {name}"));
                }
            }
        }
    }
    assert!(later.is_empty(), "modules refer to later ones:\n{}", later.join("\n"));
}

#[test]
fn references_are_found_in_lists_and_in_paths() {
    let code = [
        "use crate::{",
        "    data::{Label, missing},",
        "    error::Error,",
        "};",
        "fn f() -> crate::model::Model { crate::hash::mix() }",
    ];
    let found = references(&code.map(str::to_owned));
    let expected =
        [(2, "data"), (3, "error"), (5, "model"), (5, "hash")].map(|(at, name)| (at, name.to_owned()));
    assert_eq!(found, expected);
}
