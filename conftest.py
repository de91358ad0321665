"""Property tests draw the same examples at every run; `HYPOTHESIS_PROFILE=fuzz` draws fresh ones.

What a fresh example finds is added to its test as a named one (`@example`). Tests say how many
examples they draw and nothing of how: the two profiles are the only place.
"""

import os

try:
    import hypothesis
except ImportError:  # environments of one distribution have no property tests
    hypothesis = None

if hypothesis is not None:
    every = list(hypothesis.HealthCheck)
    hypothesis.settings.register_profile(
        "same", derandomize=True, database=None, deadline=None, suppress_health_check=every
    )
    hypothesis.settings.register_profile(
        "fuzz", derandomize=False, deadline=None, print_blob=True, suppress_health_check=every
    )
    hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
