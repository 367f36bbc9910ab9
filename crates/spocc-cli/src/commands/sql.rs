//! `spocc sql`: an SQL query that groups a table inside its database.

use std::collections::HashSet;

use clap::error::ErrorKind;

use crate::{
    args::{Dialect, SqlArgs, usage},
    error::Error,
    report,
};

/// Prints the query.
///
/// # Errors
///
/// [`Error::Usage`] for two columns of one name, [`Error::Table`] if standard output cannot be written.
pub(crate) fn sql(args: &SqlArgs) -> Result<(), Error> {
    let mut seen = HashSet::new();
    let mut names = args.classifiers.0.iter().chain([&args.label, &args.count]);
    if let Some(twice) = names.find(|name| !seen.insert(name.as_str())) {
        let message = format!("the query would have two columns `{twice}`");
        return Err(usage("sql", ErrorKind::ArgumentConflict, &message).into());
    }
    report::print_exactly(&query(args))
}

fn query(args: &SqlArgs) -> String {
    let quote = |name: &str| quoted(args.dialect, name);
    let table: Vec<String> = args.table.split('.').map(quote).collect();
    let label = quote(&args.label);
    let column = |name: &String| match (args.dialect, quote(name)) {
        // Snowflake returns unquoted names in capitals; the alias restores the spelling.
        (Dialect::Snowflake, plain) if !plain.starts_with('"') => format!("{plain} AS \"{name}\""),
        (_, quoted) => quoted,
    };
    let columns: Vec<String> = args.classifiers.0.iter().chain([&args.label]).map(column).collect();
    // Column numbers mean the same in every dialect and need no quoting.
    let numbers: Vec<String> = (1..=columns.len()).map(|number| number.to_string()).collect();
    let labelled = args.unlabelled.as_ref().map_or(String::new(), |_| format!("WHERE {label} IS NOT NULL\n"));
    format!(
        "SELECT {},\n       COUNT(*) AS {}\nFROM {}\n{labelled}GROUP BY {}\nORDER BY {};\n",
        columns.join(",\n       "),
        quote_always(args.dialect, &args.count),
        table.join("."),
        numbers.join(", "),
        numbers.join(", "),
    )
}

/// A name, quoted for the dialect.
fn quoted(dialect: Dialect, name: &str) -> String {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_plain = name.bytes().all(is_word) && !name.starts_with(|first: char| first.is_ascii_digit());
    // Snowflake stores unquoted names in capitals; a quoted name in lower case would not match.
    if dialect == Dialect::Snowflake && is_plain && !name.is_empty() {
        return name.to_owned();
    }
    quote_always(dialect, name)
}

fn quote_always(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Duckdb | Dialect::Snowflake | Dialect::Postgres => {
            format!("\"{}\"", name.replace('"', "\"\""))
        }
        Dialect::Spark => format!("`{}`", name.replace('`', "``")),
        Dialect::Bigquery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(dialect: Dialect) -> SqlArgs {
        SqlArgs {
            label: "the \"truth\"".to_owned(),
            classifiers: "ann,b`ob".parse().expect("names"),
            table: "lab.answers".to_owned(),
            count: "n".to_owned(),
            unlabelled: None,
            dialect,
        }
    }

    #[test]
    fn names_are_quoted_for_each_dialect() {
        let duckdb = "\
SELECT \"ann\",
       \"b`ob\",
       \"the \"\"truth\"\"\",
       COUNT(*) AS \"n\"
FROM \"lab\".\"answers\"
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3;
";
        assert_eq!(query(&args(Dialect::Duckdb)), duckdb);
        assert_eq!(query(&args(Dialect::Postgres)), duckdb);
        let snowflake = query(&args(Dialect::Snowflake));
        assert!(snowflake.starts_with("SELECT ann AS \"ann\",\n       \"b`ob\",\n"), "{snowflake}");
        let labelled = query(&SqlArgs { unlabelled: Some("none".to_owned()), ..args(Dialect::Snowflake) });
        assert!(
            labelled.contains("FROM lab.answers\nWHERE \"the \"\"truth\"\"\" IS NOT NULL\nGROUP"),
            "{labelled}"
        );
        assert!(query(&args(Dialect::Spark)).contains("`b``ob`,\n       `the \"truth\"`,"));
        assert!(query(&args(Dialect::Bigquery)).contains("`b\\`ob`"));
    }
}
