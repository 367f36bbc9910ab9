//! Unlabelled rows, and tables without any true label.

use crate::test_dir::{GOLD, TestDir, without_sizes};

const LONG: &str = "--long item,worker,answer";

const CROWD: &str = "\
item,worker,answer
1,ann,cat
1,bob,cat
1,eve,dog
2,ann,dog
2,bob,dog
3,ann,cat
3,bob,cat
3,eve,cat
";

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("gold.csv", GOLD);
    dir.write("crowd.csv", CROWD);
    dir.write("more.csv", "item,eve,ann,bob,truth\n7,cat,dog,dog,cat\n8,dog,cat,,\n");
    dir
}

#[test]
fn a_crowd_is_decided_without_any_label() {
    let dir = dir();
    for method in ["majority", "dawid-skene", "one-coin"] {
        let fitted = dir.done(&format!("fit crowd.csv {LONG} --method {method} -o m.spocc"));
        assert_eq!(
            without_sizes(&fitted.stderr),
            format!(
                "fitted {method} to 3 unlabelled rows: 3 classifiers, 2 classes (cat, dog)\n\
                 no held-out accuracy: no row has a truth\n\
                 wrote m.spocc # bytes)\n"
            )
        );
        let decided = dir.done(&format!("predict m.spocc crowd.csv {LONG}"));
        assert_eq!(decided.stdout, "item,decision\n1,cat\n2,dog\n3,cat\n", "{method}");
    }
    // A wide table without any true label is an unlabelled table.
    dir.write("wide.csv", "item,ann,bob,truth\n1,cat,cat,\n2,dog,dog,\n");
    dir.done("fit wide.csv --id item --label truth --method dawid-skene -o label.spocc");
    dir.done("fit wide.csv --id item --ignore truth --method dawid-skene -o none.spocc");
    assert_eq!(dir.read("label.spocc"), dir.read("none.spocc"));
    dir.refused("audit label.spocc", "label.spocc: truth: expected at least one labelled row, found none");
}

#[test]
fn other_methods_need_labels_and_name_those_that_do_not() {
    let dir = dir();
    dir.misused(
        &format!("fit crowd.csv {LONG} -o m.spocc"),
        "a table needs --label COL, the column with the true label (except with --method ladder, dawid-skene, one-coin or majority)",
    );
    let fitted = dir.done(&format!("fit crowd.csv {LONG} --method ladder -o m.spocc")).stderr;
    assert!(
        fitted.starts_with("fitted ladder to 3 unlabelled rows: 3 classifiers, 2 classes (cat, dog)\n"),
        "{fitted}"
    );
    assert!(fitted.contains("weights of the experts: unlabelled rows 100 %\n"), "{fitted}");
    dir.misused(&format!("compare crowd.csv {LONG}"), "a table needs --label COL");
    dir.write("empty.csv", "item,ann,bob\n1,,\n");
    dir.refused(
        "fit empty.csv --id item --method majority -o m.spocc",
        "empty.csv: truth: expected at least one labelled row, found none",
    );
    dir.write("header.csv", "item,ann,bob\n");
    dir.refused(
        "fit header.csv --id item --method dawid-skene -o m.spocc",
        "header.csv: expected a row of predictions, found no rows below the header",
    );
}

