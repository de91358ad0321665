"""``fission``: what no later step reads is computed for all steps of a loop at once.

Read in this order: ``parts`` (which equations of a step leave the loop), ``smaller`` (what is left
of it), ``bounds`` and ``chains`` (products that are joined before), ``unswitch`` (a choice among
loops), ``split`` (the equations before and behind it).
"""
