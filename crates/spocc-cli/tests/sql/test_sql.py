"""`spocc sql`: a real database groups the rows, and the model is that of the rows themselves.

DuckDB runs the query of every dialect; those that are not its own are read by sqlglot first, which refuses what
is not proper SQL of that dialect. Run by `./check sql`, with the command to be tested in the variable SPOCC.
"""

import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

import duckdb
import sqlglot

SPOCC = os.environ["SPOCC"]

# Names that need quotes, and labels of every type that a database has for them.
CLASSIFIERS = {
    "ann": "VARCHAR",
    "Bob Smith": "VARCHAR",
    'the "old" one': "VARCHAR",
    "b`ob": "VARCHAR",
    "Größe": "VARCHAR",
}
LABEL = "the truth"


def spocc(*arguments: str, cwd: Path) -> str:
    done = subprocess.run([SPOCC, *arguments], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout


def names_for_option(names: list[str]) -> str:
    """Names as `--classifiers` takes them: a quote is doubled inside quotes, as in CSV."""
    return ",".join('"' + name.replace('"', '""') + '"' for name in names)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Sql(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.database = duckdb.connect()
        self.addCleanup(self.database.close)

    def fill(self, types: dict[str, str], labels: list[object], truth_type: str) -> None:
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
        self.database.execute("CREATE SCHEMA lab")
        self.database.execute(f"CREATE TABLE lab.answers (item INTEGER, {columns}, {quoted(LABEL)} {truth_type})")
        dice = random.Random(1)
        slots = ", ".join("?" * (len(types) + 2))
        for item in range(500):
            truth = dice.choice(labels)
            answers = [
                None if dice.random() < 0.1 else truth if dice.random() < 0.7 else dice.choice(labels)
                for _ in types
            ]
            known = None if dice.random() < 0.2 else truth
            self.database.execute(f"INSERT INTO lab.answers VALUES ({slots})", [item, *answers, known])

    def export(self, query: str, name: str) -> None:
        query = query.rstrip().rstrip(";")
        self.database.execute(f"COPY ({query}) TO '{self.folder / name}' (HEADER, DELIMITER ',')")

    def models_agree(self, types: dict[str, str], dialect: str) -> None:
        """A model of the grouped rows has the very bytes of a model of the rows."""
        query = spocc(
            "sql", "--label", LABEL, "--classifiers", names_for_option(list(types)),
            "--table", "lab.answers", "--dialect", dialect, cwd=self.folder,
        )  # fmt: skip
        native = dialect in ("duckdb", "postgres")
        ours = query if native else sqlglot.transpile(query, read=dialect, write="duckdb")[0]
        self.export(ours, "counted.csv")
        self.export("SELECT * FROM lab.answers", "rows.csv")
        counted = (self.folder / "counted.csv").read_text().splitlines()
        self.assertLess(len(counted), 400, "rows were grouped")
        for table, options in [("counted.csv", ["--count", "n"]), ("rows.csv", ["--id", "item"])]:
            spocc("fit", table, "--label", LABEL, *options, "-o", f"{table}.spocc", cwd=self.folder)
        models = [(self.folder / f"{table}.spocc").read_bytes() for table in ("counted.csv", "rows.csv")]
        self.assertEqual(models[0], models[1], dialect)

    def test_every_dialect_groups_rows_with_awkward_names(self) -> None:
        self.fill(CLASSIFIERS, ["yes", "no", "may be", "null and void"], "VARCHAR")
        for dialect in ("duckdb", "postgres", "snowflake", "bigquery", "spark"):
            with self.subTest(dialect=dialect):
                self.models_agree(CLASSIFIERS, dialect)

    def test_numbers(self) -> None:
        self.fill({"a": "INTEGER", "b": "BIGINT", "c": "DOUBLE"}, [0, 1, 2], "INTEGER")
        self.models_agree({"a": "INTEGER", "b": "BIGINT", "c": "DOUBLE"}, "duckdb")

    def test_booleans(self) -> None:
        self.fill({"a": "BOOLEAN", "b": "BOOLEAN"}, [True, False], "BOOLEAN")
        self.models_agree({"a": "BOOLEAN", "b": "BOOLEAN"}, "duckdb")


if __name__ == "__main__":
    unittest.main()
