"""Seeker posts that a classifier was not trained on, drawn as a set of prompts.

Whoever scores answers to posts that the classifier has learnt from scores what it remembers. So the
posts come from the test part of the very split that it was trained with.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from xling_tasks.errors import DataError
from xling_tasks.models.empathy.data import EmpathyData, Pair, Profile, digest_of, split


class Post(NamedTuple):
    """A seeker post.

    Attributes:
        id: `epitome-` and ten hexadecimal digits of its group's name.
        text: The post.
        shown: Which mechanisms any of its responses has; what the draw is stratified by.
    """

    id: str
    text: str
    shown: Profile


def held_out(data: EmpathyData, seed: int) -> list[Post]:
    """Every seeker post of the test part, in the order of the data."""
    groups: dict[str, list[Pair]] = {}
    for index in split(data.pairs, seed).test:
        groups.setdefault(data.pairs[index].group, []).append(data.pairs[index])
    return [
        Post(
            f"epitome-{digest_of(group)[:10]}",
            pairs[0].seeker,
            (
                any(pair.present[0] for pair in pairs),
                any(pair.present[1] for pair in pairs),
                any(pair.present[2] for pair in pairs),
            ),
        )
        for group, pairs in groups.items()
    ]


def draw(posts: list[Post], n: int, seed: int) -> list[Post]:
    """N posts, each stratum of `shown` in proportion (largest remainders), ordered by id.

    Raises:
        DataError: If there are fewer than n.
    """
    if n > len(posts):
        raise DataError(f"--n {n}: the test part has {len(posts)} seeker posts")
    sizes = Counter(post.shown for post in posts)
    exact = {stratum: n * size / len(posts) for stratum, size in sizes.items()}
    quota = {stratum: int(share) for stratum, share in exact.items()}
    rest = sorted(exact, key=lambda stratum: (quota[stratum] - exact[stratum], stratum))
    for stratum in rest[: n - sum(quota.values())]:
        quota[stratum] += 1
    chosen: list[Post] = []
    for stratum, size in quota.items():
        own = [post for post in posts if post.shown == stratum]
        chosen += sorted(own, key=lambda post: digest_of(seed, post.id))[:size]
    return sorted(chosen)
