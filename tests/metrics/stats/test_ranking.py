"""Points, and Kendall's tau: literals, and parity with scipy."""

from __future__ import annotations

from statistics import fmean

import pytest
from scipy.stats import kendalltau, linregress
from xling_metrics.stats.ranking import points, pooled_agreement, score_points

pytestmark = pytest.mark.filterwarnings("error")


def test_points():
    assert points([1, 2, 3, 4, 5, 6]) == [6, 5, 4, 3, 2, 1]
    assert points([3, 1, 2]) == [1, 3, 2]
    assert points([1]) == [1] and points([]) == []
    assert score_points([0.9, 0.1, 0.5]) == [3, 1, 2]
    assert score_points([0.5, 0.5, 0.1]) == [2.5, 2.5, 1]
    assert score_points([0.0, 0.0]) == [1.5, 1.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pooled_agreement([1.0, float("nan")], [1, 2]), "finite"),
        *(
            (lambda ranks=ranks: points(ranks), "each once")
            for ranks in ([1, 1, 3], [0, 1, 2], [1, 3], [2])
        ),
    ],
)
def test_what_is_no_ranking_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_published_agreement_comes_out_of_the_published_ratings():
    """Six models in six languages: GPT-4 (Table 14) against people (Table 15) is 0.555."""
    from xling_tasks.data.published import published

    def ratings(table):
        return {(f.model, f.language): f.value for f in published(source="mmedbench", table=table)}

    judge, people = ratings("Table 14"), ratings("Table 15")
    keys = [key for key in people if key[1] != "avg"]
    assert len(keys) == 36 and keys == [key for key in judge if key[1] != "avg"]
    agreement = pooled_agreement([people[key] for key in keys], [judge[key] for key in keys])
    (printed,) = published(source="mmedbench", metric="kendall_tau_gpt4_relative_rating")
    assert agreement.tau == pytest.approx(printed.value, abs=0.0005) and agreement.n == 36
    assert agreement.tau == pytest.approx(0.5551, abs=5e-5)
    # The mean of the six languages' taus is another number.
    by_language = [
        kendalltau(*([side[key] for key in keys if key[1] == code] for side in (people, judge)))
        for code in dict.fromkeys(code for _, code in keys)
    ]
    assert fmean(tau.statistic for tau in by_language) == pytest.approx(0.501, abs=0.0005)
    line = linregress([judge[key] for key in keys], [people[key] for key in keys])
    assert agreement.slope == pytest.approx(line.slope)


def test_pooled_agreement_by_hand_and_undefined():
    # Pairs (1,1) (2,3) (3,2): two concordant, one discordant: 1/3. Slope: cov 1/3 over var 2/3.
    agreement = pooled_agreement([1, 2, 3], [1, 3, 2])
    assert agreement == pytest.approx((1 / 3, 0.5, 3))
    assert pooled_agreement([1, 1], [1, 2]) == (None, None, 2)
    assert pooled_agreement([], []) == (None, None, 0)
