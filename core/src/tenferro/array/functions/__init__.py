"""User-level functions: promotion and broadcasting over the primitives, one file per family."""

# every family fills the table of covered functions
from tenferro.array.functions import assignment as assignment
from tenferro.array.functions import bitwise as bitwise
from tenferro.array.functions import broadcasting as broadcasting
from tenferro.array.functions import comparison as comparison
from tenferro.array.functions import contraction as contraction
from tenferro.array.functions import creation as creation
from tenferro.array.functions import cumulative as cumulative
from tenferro.array.functions import editing as editing
from tenferro.array.functions import elementwise as elementwise
from tenferro.array.functions import exchange as exchange
from tenferro.array.functions import floating as floating
from tenferro.array.functions import hyperbolic as hyperbolic
from tenferro.array.functions import joining as joining
from tenferro.array.functions import looking as looking
from tenferro.array.functions import methods as methods
from tenferro.array.functions import moments as moments
from tenferro.array.functions import nan_functions as nan_functions
from tenferro.array.functions import padding as padding
from tenferro.array.functions import quantiles as quantiles
from tenferro.array.functions import ranges as ranges
from tenferro.array.functions import rearranging as rearranging
from tenferro.array.functions import rounding as rounding
from tenferro.array.functions import searching as searching
from tenferro.array.functions import sets as sets
from tenferro.array.functions import sorting as sorting
from tenferro.array.functions import splitting as splitting
from tenferro.array.functions import taking as taking
from tenferro.array.functions import triangles as triangles
from tenferro.array.functions import trigonometric as trigonometric
from tenferro.array.functions import writing as writing
