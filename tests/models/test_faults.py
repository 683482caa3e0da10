"""The quick form of `python -m tests.faults services`: every role under every fault at once."""

from __future__ import annotations

import pytest
from faults import services
from faults.server import WORDS

pytestmark = pytest.mark.usefixtures("short_waits")


@pytest.mark.parametrize("role", services.ROLES)
def test_mixed_faults_cost_no_reply(role, monkeypatch):
    monkeypatch.setattr(services, "CALLS", 120)
    kinds = [kind for kind in services.KINDS if kind not in ("time-out", *WORDS)]
    with services.service(kinds, 0.2, 0.0) as url:
        outcome = services.ROLES[role](url)
        stats = services.told(url)
    assert outcome == services.Found(unscored=0, wrong=0)
    assert stats["replies"] == 120 and stats["twice"] == 0
    # Nothing but what failed is asked again, and a judge greets its server first, if at all.
    assert 0 <= stats["requests"] - 120 - sum(stats["faults"].values()) <= 1
    assert sum(stats["faults"].values()) > 10 and len(stats["faults"]) > 6


@pytest.mark.parametrize("role", ["translator", "model"])
def test_trouble_in_several_languages_is_never_an_answer(role, monkeypatch):
    """Also where the second reply is trouble in another language."""
    monkeypatch.setattr(services, "CALLS", 200)
    with services.service(list(WORDS)[:4], 0.4, 0.0) as url:
        outcome = services.ROLES[role](url)
        stats = services.told(url)
    assert outcome.wrong == 0 and outcome.unscored <= 200 * 0.4 * 0.4 * 1.5
    assert min(stats["faults"].values()) > 10, stats
    assert stats["twice"] == 0, stats