#[test]
fn unlabelled_rows_are_used_in_any_table() {
    let dir = dir();
    let panel = "--label truth --id item --method dawid-skene";
    let fitted = dir.done(&format!("fit gold.csv {panel} --unlabelled more.csv -o two.spocc"));
    assert_eq!(
        without_sizes(&fitted.stderr),
        "fitted dawid-skene to 5 labelled and 3 unlabelled rows: 3 classifiers, 2 classes (cat, dog)\n\
         held-out accuracy #, by leave-one-out cross-validation (only 5 rows)\n\
         wrote two.spocc # bytes)\n"
    );
    dir.write("one.csv", format!("{GOLD}7,dog,dog,cat,\n8,cat,,dog,\n"));
    dir.done(&format!("fit one.csv {panel} -o one.spocc"));
    assert_eq!(dir.read("two.spocc"), dir.read("one.spocc"), "the truth of another table is not looked at");
    dir.write("a.csv", "item,ann,bob,eve\n7,dog,dog,cat\n");
    dir.write("b.csv", "item,ann,bob,eve\n8,cat,,dog\n");
    dir.done(&format!("fit gold.csv {panel} --unlabelled a.csv --unlabelled b.csv -o three.spocc"));
    assert_eq!(dir.read("two.spocc"), dir.read("three.spocc"), "two tables, without a truth");
    let inspected = dir.done("inspect two.spocc").stdout;
    assert!(inspected.contains("rows         5 labelled, 3 unlabelled\n"), "{inspected}");
    // A tally and a table.
    dir.done("tally gold.csv --label truth --id item -o gold.tally");
    let tallied = "fit gold.tally --id item --ignore truth --method dawid-skene --unlabelled";
    dir.refused(
        &format!("{tallied} more.csv -o m.spocc"),
        "gold.tally: expected a column `truth` to ignore, found `ann`, `bob`, `eve`",
    );
    let fitted = dir.done(
        &tallied.replace("--ignore truth ", "").replace("--unlabelled", "--unlabelled a.csv -o m.spocc"),
    );
    assert!(fitted.stderr.contains("5 labelled and 2 unlabelled rows"), "{}", fitted.stderr);
}

#[test]
fn a_table_with_other_classifiers_is_refused_by_name() {
    let dir = dir();
    let fit = |more: &str| {
        format!("fit gold.csv --label truth --id item --method dawid-skene --unlabelled {more} -o m")
    };
    dir.write("less.csv", "item,ann,bob\n7,cat,cat\n");
    dir.write("other.csv", "item,ann,bob,zed\n7,cat,cat,cat\n");
    dir.write("besides.csv", "item,ann,bob,eve,zed\n7,cat,cat,cat,cat\n");
    for (name, found) in [("less", "no `eve`"), ("other", "no `eve`, but `zed`"), ("besides", "also `zed`")] {
        let expected = "the classifiers of the labelled rows";
        let hint = "--classifiers selects those that both tables have";
        dir.refused(
            &fit(&format!("{name}.csv")),
            &format!("{name}.csv: line 1: expected {expected}, found {found} ({hint})"),
        );
    }
    dir.done("tally gold.csv --label truth --id item -o gold.tally");
    dir.refused(&fit("gold.tally"), "gold.tally: expected a table of unlabelled rows, found a tally");
    // In a long table a classifier may have no predictions; an unknown classifier is refused.
    dir.write("truth.csv", "item,truth\n1,cat\n2,dog\n");
    let long = |more: &str| {
        format!(
            "fit crowd.csv {LONG} --gold truth.csv --label truth --method dawid-skene --unlabelled {more} -o m"
        )
    };
    dir.write("ann.csv", "item,worker,answer\n9,ann,cat\n");
    assert!(
        dir.done(&long("ann.csv")).stderr.contains("fitted dawid-skene to 2 labelled and 2 unlabelled rows")
    );
    dir.write("zed.csv", "item,worker,answer\n9,zed,cat\n");
    dir.refused(
        &long("zed.csv"),
        "zed.csv: expected the classifiers of the labelled rows, found also `zed` \
         (--classifiers selects those that both tables have)",
    );
    // The advice helps.
    for (more, classifiers) in [("less", "ann,bob"), ("other", "ann,bob"), ("besides", "ann,bob,eve")] {
        let fitted = dir.done(&fit(&format!("{more}.csv --classifiers {classifiers}"))).stderr;
        assert!(fitted.contains("to 5 labelled and 2 unlabelled rows"), "{fitted}");
    }
    dir.write("ann-zed.csv", "item,worker,answer\n9,zed,cat\n9,ann,cat\n");
    dir.done(&long("ann-zed.csv --classifiers ann,bob,eve"));
}

