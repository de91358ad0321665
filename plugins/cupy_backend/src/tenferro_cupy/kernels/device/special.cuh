// Special functions of the compiler's library. Errors in units in the last place, as NVIDIA states
// them for float, double: erf 2, 2 · erfc 4, 5 · erfinv 2, 5.
// Read next: gamma.cuh.

FUNCTION(erf) FUNCTION(erfc) FUNCTION(erfinv)
