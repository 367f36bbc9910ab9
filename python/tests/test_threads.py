"""Long work lets others run, can be stopped, and says how far it is."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import spocc

from panels import make_panel


def test_python_runs_on_while_a_fit_works() -> None:
    predictions, truth = make_panel(20_000, 12, 6)
    counts, done = [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    time.sleep(0.05)
    before, start = counts[0], time.perf_counter()
    spocc.fit(predictions, truth, "adaspocc")
    seconds, counted = time.perf_counter() - start, counts[0] - before
    done.set()
    counter.join()
    # A held interpreter would let it count once or twice, whatever the time.
    assert counted > 3
    assert counted > seconds * 20


def test_two_threads_fit_at_once_and_alike() -> None:
    predictions, truth = make_panel(20_000, 12, 6)
    evidence = spocc.Evidence(predictions, truth)
    # Neither call continues before both have started.
    both = threading.Barrier(2, timeout=60)
    models: list[spocc.Model] = []

    def work() -> None:
        met: list[int] = []

        def meet(stage: str, done: int, total: int) -> None:
            if not met:
                met.append(both.wait())

        models.append(spocc.fit(evidence, method="adaspocc", progress=meet))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(models) == 2
    assert models[0] == models[1]


def test_a_row_is_decided_while_a_long_fit_works() -> None:
    predictions, truth = make_panel(60_000, 24, 8)
    model = spocc.fit(predictions[:500], truth[:500], "naive-bayes")
    evidence = spocc.Evidence(predictions, truth)
    begun, decided, is_late = threading.Event(), threading.Event(), threading.Event()

    def reported(stage: str, done: int, total: int) -> None:
        begun.set()
        if decided.is_set():
            raise LookupError("enough")

    def work() -> None:
        with contextlib.suppress(LookupError):
            spocc.fit(evidence, method="stacking", progress=reported)
            is_late.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(60)
    assert model.predict(predictions[:1]).shape == (1,)
    assert model.predict(predictions[:5000]).shape == (5000,)
    decided.set()
    thread.join()
    assert not is_late.is_set()


def test_a_progress_function_may_itself_fit() -> None:
    predictions, truth = make_panel(20_000, 12, 6)
    inner: list[spocc.Model] = []

    def fit_again(stage: str, done: int, total: int) -> None:
        if not inner:
            inner.append(spocc.fit(predictions, truth, "adaspocc"))

    assert spocc.fit(predictions, truth, "adaspocc", progress=fit_again) == inner[0]


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_stops_a_long_fit() -> None:
    script = textwrap.dedent("""
        import numpy as np, spocc
        rng = np.random.default_rng(0)
        truth = rng.integers(0, 8, 60_000)
        guesses = rng.integers(0, 8, (60_000, 24))
        predictions = np.where(rng.random((60_000, 24)) < 0.5, truth[:, None], guesses)
        evidence = spocc.Evidence(predictions, truth)
        print("ready", flush=True)
        try:
            spocc.fit(evidence, method="stacking")
            print("finished", flush=True)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.stdout.read() == "stopped\n"
    assert child.returncode == 0


def test_progress_is_reported_and_may_stop_the_call() -> None:
    predictions, truth = make_panel(20_000, 12, 6)
    reported: list[tuple[str, int, int]] = []
    spocc.fit(predictions, truth, "adaspocc", progress=lambda *at: reported.append(at))
    assert reported
    assert all(stage and 0 <= done <= total for stage, done, total in reported)

    def stop(stage: str, done: int, total: int) -> None:
        raise LookupError(stage)

    with pytest.raises(LookupError):
        spocc.fit(predictions, truth, "adaspocc", progress=stop)


def test_a_bar_needs_only_progress_true(capsys: pytest.CaptureFixture[str]) -> None:
    predictions, truth = make_panel(20_000, 12, 6)
    with_bar = spocc.fit(predictions, truth, "adaspocc", progress=True)
    assert with_bar == spocc.fit(predictions, truth, "adaspocc")
    assert capsys.readouterr().out == ""


def _fit_in_child(queue: multiprocessing.Queue[bytes]) -> None:
    queue.put(spocc.fit(*make_panel(20_000), method="adaspocc").to_bytes())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_its_own_threads() -> None:
    expected = spocc.fit(*make_panel(20_000), method="adaspocc").to_bytes()
    context = multiprocessing.get_context("fork")
    queue: multiprocessing.Queue[bytes] = context.Queue()
    child = context.Process(target=_fit_in_child, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=60) == expected
    finally:
        child.kill()
        child.join()


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted as Linux lists them")
def test_a_few_rows_start_no_thread(tmp_path: Path) -> None:
    predictions, truth = make_panel(2_000)
    spocc.fit(predictions, truth, calibrate="split").save(tmp_path / "model")
    code = """
        import os, sys
        import numpy as np
        import spocc

        model = spocc.load_model(sys.argv[1])
        rows = np.zeros((20, len(model.classifiers)), dtype=np.int64)

        def decide():
            model.predict(rows), model.predict_proba(rows), model.decide(rows)
            model.explain(rows), model.predict_set(rows)

        before = len(os.listdir("/proc/self/task"))
        decide()
        after = len(os.listdir("/proc/self/task"))
        # A forked child would wait for ever for threads that it does not have.
        if (child := os.fork()) == 0:
            decide()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(before, after)
    """
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code), str(tmp_path / "model")]
    before, after = subprocess.run(
        command, check=True, timeout=60, capture_output=True, text=True
    ).stdout.split()
    assert before == after


def test_a_table_above_the_memory_limit_is_refused() -> None:
    rng = np.random.default_rng(0)
    predictions = rng.integers(0, 200, (1000, 30))
    with pytest.raises(spocc.SpoccError, match="expected at most 1000 bytes of memory"):
        spocc.fit(predictions, predictions[:, 0], "adaspocc", memory=1000)