#[test]
fn unlabelled_rows_are_refused_for_methods_that_do_not_use_them() {
    let dir = dir();
    let panel = "--label truth --id item --unlabelled more.csv";
    dir.misused(
        &format!("fit gold.csv {panel} -o m --method stacking"),
        "--unlabelled is not used by --method stacking, only by ladder, dawid-skene and one-coin",
    );
    let printed = dir.done(&format!("fit gold.csv {panel} -o m")).stderr;
    assert!(printed.contains("5 labelled and 3 unlabelled rows"), "{printed}");
    dir.misused(
        &format!("compare gold.csv {panel} --methods bayes"),
        "--unlabelled is only used by ladder, dawid-skene and one-coin, which are not among --methods",
    );
    let compared = dir.done(&format!("compare gold.csv {panel} --no-curve"));
    assert_eq!(compared.stderr, "");
    assert!(compared.stdout.starts_with("5 labelled rows, "), "{}", compared.stdout);
    let line = compared.stdout.lines().find(|line| line.starts_with("fitted also to 3 unlabelled rows: "));
    let mut users: Vec<&str> =
        line.and_then(|line| line.split(": ").nth(1)).expect("a line").split(", ").collect();
    users.sort_unstable();
    assert_eq!(users, ["dawid-skene", "ladder", "one-coin"]);
    let json = dir.done(&format!("compare gold.csv {panel} --no-curve --json")).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["n_unlabelled"], 3.0);
    for result in json["methods"].as_array().expect("a list") {
        let method = result["method"].as_str().expect("a word");
        assert_eq!(
            result["uses_unlabelled"],
            ["dawid-skene", "ladder", "one-coin"].contains(&method),
            "{method}"
        );
    }
    let alone = dir.done("compare gold.csv --label truth --id item --methods bayes --no-curve");
    assert_eq!(alone.stderr, "skipped 1 unlabelled row\n");
}

#[test]
fn append_works_for_a_ladder_fitted_to_unlabelled_rows() {
    let dir = dir();
    let panel = "--label truth --id item";
    dir.done(&format!("fit gold.csv {panel} --ignore eve --unlabelled more.csv -o two.spocc"));
    dir.done(&format!("fit gold.csv {panel} --unlabelled more.csv --no-evaluate -o three.spocc"));
    dir.done(&format!("append two.spocc --name eve gold.csv {panel} --unlabelled more.csv -o grown.spocc"));
    assert_eq!(dir.done("inspect grown.spocc").stdout, dir.done("inspect three.spocc").stdout);
    dir.done(&format!("fit gold.csv {panel} --ignore eve --unlabelled none -o plain.spocc"));
    dir.refused(
        &format!("append plain.spocc --name eve gold.csv {panel} --unlabelled more.csv -o grown.spocc"),
        "plain.spocc: expected a model fitted to unlabelled rows, to use --unlabelled, found a model fitted to labelled rows only",
    );
    dir.write("known.csv", "item,ann,bob,eve,truth\n1,cat,cat,dog,cat\n2,dog,dog,dog,dog\n");
    dir.done(&format!("fit known.csv {panel} --ignore eve --unlabelled more.csv -o two.spocc"));
    dir.refused(
        &format!("append two.spocc --name eve known.csv {panel} -o grown.spocc"),
        "known.csv: expected the rows the model was fitted to, found none of the 2 without truth",
    );
}

