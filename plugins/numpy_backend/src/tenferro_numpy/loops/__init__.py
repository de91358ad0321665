"""NumPy's lowering of loops, branches and checkpoints: their plans, their source, their calls.

`loop_expression` in `run.py` is where `planner.py` asks for one. Read in this order: `run.py`,
`plan.py`, `source.py`.
"""
