"""stats: a few honest numbers about few runs.

An effect between two sides is called real when the means differ by more than two pooled standard
deviations [facts 9]. Figures that come out the same on every run have deviation 0: then any
difference is real.
"""
import math


def mean(values):
    return sum(values) / len(values)


def sd(values):
    """Sample standard deviation; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    m = mean(values)
    return math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - 1))


def cov(values):
    """Coefficient of variation."""
    m = mean(values)
    return sd(values) / abs(m) if m else 0.0


def pooled_sd(a, b):
    n = len(a) + len(b) - 2
    if n <= 0:
        return 0.0
    return math.sqrt(((len(a) - 1) * sd(a) ** 2 + (len(b) - 1) * sd(b) ** 2) / n)


def real(a, b):
    """Do the sides differ, beyond what the spread of the runs explains?"""
    return abs(mean(a) - mean(b)) > 2 * pooled_sd(a, b)


def percentile(hist, percent):
    """The smallest length such that `percent` of all entries of {length: count} are not above it."""
    total = sum(hist.values())
    if not total:
        return None
    need, seen = total * percent / 100, 0
    for length in sorted(hist):
        seen += hist[length]
        if seen >= need:
            return length
    return max(hist)


def hist_mean(hist):
    total = sum(hist.values())
    return sum(length * n for length, n in hist.items()) / total if total else None
