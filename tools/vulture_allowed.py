"""Names that vulture takes for dead, each with the reason why it is not. Never imported."""

# ruff's B018 and F821 are off for this file: a name here is a statement about a name elsewhere.

# Public, so that users call it.
capabilities  # the Array API's namespace info
default_dtypes  # the Array API's namespace info
max_work  # np.shares_memory's parameter
inverse_indices  # field of the Array API's named tuples
trace_hooks  # of the plugin host, for authors of plugins
url  # field of a plugin's manifest
output_slot  # field of what a resolver returns
to_mermaid  # of a recorded graph
to_dot  # of a recorded graph

# Parameters that NumPy and SciPy have; ours are accepted and change nothing.
subok  # arrays have no subclasses
overwrite_a  # arrays are never written over
overwrite_ab  # arrays are never written over
overwrite_b  # arrays are never written over
overwrite_input  # arrays are never written over
overwrite_qruv  # arrays are never written over
check_finite  # backends check what they must
balanced  # a residual of Riccati's equation is refined instead

# Looked up by name at run time.
logic  # conformance/strategies.py: getattr(self, kind)
augment  # tests/fuzz/programs.py: getattr(self, kind)
on_files  # MkDocs calls it
on_page_markdown  # MkDocs calls it
handle_starttag  # HTMLParser calls it
collect_ignore  # pytest reads it from conftest.py
TIERS  # conftest.py runs tests/tiers.py and takes its names
file_in_tier  # as TIERS
defvjp_is_zero  # tests/of_autograd: autograd's name
defgrad  # tests/of_autograd: autograd's name
getval  # tests/of_autograd: autograd's name
primitive_with_deprecation_warnings  # tests/of_autograd: autograd's name
isbox  # tests/of_autograd: autograd's name
const_graph  # tests/of_autograd: autograd's name
prepare_function  # tests/of_pymanopt: pymanopt calls it
generate_gradient_operator  # tests/of_pymanopt: pymanopt calls it
generate_hessian_operator  # tests/of_pymanopt: pymanopt calls it
tensorflow  # tests/of_pymanopt: pymanopt's name
choose_expressions  # PLAN_PASSES names the planner's methods
fold_constant_masks  # PLAN_PASSES
add_padded_sums  # PLAN_PASSES
assemble_gathers  # PLAN_PASSES
leave_broadcasts_to_readers  # PLAN_PASSES
pick_elements  # PLAN_PASSES
split_short_arrays  # PLAN_PASSES
convert_scalars  # PLAN_PASSES

# Used for what it does, not for its value.
exception  # parameters of __exit__
exc  # parameters of __exit__
impatient_threads  # a fixture that shortens the switch interval of threads
warn_on_impl  # pluggy reads it
warn_on_impl_args  # pluggy reads it
itself  # a circle of references for the collector
prec  # decimal reads it
licence  # tests/ported: for whoever reads where a program is from
write_names  # by hand, where CuPy is installed
shouldstop  # pytest reads it
log_message  # http.server calls it
BrokenOff  # named on the command line of `gpu_check.py`
persistent_id  # pickle calls it
persistent_load  # pickle calls it
reducer_override  # pickle calls it
