"""The examples run, quickly, and print the expected results."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def printed(name: str) -> str:
    # Threads of numpy's own would only wait for each other in tables this small.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-P", "-W", "error", str(EXAMPLES / name)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def share(text: str, line: str) -> list[float]:
    """The percentages in a line that begins so."""
    found = re.search(rf"^\s*{re.escape(line)}\s.*$", text, re.MULTILINE)
    assert found is not None, text
    return [float(number) for number in re.findall(r"([\d.]+)%", found.group())]


def test_all_examples_are_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {"federated.py", "judges.py", "voting.py"}


def test_the_audit_of_judges_finds_copies_and_adversaries() -> None:
    text = printed("judges.py")
    assert text.count("copy of quick") == 2
    assert re.search(r"^hostile .* adversary", text, re.MULTILINE)
    assert re.search(r"^wordy .* guesser", text, re.MULTILINE)
    assert share(text, "ladder")[0] > share(text, "dawid-skene")[0] > share(text, "majority")[0]


def test_an_ensemble_replaces_a_vote() -> None:
    text = printed("voting.py")
    vote, ensemble = share(text, "VotingClassifier(estimators)"), share(text, "SpoccEnsemble(estimators)")
    assert ensemble[0] > vote[0]
    assert ensemble[1] > vote[1] + 30
    assert text.count("copy of small-") == 5


def test_sites_that_share_counts_have_the_model_of_all_rows() -> None:
    text = printed("federated.py")
    assert "has the same bytes" in text
    assert share(text, "together")[0] > max(
        share(text, f"{site} alone")[0] for site in ("north", "south", "west")
    )
