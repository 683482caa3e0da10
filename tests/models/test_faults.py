"""The quick form of `python -m tests.faults services`: every role under every fault at once."""

from __future__ import annotations

import json
import urllib.request

import pytest
from faults import services
from faults.server import WORDS


@pytest.mark.parametrize("role", services.ROLES)
def test_mixed_faults_cost_no_reply(role, monkeypatch):
    monkeypatch.setattr(services, "CALLS", 120)
    monkeypatch.setattr(services, "LATENCY", 0.0)
    kinds = [kind for kind in services.KINDS if kind not in ("time-out", *WORDS)]
    with services.service(kinds, 0.2) as url:
        outcome = services.ROLES[role](url)
        stats = json.load(urllib.request.urlopen(f"{url}/stats"))
    assert outcome == services.Found(unscored=0, wrong=0)
    assert stats["replies"] == 120 and stats["twice"] == 0
    assert sum(stats["faults"].values()) > 10
