"""Writes the first cases of the table targets into fuzz/corpus; needs pyarrow (python/requirements.txt)."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather, ipc

CORPUS = Path(__file__).parent / "corpus"

TABLE = pa.table(
    {
        "truth": ["cat", "dog", None, "cat"],
        "ann": pa.array(["cat", "dog", "dog", None]).dictionary_encode(),
        "n": pa.array([1, 2, None, 70000], pa.int32()),
        "x": [1.0, None, 2.5, float("nan")],
        "yes": [True, False, None, True],
    }
)

TEXTS = {
    "wide.csv": 'truth,ann,"b,c"\ncat,cat,dog\n"do""g",,NA\n\ncat,"a\nb",1.0\n',
    "crlf.tsv": "\ufefftruth\tann\r\n1\t1.0\r\n0\t\r\n",
    "semicolon.csv": "a;b;c\n1,5;2;3\n",
    "ragged.csv": "a,b\n1\n1,2,3\n",
    "bar.txt": "a|b\nx|y\n",
}

LABELS = {
    "labels": "cat\nCat\n1\n1.0\n-0\n1e3\n$1,000\n50%\ntrue\nTRUE\n\0\n\0x",
    "numbers": "123456789012345678901234567890\n0.1\n-1.50\n1e308\n1e-320\ninf\nnan\n007",
    "texts": "  New   York. \n\u201cnew york\u201d\n\u0130\n\u00df\nSS\n",
}


def main() -> None:
    for name, text in TEXTS.items():
        (CORPUS / "text" / name).write_bytes(text.encode())
    packed = gzip.compress(TEXTS["wide.csv"].encode(), mtime=0)
    (CORPUS / "text" / "wide.csv.gz").write_bytes(packed)
    for name, text in LABELS.items():
        (CORPUS / "labels" / name).write_bytes(text.encode())
    for codec in ("none", "snappy", "zstd", "gzip"):
        path = CORPUS / "parquet" / f"{codec}.parquet"
        pq.write_table(TABLE, path, compression=codec, store_schema=codec == "none")
    for codec in ("uncompressed", "lz4", "zstd"):
        feather.write_feather(TABLE, CORPUS / "arrow" / f"{codec}.arrow", compression=codec)
    with ipc.new_stream(CORPUS / "arrow" / "stream.arrows", TABLE.schema) as stream:
        stream.write_table(TABLE, max_chunksize=2)


if __name__ == "__main__":
    main()
