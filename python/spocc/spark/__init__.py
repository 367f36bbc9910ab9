"""Spark: partitions are counted on the workers, the model is fitted on the driver, partitions are decided.

Counts of partitions add up exactly, so a model has the same bytes as that of a local fit on the same rows.
Sessions may be classic ones or those of Spark Connect. Needs pyspark and pyarrow
(``pip install 'spocc[spark]'``), and spocc on every worker.

Examples
--------
>>> from spocc.spark import fit, predict
>>> rows = [("cat", "cat", "dog"), ("dog", "dog", "cat"), ("cat", "dog", "dog"), ("dog", "dog", "cat")]
>>> df = spark.createDataFrame([(*row, row[0]) for row in rows], ["ann", "bob", "eve", "truth"])
>>> model = fit(df, "truth", method="adaspocc")
>>> model
Model(adaspocc, 3 classifiers, 2 classes: cat, dog; fitted to 4 rows)
>>> new = spark.createDataFrame([(7, None, "dog", "cat")], "item long, ann string, bob string, eve string")
>>> predict(new, model).show()
+----+----+---+---+--------+
|item| ann|bob|eve|decision|
+----+----+---+---+--------+
|   7|NULL|dog|cat|     dog|
+----+----+---+---+--------+
<BLANKLINE>
"""

try:
    import pyarrow  # noqa: F401
    import pyspark.sql  # noqa: F401
except ImportError as error:
    raise ImportError("spocc.spark: expected pyspark and pyarrow: pip install 'spocc[spark]'") from error

from spocc.spark._evidence import evidence
from spocc.spark._fit import compare, fit
from spocc.spark._predict import Column, predict, predict_set

__all__ = ["Column", "compare", "evidence", "fit", "predict", "predict_set"]
