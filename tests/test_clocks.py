"""Alarms of tests beside pytest-timeout, which has the same timer."""

import signal
import subprocess
import sys

from clocks import alarms
from runtimes import LIMIT_S, ROOT, clean_environment


def test_who_had_the_timer_has_it_again():
    answer, answered = (lambda *_: None), []
    kept = signal.setitimer(signal.ITIMER_REAL, 0)
    before = signal.signal(signal.SIGALRM, answer)
    try:
        signal.setitimer(signal.ITIMER_REAL, 50)
        with alarms(lambda *_: answered.append(1)):
            assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
            signal.raise_signal(signal.SIGALRM)
        assert answered == [1]
        assert signal.getsignal(signal.SIGALRM) is answer
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 50
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *kept)


HANGING = """
import signal, sys, time
sys.path.insert(0, "tests")
from clocks import alarms

signal.setitimer(signal.ITIMER_REAL, 1.0)
with alarms(lambda *_: None):
    time.sleep(600)
"""


def test_what_hangs_meanwhile_is_ended_and_told():
    done = subprocess.run(
        [sys.executable, "-c", HANGING],
        env=clean_environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Timeout (")
    assert 'File "<string>", line 8 in <module>' in done.stderr