#[test]
fn a_row_of_both_tables_counts_once() {
    let dir = dir();
    let panel = "--label truth --id item";
    let skipped = |n: &str| format!("skipped {n} of --unlabelled whose id is also in the labelled table\n");
    // Rows with a truth and rows without one are recognised, in whatever order and whatever the truth says there.
    dir.write(
        "mixed.csv",
        "item,eve,ann,bob,truth\n6,cat,dog,,dog\n7,cat,dog,dog,cat\n2,cat,dog,dog,\n8,dog,cat,,\n",
    );
    for method in ["dawid-skene", "ladder"] {
        let fit = format!("fit gold.csv {panel} --method {method} --unlabelled");
        let apart = dir.done(&format!("{fit} more.csv -o apart.spocc")).stderr;
        let mixed = dir.done(&format!("{fit} mixed.csv -o mixed.spocc")).stderr;
        assert!(!apart.contains("skipped") && mixed.contains(&skipped("2 rows")), "{mixed}");
        assert_eq!(dir.read("apart.spocc"), dir.read("mixed.spocc"), "{method}");
        // The very same file adds nothing, also under another name.
        std::fs::create_dir_all(dir.path("folder")).expect("a directory");
        let same = dir.done(&format!("{fit} folder/../gold.csv -o same.spocc")).stderr;
        assert!(
            same.contains("to 5 labelled and 1 unlabelled row") && same.contains(&skipped("6 rows")),
            "{same}"
        );
    }
    dir.done(&format!("fit gold.csv {panel} --method dawid-skene -o alone.spocc"));
    dir.done(&format!("fit gold.csv {panel} --method dawid-skene --unlabelled gold.csv -o same.spocc"));
    assert_eq!(dir.read("same.spocc"), dir.read("alone.spocc"));

    let compare = |more: &str| dir.done(&format!("compare gold.csv {panel} --no-curve --unlabelled {more}"));
    let (apart, mixed) = (compare("more.csv"), compare("mixed.csv"));
    assert_eq!(format!("{}{}", apart.stderr, skipped("2 rows")), mixed.stderr);

    dir.done(&format!("fit gold.csv {panel} --ignore eve --unlabelled mixed.csv -o two.spocc"));
    let grown = format!("append two.spocc --name eve gold.csv {panel} --unlabelled mixed.csv -o grown.spocc");
    assert!(dir.done(&grown).stderr.contains(&skipped("2 rows")));
    dir.done(&format!("fit gold.csv {panel} --unlabelled more.csv --no-evaluate -o three.spocc"));
    assert_eq!(dir.done("inspect grown.spocc").stdout, dir.done("inspect three.spocc").stdout);
}

#[test]
fn an_id_of_several_columns_is_compared_as_a_whole_and_an_empty_id_never() {
    let dir = TestDir::new();
    dir.write("gold.csv", "page,line,a,b,t\n1,11,x,x,x\n11,1,y,y,y\n,,x,y,x\n");
    dir.write("new.csv", "line,page,a,b\n1,1,x,x\n11,1,y,y\n,,x,x\n");
    let fit = "fit gold.csv --id page,line --label t --method dawid-skene --unlabelled new.csv -o m.spocc";
    let printed = dir.done(fit).stderr;
    assert!(
        printed.contains("to 3 labelled and 2 unlabelled rows") && printed.contains("skipped 1 row of"),
        "{printed}"
    );
}

#[test]
fn an_item_of_both_long_tables_counts_once() {
    let dir = dir();
    dir.write("truth.csv", "item,truth\n1,cat\n2,dog\n");
    let fit = |more: &str| {
        let gold = "--gold truth.csv --label truth --method dawid-skene";
        let printed = dir.done(&format!("fit crowd.csv {LONG} {gold} {more} -o m.spocc")).stderr;
        (printed, dir.read("m.spocc"))
    };
    let (alone, model) = fit("");
    let (printed, same) = fit("--unlabelled crowd.csv");
    assert!(alone.contains("to 2 labelled and 1 unlabelled row") && same == model, "{printed}");
    assert!(
        printed.contains("skipped 3 rows of --unlabelled whose id is also in the labelled table\n"),
        "{printed}"
    );
    dir.write("new.csv", "item,worker,answer\n9,ann,cat\n9,eve,dog\n");
    dir.write("mixed.csv", "item,worker,answer\n3,ann,dog\n9,ann,cat\n1,bob,cow\n9,eve,dog\n");
    let ((_, apart), (printed, mixed)) = (fit("--unlabelled new.csv"), fit("--unlabelled mixed.csv"));
    assert!(apart == mixed && printed.contains("skipped 2 rows of --unlabelled"), "{printed}");
}

