#!/usr/bin/env python3
"""Fits and predicts a hundred million rows on Spark, and prints times and memory.

    bench/spark_scale.py                 100 million rows, ten classifiers, five classes
    bench/spark_scale.py --rows 10000000
    bench/spark_scale.py --keep DIR      keep the rows there, or use those of the last run

Spark makes the rows itself and writes them as Parquet; two executors of one core each, processes of their own, count
and decide them; the driver is given a heap of 1 GiB. At the end every model is fitted again without Spark, from the
sum of the files' evidence, and must have the same bytes. Needs `pip install 'spocc[spark]'` and Java 17.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pyarrow.parquet as parquet
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

import spocc
import spocc.spark

T = TypeVar("T")
NAMES = [f"model_{k}" for k in range(10)]
CLASSES = 5
METHODS = ("spocc", "naive-bayes", "adaspocc", "ladder")


def chance(stream: int) -> Column:
    """A number from 0 to 1 that depends on the row and the stream only."""
    return sql.pmod(sql.xxhash64(sql.col("id"), sql.lit(stream)), sql.lit(1 << 20)) / float(1 << 20)


def rows(spark: SparkSession, n: int) -> DataFrame:
    """A realistic panel: rows of varying difficulty, near-copies, an adversary, and a classifier with few predictions."""
    df = spark.range(0, n, 1, 64)
    df = df.withColumn("truth", (chance(0) * chance(1) * CLASSES).cast("int"))
    df = df.withColumn("ease", sql.when(chance(2) < 0.8, 0.995).when(chance(2) < 0.95, 0.85).otherwise(0.5))
    for k, name in enumerate(NAMES):
        alike = (sql.col("truth") + 1) % CLASSES
        anything = (chance(10 * k + 12) * CLASSES).cast("int")
        wrong = sql.when(chance(10 * k + 11) < 0.7, alike).otherwise(anything)
        predicted = sql.when(chance(10 * k + 10) < sql.col("ease"), sql.col("truth")).otherwise(wrong)
        if k in (3, 4, 5):
            predicted = sql.when(chance(10 * k + 13) < 0.98, sql.col(NAMES[2])).otherwise(predicted)
        if k == 8:
            predicted = sql.when(chance(10 * k + 13) < 0.95, alike).otherwise(predicted)
        if k == 9:
            predicted = sql.when(chance(10 * k + 13) < 0.1, predicted)
        df = df.withColumn(name, predicted)
    return df.drop("ease")


def session(scratch: str) -> SparkSession:
    """Two executors of one core each and a driver with little memory."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "2g",
        "spark.local.dir": scratch,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,2048]").appName("spocc at scale")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def timed(what: str, work: Callable[[], T]) -> T:
    """Does it, and says how long it took."""
    began = time.perf_counter()
    result = work()
    print(f"{what:<34} {time.perf_counter() - began:8.1f} s", flush=True)
    return result


def peak_of_jvm(spark: SparkSession) -> float:
    """The most memory that the driver's Java has held, in MiB."""
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    status = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    assert found is not None
    return int(found[1]) / 1024


def local(files: list[Path]) -> spocc.Evidence:
    """The evidence of the same rows without Spark, file after file."""

    def of(file: Path) -> spocc.Evidence:
        table = parquet.read_table(file)
        return spocc.Evidence(table.select(NAMES), table.column("truth"))

    total = of(files[0])
    for file in files[1:]:
        total += of(file)
    return total


def fitting(df: DataFrame, method: str) -> Callable[[], spocc.Model]:
    """A fit to come."""
    return lambda: spocc.spark.fit(df, "truth", NAMES, method)


def deciding(df: DataFrame, model: spocc.Model) -> Callable[[], float]:
    """Decisions to come on all rows: the share that is right."""
    right = sql.avg((sql.col("decision") == sql.col("truth")).cast("int"))
    decided = spocc.spark.predict(df, model).select(right)
    return lambda: float(decided.collect()[0][0])


def main() -> None:
    """Makes rows, fits, decides, compares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**8, metavar="N", help="rows [1e8]")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the rows are kept [nowhere]")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = (given.keep or Path(scratch)) / f"rows-{given.rows}"
        spark = timed("start Spark", lambda: session(scratch))
        if not (folder / "_SUCCESS").exists():
            made = rows(spark, given.rows)
            timed("make the rows", lambda: made.write.mode("overwrite").parquet(str(folder)))
        files = sorted(folder.glob("*.parquet"))
        df = spark.read.parquet(str(folder))
        size = sum(file.stat().st_size for file in files)
        print(f"{df.count()} rows x {len(NAMES)} classifiers, {size / 2**20:.0f} MiB of Parquet")

        models = {method: timed(f"fit {method}", fitting(df, method)) for method in METHODS}
        for method, model in models.items():
            share = timed(f"decide by {method}", deciding(df, model))
            print(f"{'':<34} {100 * share:8.2f} % right")
        print(f"evidence: {models['ladder'].evidence}")
        python = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"most memory of the driver: Python {python:.0f} MiB, Java {peak_of_jvm(spark):.0f} MiB")
        spark.stop()

        # A fit takes from a tally whatever its method needs.
        counted = timed("count without Spark", lambda: local(files))
        for method, model in models.items():
            same = spocc.fit(counted, method=method) == model
            print(f"{method}: {'the same bytes' if same else 'OTHER BYTES'} as without Spark")


if __name__ == "__main__":
    main()
