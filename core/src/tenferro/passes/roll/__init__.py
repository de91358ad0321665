"""``roll``: a long loop that Python unrolled becomes one equation, before it is differentiated.

Read in this order: ``periods`` (where equations repeat), ``steps`` (what one step reads), ``body``
(the closed graph of a step), ``search`` (which stretches become loops), ``loops`` (the loop in
their place).
"""
