//! `predict --protect-formulas`: no cell of the output is a formula to a spreadsheet.

use crate::test_dir::TestDir;

/// Labels and ids that are formulas, and some that are numbers.
const FORMULAS: &str = "\
@item,ann,bob,truth
=1+2,=cmd(),=cmd(),=cmd()
-3,-1,-1,-1
'=1,=cmd(),-1,=cmd()
+1.5,-1,-1,-1
-1e-5,=cmd(),=cmd(),=cmd()
\"-2,5\",-1,-1,-1
";

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("gold.csv", FORMULAS);
    dir.done("fit gold.csv --label truth --id @item --method naive-bayes -o m.spocc");
    dir
}

#[test]
fn formulas_get_an_apostrophe_and_numbers_stay() {
    let dir = dir();
    let exact = dir.done("predict m.spocc gold.csv --id @item").stdout;
    assert_eq!(
        exact, "@item,decision\n=1+2,=cmd()\n-3,-1\n'=1,=cmd()\n+1.5,-1\n-1e-5,=cmd()\n\"-2,5\",-1\n",
        "off by default"
    );
    let protected = dir.done("predict m.spocc gold.csv --id @item --protect-formulas").stdout;
    assert_eq!(
        protected,
        "'@item,decision\n'=1+2,'=cmd()\n-3,-1\n''=1,'=cmd()\n+1.5,-1\n-1e-5,'=cmd()\n\"'-2,5\",-1\n"
    );
    dir.done("predict m.spocc gold.csv --id @item --protect-formulas --columns ties -o d.tsv");
    assert!(dir.read("d.tsv").starts_with(b"'@item\tdecision\tties\n'=1+2\t'=cmd()\t\n"));
}

#[test]
fn lists_are_protected_too() {
    let dir = TestDir::new();
    dir.write("gold.csv", "ann,bob,truth\n=a,=a,=a\nb,b,b\n=a,=a,=a\nb,b,b\n");
    dir.done("fit gold.csv --label truth --method majority -o m.spocc");
    dir.write("new.csv", "ann,bob\n=a,b\n");
    let tied = dir.done("predict m.spocc new.csv --columns ties --protect-formulas").stdout;
    assert_eq!(tied, "decision,ties\n'=a,'=a|b\n");
}

#[test]
fn other_formats_are_refused() {
    let dir = dir();
    let refuse = |arguments: &str, message: &str| {
        dir.refused(&format!("predict m.spocc gold.csv --protect-formulas {arguments}"), message);
    };
    refuse("--format json", "standard output: expected CSV for --protect-formulas, found JSON");
    refuse("-o d.jsonl.gz", "d.jsonl.gz: expected CSV for --protect-formulas, found JSON");
    refuse("-o d.parquet", "d.parquet: expected CSV for --protect-formulas, found Parquet");
    assert_eq!(dir.names(), ["gold.csv", "m.spocc"]);
}
