"""Writes tests/fixtures/statistics.json: intervals, tests and pass@k by SciPy, statsmodels and exact fractions.

Needs scipy and statsmodels (scripts/requirements-fixtures.txt).
Run from the repository's root: python scripts/make-statistics-fixtures.py
"""

import itertools
import json
from math import comb
from pathlib import Path

import numpy as np
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

RANDOM = np.random.default_rng(7)


def wilson(solved, count):
    low, high = proportion_confint(solved, count, alpha=0.05, method="wilson")
    return {"solved": solved, "count": count, "low": float(low), "high": float(high)}


def mean(count):
    values = np.round(RANDOM.normal(0.3, 1.0, count), 3)
    interval = stats.t.interval(0.95, count - 1, loc=values.mean(), scale=stats.sem(values))
    return {"values": values.tolist(), "value": float(values.mean()), "low": float(interval[0]), "high": float(interval[1])}


def paired(count):
    first = np.round(RANDOM.normal(0.3, 1.0, count), 3)
    second = np.round(first + RANDOM.normal(0.4, 0.8, count), 3)
    result = stats.ttest_rel(second, first)
    interval = result.confidence_interval(0.95)
    return {
        "first": first.tolist(),
        "second": second.tolist(),
        "value": float((second - first).mean()),
        "low": float(interval.low),
        "high": float(interval.high),
        "p": float(result.pvalue),
    }


def sign(gained, lost):
    p = mcnemar([[20, lost], [gained, 30]], exact=True).pvalue
    return {"gained": gained, "lost": lost, "p": float(p)}


def pass_at_k(samples, solved, k):
    """By its definition: the share of the subsets of k samples that have a solved one."""
    if samples <= 8:
        subsets = list(itertools.combinations([1] * solved + [0] * (samples - solved), k))
        value = sum(any(one) for one in subsets) / len(subsets)
    else:
        value = 1 - comb(samples - solved, k) / comb(samples, k)
    return {"samples": samples, "solved": solved, "k": k, "value": value}


Path("tests/fixtures/statistics.json").write_text(
    json.dumps(
        {
            "wilson": [wilson(*one) for one in [(0, 1), (1, 1), (0, 20), (20, 20), (3, 7), (129, 300), (997, 1000)]],
            "means": [mean(count) for count in (2, 3, 8, 30, 100)],
            "quantiles": [[freedom, float(stats.t.ppf(0.975, freedom))] for freedom in (1, 2, 5, 30, 299, 10000)],
            "tails": [
                [t, freedom, float(2 * stats.t.sf(t, freedom))] for t in (0.0, 0.3, 2.0, 9.0) for freedom in (1, 7, 500)
            ],
            "paired": [paired(count) for count in (2, 5, 40)],
            "signs": [sign(*one) for one in [(0, 0), (1, 0), (5, 0), (14, 3), (50, 50), (300, 240), (40, 400)]],
            "passAtK": [
                pass_at_k(*one)
                for one in [(1, 0, 1), (1, 1, 1), (4, 1, 2), (8, 2, 4), (8, 0, 8), (8, 5, 4), (200, 3, 100), (64, 1, 32)]
            ],
        },
        indent=1,
    )
    + "\n"
)
