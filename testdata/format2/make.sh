#!/usr/bin/env bash
# Wrote every file of this folder once, with the `spocc` command of version 0.1.0. The files are fixed: run this again
# only to add files for a new version of the format, in a folder of its own.
set -euo pipefail
cd "$(dirname "$0")"
spocc=${SPOCC:?the command to write the files with}

python3 - <<'PY'
import random

random.seed(2)
classes = ["ant", "bee", "cow"]


def table(name, first, n, with_truth):
    lines = ["item,a,b,c,d,e" + (",weight,truth" if with_truth else "")]
    for item in range(first, first + n):
        truth = random.choice(classes)
        right = lambda p: truth if random.random() < p else random.choice(classes)
        a, b, d = right(0.8), right(0.6), right(0.7)
        c = a if random.random() < 0.9 else random.choice(classes)
        e = classes[(classes.index(truth) + 1) % 3] if random.random() < 0.8 else random.choice(classes)
        cells = [x if random.random() < 0.85 else "" for x in (a, b, c, d, e)]
        more = [random.choice(["0.5", "1", "2.25"]), truth] if with_truth else []
        lines.append(",".join([str(item), *cells, *more]))
    open(name, "w").write("\n".join(lines) + "\n")


table("gold.csv", 1, 60, True)
table("new.csv", 101, 40, False)
PY

# A model file, slim or not, with its decisions (and sets, where it has conformal scores).
model() {
    local name=$1 sets=()
    shift
    "$spocc" fit gold.csv --label truth --id item --classifiers a,b,c,d,e "$@" -o "$name.spocc"
    [[ $name != *.conformal* ]] || sets=(--coverage 0.8)
    "$spocc" predict "$name.spocc" new.csv --id item "${sets[@]}" -o "$name.csv"
}

for method in ladder spocc adaspocc selection majority weighted-vote exp-vote naive-bayes bayes stacking dawid-skene; do
    model "$method" --method "$method"
    model "$method.slim" --method "$method" --slim
    model "$method.conformal" --method "$method" --calibrate split
done
model ladder.conformal-cross-per-class --calibrate cross --per-class
model ladder.unlabelled --unlabelled new.csv
model ladder.class-weight --class-weight balanced
model naive-bayes.symbol --method naive-bayes --missing symbol
model majority.random --method majority --ties random --seed 7
model spocc.classes --method spocc --classes cow,bee,ant

# Evidence; pair counts have no option of the command, and were written by the engine (`Level::Pairs`).
tally() {
    local name=$1
    shift
    "$spocc" tally gold.csv --label truth --id item "$@" -o "$name.tally"
}
tally tally --classifiers a,b,c,d,e
tally marginals --classifiers a,b,c,d,e --marginals
tally weighted --classifiers a,b,c,d,e --weight weight
tally classes --classifiers a,b,c,d,e --classes cow,bee,ant
