"""User-level functions: promotion and broadcasting over the primitives, one file per family."""

from tenferro.array.functions import (  # filling the table of covered functions is why
    assignment as assignment,
    broadcasting as broadcasting,
    editing as editing,
    exchange as exchange,
    joining as joining,
    looking as looking,
    methods as methods,
    padding as padding,
    rearranging as rearranging,
    splitting as splitting,
    taking as taking,
    writing as writing,
)