#[test]
fn the_same_file_is_refused_without_ids() {
    let dir = dir();
    dir.write("bare.csv", "ann,bob,truth\ncat,cat,cat\ndog,dog,dog\ncat,dog,\n");
    let message = "expected an --unlabelled table other than the labelled table, \
                   found the same file, whose unlabelled rows are used anyway (omit --unlabelled, or use --id COL)";
    let panel = "--label truth";
    dir.refused(
        &format!("fit bare.csv {panel} --unlabelled bare.csv -o m.spocc"),
        &format!("bare.csv: {message}"),
    );
    dir.refused(
        &format!("fit bare.csv {panel} --unlabelled ./bar*.csv -o m.spocc"),
        &format!("bare.csv: {message}"),
    );
    dir.refused(&format!("compare bare.csv {panel} --unlabelled bare.csv"), &format!("bare.csv: {message}"));
    dir.write("more-bare.csv", "ann,bob\ncat,cat\n");
    dir.done(&format!("fit bare.csv {panel} --ignore bob --unlabelled more-bare.csv -o m.spocc"));
    dir.refused(
        &format!("append m.spocc --name bob bare.csv {panel} --unlabelled bare.csv -o grown.spocc"),
        &format!("bare.csv: {message}"),
    );
}

#[test]
fn a_tally_with_unlabelled_rows_notes_that_it_has_no_ids() {
    let dir = TestDir::new();
    dir.write("gold.csv", GOLD);
    dir.done("tally gold.csv --label truth --id item -o gold.tally");
    let run = dir.done("fit gold.tally --id item --unlabelled gold.csv --label truth -o m.spocc");
    let note = "note: a tally has no ids, so rows of --unlabelled that it contains are counted twice\n";
    assert!(run.stderr.contains(note), "{}", run.stderr);
}

#[test]
fn unlabelled_rows_are_counted_by_default_and_left_out_on_request() {
    let dir = dir();
    let panel = "--label truth --id item";
    let labelled: String = GOLD.split_inclusive('\n').filter(|line| !line.ends_with(",\n")).collect();
    dir.write("labelled.csv", labelled);
    for command in ["fit", "tally"] {
        let run = |arguments: &str| {
            let printed = dir.done(&format!("{command} {arguments} -o out")).stderr;
            (printed, dir.read("out"))
        };
        let (printed, all) = run(&format!("gold.csv {panel}"));
        assert!(
            printed.contains(" 5 labelled and 1 unlabelled row: ") && !printed.contains("skipped"),
            "{printed}"
        );
        let (printed, none) = run(&format!("gold.csv {panel} --unlabelled none"));
        assert!(
            printed.contains(" 5 labelled rows: ") && printed.contains("skipped 1 unlabelled row"),
            "{printed}"
        );
        assert_eq!(none, run(&format!("labelled.csv {panel}")).1);
        assert_ne!(none, all);
        dir.done(&format!("tally gold.csv {panel} -o gold.tally"));
        assert_eq!(run("gold.tally").1, all);
        assert_eq!(run("gold.tally --unlabelled none").1, none);
        dir.misused(
            &format!("{command} gold.csv {panel} --unlabelled none --unlabelled more.csv -o out"),
            "--unlabelled none cannot be used with another --unlabelled",
        );
    }
    // A method that ignores unlabelled rows says that it does.
    let printed = dir.done(&format!("fit gold.csv {panel} --method stacking -o out")).stderr;
    assert!(
        printed.contains("to 5 labelled rows") && printed.contains("skipped 1 unlabelled row"),
        "{printed}"
    );
    dir.misused(
        &format!("tally gold.csv {panel} --marginals --unlabelled more.csv -o out"),
        "--marginals has no counts of unlabelled rows, so --unlabelled cannot be used with it",
    );
    let compared = dir.done(&format!("compare gold.csv {panel} --no-curve --unlabelled none"));
    assert!(!compared.stdout.contains("fitted also to"), "{}", compared.stdout);
    assert_eq!(compared.stderr, "skipped 1 unlabelled row\n");
}

