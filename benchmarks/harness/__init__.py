"""Runs workloads by the rules of measurement; knows no workload.

`workload` says what one is, `statistics` what a time counts, `compare` which results are the same,
`measure` runs contestants by turns in one process, `worker` is that process, `launch` starts it,
`report` prints and `page` writes `docs/benchmarks.md`.
"""
