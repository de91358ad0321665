"""Measurements on a GPU: gradients of the workloads, fused chains, and CUDA graphs.

`python tools/gpu_check.py` runs them and stores `benchmarks/results-gpu.json`. Nothing here imports
CuPy: a `Device` says which backend is measured. Read `device.py`, then `gradients.py`.
"""