#[test]
fn tallies_of_sites_add_up_to_the_tally_of_all_rows_with_and_without_truth() {
    let dir = dir();
    dir.write("pooled.csv", format!("{GOLD}7,dog,dog,cat,\n8,cat,,dog,\n"));
    dir.write("south.csv", "truth,eve,item,bob,ann\n,cat,7,dog,dog\n,dog,8,,cat\n");
    let tally = |name: &str| {
        dir.done(&format!("tally {name}.csv --label truth --id item -o {name}.tally"));
        dir.read(&format!("{name}.tally"))
    };
    let (pooled, _, _) = (tally("pooled"), tally("gold"), tally("south"));
    for order in ["gold.tally south.tally", "south.tally gold.tally"] {
        let merged = dir.done(&format!("merge {order} -o all.tally"));
        assert!(
            merged.stderr.starts_with("merged 2 tallies: 5 labelled and 3 unlabelled rows, 3 classifiers\n")
        );
        assert_eq!(dir.read("all.tally"), pooled, "{order}");
    }
    dir.done("tally gold.csv --label truth --id item --unlabelled south.csv -o both.tally");
    assert_eq!(dir.read("both.tally"), pooled);
    dir.done("fit all.tally -o merged.spocc");
    dir.done("fit pooled.csv --label truth --id item -o pooled.spocc");
    assert_eq!(dir.read("merged.spocc"), dir.read("pooled.spocc"));
    // A table that a database has grouped.
    dir.write(
        "grouped.csv",
        "ann,bob,eve,truth,n\n\
         cat,cat,dog,cat,2\ncat,dog,dog,,3\ndog,dog,,dog,1\n",
    );
    dir.write(
        "rows.csv",
        "ann,bob,eve,truth\n\
         cat,dog,dog,\ncat,cat,dog,cat\ncat,dog,dog,\ndog,dog,,dog\ncat,cat,dog,cat\ncat,dog,dog,\n",
    );
    dir.done("tally grouped.csv --label truth --count n -o grouped.tally");
    dir.done("tally rows.csv --label truth -o rows.tally");
    assert_eq!(dir.read("grouped.tally"), dir.read("rows.tally"));
}

#[test]
fn a_sample_of_many_patterns_is_said_and_does_not_depend_on_the_parts() {
    let dir = TestDir::new();
    let names: Vec<String> = (0..18).map(|k| format!("c{k}")).collect();
    let header = format!("truth,{}\n", names.join(","));
    let row = |t: usize| {
        let cells: Vec<&str> = (0..18).map(|k| if t >> k & 1 == 0 { "n" } else { "y" }).collect();
        let truth = if t.is_multiple_of(4000) { cells[0] } else { "" };
        format!("{truth},{}\n", cells.join(","))
    };
    let table = |rows: std::ops::Range<usize>| rows.fold(header.clone(), |table, t| table + &row(t));
    dir.write("all.csv", table(0..80_000));
    dir.write("a.csv", table(0..70_000));
    dir.write("b.csv", table(70_000..80_000));
    let printed = dir.done("tally all.csv --label truth -o all.tally").stderr;
    let sample = "note: of the unlabelled rows a sample is kept: 65536 distinct patterns of predictions, chosen by hash\n";
    let counted = "counted 20 labelled and 79980 unlabelled rows: \
                   18 classifiers, 20 patterns with and 65536 without a true label\n";
    assert!(printed.starts_with(&format!("{counted}{sample}")), "{printed}");
    dir.done("tally a.csv --label truth -o a.tally");
    dir.done("tally b.csv --label truth -o b.tally");
    assert!(dir.done("merge b.tally a.tally -o merged.tally").stderr.contains(sample));
    assert_eq!(dir.read("merged.tally"), dir.read("all.tally"));
    let shown = dir.done("inspect all.tally").stdout;
    assert!(shown.contains("65536 without a true label, a sample\n"), "{shown}");
}
