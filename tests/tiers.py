"""Which tests wait for the tier `full` or `deep`: the one place where that is decided.

`pytest --tier quick` runs what a newcomer runs, in minutes; `rest` what automation runs after that;
`full` both; `deep`, which is what pytest does unasked, all that it is given. A row names a folder,
a file or a test function, how many of its parameters `quick` keeps (one of N, the first included;
0: none), and why. Tests in no row are quick. The root `conftest.py` applies this. The conformance
kit has tiers of its own (`tenferro-conformance run --tier`), which follow from its cases.
"""

from typing import NamedTuple

TIERS = ("quick", "rest", "full", "deep")
ON = "core/tests/on_backend"


class Slow(NamedTuple):
    """Tests of which a tier keeps one in `keep`; none if that is 0."""

    tests: str
    keep: int
    why: str
    over: str = ""  # only where tests run over this backend


_COMPILED = "XLA compiles many programs"
_PROCESS = "each runs the kit in a process of its own; automation runs all, except on slow machines"

SLOW = (
    Slow("core/tests/computegraph/test_depth.py::test_a_chain_of_1_000_000", 0, "a million steps"),
    Slow(
        "core/tests/primitives/test_templates.py::test_graphs_are_those_that_rules_emit",
        4,
        "every primitive with every kind of operand",
    ),
    Slow(
        "core/tests/backend/test_cli.py::test_doctor_names_everything_that_is_wrong",
        3,
        "each starts several processes",
    ),
    Slow(
        "core/tests/backend/test_cli.py"
        "::test_a_library_that_is_not_installed_is_wrong_only_if_its_backend_is_named",
        3,
        "each starts many processes",
    ),
    Slow(f"{ON}/array/test_against_numpy.py", 7, "every function with every dtype and keyword"),
    Slow(
        f"{ON}/array/test_against_numpy.py::test_a_derivative_is_that_of_differences",
        31,
        "many runs for each function; the kit has derivatives of primitives",
    ),
    Slow(f"{ON}/array/test_any_shape_against_numpy.py", 0, "property tests of many functions"),
    Slow(f"{ON}/array/test_loops.py", 0, "loops of thousands of turns"),
    Slow(
        f"{ON}/array/test_lazy.py::test_a_long_loop_of_updates_flushes_and_holds_bounded_memory",
        0,
        "a loop of thousands of turns",
    ),
    Slow(f"{ON}/array/test_special.py", 2, "differences of every function"),
    Slow(f"{ON}/array/test_at.py::test_derivatives_agree_with_differences", 5, "every index"),
    Slow(
        f"{ON}/array/test_assignment.py::test_augmented_assignment_to_a_part_is_numpys",
        5,
        "every sign with every index",
    ),
    Slow(
        f"{ON}/array/test_assignment.py::test_no_function_gives_back_the_handle_of_its_argument",
        5,
        "every function with every argument",
    ),
    Slow(
        f"{ON}/array/test_einsum.py::test_first_and_second_derivatives_are_those_of_differences",
        2,
        "second differences of many expressions",
    ),
    Slow(
        f"{ON}/array/test_evenly_spaced_positions.py::test_derivatives_of_writes_agree_with_differences",
        7,
        "second differences by every index",
    ),
    Slow(f"{ON}/random/test_derivatives.py::test_moments_are_their_integrals", 3, "long integrals"),
    Slow(
        f"{ON}/array/test_special.py::test_derivatives_pass_the_check_and_wrong_ones_do_not",
        23,
        "differences of every function",
    ),
    Slow(
        f"{ON}/array/test_results.py::test_root_ends_where_it_ends_with_numpy",
        4,
        "each method looks for two roots",
    ),
    Slow(
        f"{ON}/errors/test_arguments.py::test_derivatives_of_complex_logsumexp",
        3,
        "second differences",
    ),
    Slow(
        f"{ON}/linalg/test_eigh.py::test_derivatives_are_those_of_differences",
        6,
        "second differences",
    ),
    Slow(
        f"{ON}/transforms/test_custom.py::test_three_modes_give_the_native_third_derivative",
        5,
        "all triples of transforms",
    ),
    Slow(
        f"{ON}/transforms/test_custom.py::test_every_mode_of_every_mode_gives_the_native_second_derivative",
        3,
        "all pairs of transforms",
    ),
    Slow(
        f"{ON}/transforms/test_gauge.py::test_what_is_unique_is_not_warned_of",
        3,
        "derivatives of decompositions",
    ),
    Slow(
        f"{ON}/transforms/test_mixed_jacobians.py::test_random_programs",
        5,
        "each in all modes",
    ),
    Slow(
        f"{ON}/transforms/test_rules_when_called.py::test_derivatives_are_those_of_the_calls",
        5,
        "every rule in every transform",
    ),
    Slow(f"{ON}/test_examples.py", 9, "examples run where the functions are defined, too"),
    Slow(
        f"{ON}/transforms/test_accumulated_entries.py::test_of_one_move_after_another",
        11,
        "all pairs of moves",
    ),
    Slow(
        f"{ON}/transforms/test_accumulated_entries.py::test_equal_those_of_the_dense_derivative",
        5,
        "every function in every mode",
    ),
    Slow(
        f"{ON}/transforms/test_check_grads.py::test_the_step_follows_the_function",
        3,
        "many differences",
    ),
    Slow(f"{ON}/array/test_bessel.py", 5, "each decomposition is hundreds of equations"),
    Slow(f"{ON}/array/test_faddeeva.py", 6, "each decomposition is hundreds of equations"),
    Slow(f"{ON}/array/test_integrals.py", 4, "each decomposition is hundreds of equations"),
    Slow(f"{ON}/array/test_ufuncs.py", 5, "every ufunc with every method"),
    Slow(f"{ON}/array/test_assignment.py", 3, "every way to write, with every index"),
    Slow(f"{ON}/array/test_at.py", 4, "every way to combine, with every index"),
    Slow(
        f"{ON}/array/test_evenly_spaced_positions.py",
        4,
        "every index in every way to read and write",
    ),
    Slow(f"{ON}/array/test_random_programs.py", 4, "many programs alike"),
    Slow(f"{ON}/memory", 7, "every loop with every store"),
    Slow(f"{ON}/passes/test_half_spectra.py", 4, "every transform of every length"),
    Slow(f"{ON}/passes/test_large_matrices.py", 4, "every form of every system"),
    Slow(f"{ON}/passes/test_packs.py", 3, "many programs alike"),
    Slow(
        f"{ON}/passes/test_sums_of_parts.py::test_sums_of_parts_are_exact_where_sums_are",
        3,
        "many parts",
    ),
    Slow(f"{ON}/passes/test_transposed_slices.py", 4, "every slice of every operand"),
    Slow(f"{ON}/transforms/test_accumulated_entries.py", 3, "every function in every mode"),
    Slow(f"{ON}/transforms/test_custom.py", 4, "every transform of every rule"),
    Slow(f"{ON}/transforms/test_jet.py", 3, "every function to every order"),
    Slow(f"{ON}/transforms/test_leaks.py", 3, "every use of a leaked array"),
    Slow(f"{ON}/transforms/test_mixed_jacobians.py", 3, "every function in every mode"),
    Slow(f"{ON}/transforms/test_nesting.py", 3, "all pairs of transforms"),
    Slow(f"{ON}/transforms/test_own_arguments.py", 3, "every rule in every transform"),
    Slow(
        f"{ON}/transforms/test_pickling.py::test_a_public_name_comes_back_as_the_same_object",
        9,
        "every public name",
    ),
    Slow(f"{ON}/transforms/test_singular_points.py", 5, "every row of a long table"),
    Slow(f"{ON}/transforms/test_sparse_jacobians.py", 3, "every function in every way"),
    Slow(f"{ON}/transforms/test_sparse_results.py", 4, "every operation on every result"),
    Slow(f"{ON}/control", 5, "all transforms of every loop"),
    Slow(f"{ON}/linalg", 4, "decompositions by several ways"),
    Slow(f"{ON}/linalg/test_equal_values.py", 0, "third derivatives of decompositions"),
    Slow(f"{ON}/of_scipy", 5, "every rule, metric, condition and mode"),
    Slow(f"{ON}/passes/test_edge_values.py", 17, "every operation with every literal"),
    Slow(
        f"{ON}/of_scipy/test_initial_value.py::test_derivatives_of_a_solution_of_order_8",
        0,
        "many steps, each of many equations",
    ),
    Slow(
        f"{ON}/linalg/test_riccati.py::test_derivatives_where_r_is_singular",
        0,
        "second differences; those of a usual solution are quick",
    ),
    Slow(
        f"{ON}/linalg/test_riccati.py::test_both_r_and_its_sum_with_the_costs_may_be_singular",
        0,
        "second differences; those of a usual solution are quick",
    ),
    Slow(f"{ON}/rolling", 30, "all transforms of every loop"),
    Slow(f"{ON}/stats/test_distributions.py", 17, "every function of every distribution"),
    Slow(f"{ON}/transforms/test_closures.py", 11, "all pairs of transforms"),
    Slow(f"{ON}/transforms/test_contract_expression.py", 4, "each in all transforms and dtypes"),
    Slow(f"{ON}/transforms/test_cost.py", 0, "long programs, whose calls are counted"),
    Slow(f"{ON}/transforms/test_derivatives_of_functions.py", 6, "differences of every function"),
    Slow(
        f"{ON}/array/test_fft.py::test_second_derivatives_agree_with_differences",
        3,
        "second differences of every transform",
    ),
    Slow(
        f"{ON}/array/test_laws_of_functions.py::test_second_derivatives_agree_with_differences",
        3,
        "second differences",
    ),
    Slow(
        f"{ON}/array/test_polynomial_series.py::test_coefficients_of_rank_1",
        4,
        "every function of every series",
    ),
    Slow(
        f"{ON}/array/test_power_transforms.py::test_values_and_two_derivatives",
        3,
        "second differences",
    ),
    Slow(
        f"{ON}/array/test_long_products.py::test_a_product_of_rotations_turns_by_the_sum_of_the_angles",
        3,
        "long products",
    ),
    Slow(
        f"{ON}/of_scipy/test_initial_value.py::test_derivatives_by_what_the_right_side_reads",
        7,
        "all pairs of modes through many steps",
    ),
    Slow(
        f"{ON}/test_programs_of_others.py::test_derivatives_agree_with_differences",
        3,
        "differences of every program",
    ),
    Slow(
        f"{ON}/transforms/test_check_grads.py::test_right_derivatives_pass", 3, "many differences"
    ),
    Slow(
        "plugins/numpy_backend/tests/test_growth.py", 19, "long programs, whose calls are counted"
    ),
    Slow("plugins/numpy_backend/tests/test_random_programs.py", 3, "each runs in all modes"),
    Slow("plugins/numpy_backend/tests/test_loops_with_views.py", 7, "every view in every body"),
    Slow(
        "plugins/numpy_backend/tests/test_expanding.py"
        "::test_an_operand_is_expanded_to_the_same_bits",
        3,
        "every shape with every dtype",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_gauge_check.py::test_distinct_values_do_not_warn",
        5,
        "derivatives of every decomposition",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_offload.py"
        "::test_a_second_derivative_in_a_direction_keeps_a_few_states_in_memory",
        2,
        "memory is traced for a thousand steps",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_peak.py::test_what_blocks_of_rows_make_is_in_the_peak",
        5,
        "memory is traced",
    ),
    Slow("plugins/numpy_backend/tests/test_loops.py::test_drawn_bodies", 3, "many loops alike"),
    Slow(
        "plugins/numpy_backend/tests/test_reduction.py::test_short_axes_in_the_middle_of_tiles",
        3,
        "every shape with every tile",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_reduction.py::test_short_axes_in_the_middle",
        3,
        "every shape with every operation",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_reduction.py::test_sums_of_any_size_and_layout",
        7,
        "every size with every dtype and layout",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_reduction.py::test_extremes_of_all_elements_and_of_short_rows",
        7,
        "every shape with every dtype and layout",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_loops.py::test_a_loop_has_the_bits_of_the_unrolled_program",
        3,
        "every body of every dtype, in all modes",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_loops.py::test_drawn_bodies_with_branches_and_loops_inside",
        3,
        "many loops alike",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_first_runs.py::test_the_first_call_gives_the_bits_of_later_ones",
        2,
        "every program in every mode",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_scalars.py::test_values_are_numpys",
        3,
        "every operation on every pair of numbers",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_contraction.py::test_every_arrangement",
        3,
        "every order of axes",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_indexing.py::test_scatter_add",
        5,
        "every index of every shape",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_indexing.py::test_gather", 3, "every index of every shape"
    ),
    Slow(
        "plugins/numpy_backend/tests/test_structural.py::test_pad_one_axis",
        5,
        "every pad of every axis",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_parts.py::test_more_turns_are_no_more_text",
        2,
        "long programs",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_parts.py::test_parts_give_what_the_interpreter_gives",
        3,
        "long programs",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_kept_programs.py::test_a_kept_program_gives_the_same_bits",
        3,
        "every program is planned twice",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_gauge_check.py::test_projectors_on_whole_spaces_do_not_warn",
        3,
        "derivatives of every decomposition",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_region_tiles.py::test_sums_of_short_rows",
        3,
        "every length of every dtype",
    ),
    Slow(
        "plugins/numpy_backend/tests/test_arithmetic.py::test_the_largest_of_a_large_array_and_a_number",
        4,
        "large arrays of every dtype",
    ),
    Slow(
        "plugins/xla_backend/tests/test_jax_programs.py"
        "::test_values_and_derivatives_in_jax_are_those_of_tenferro",
        5,
        "JAX compiles each in seven ways",
    ),
    Slow(
        "plugins/xla_backend/tests/test_jax_programs.py::test_reverse_mode_alone",
        6,
        "JAX compiles a Hessian of each",
    ),
    Slow(
        "plugins/xla_backend/tests/test_on_a_mesh.py::test_laws_on_eight_devices",
        0,
        "XLA compiles each program for one device and for eight",
    ),
    Slow("plugins/cupy_backend/tests/test_reads_on_cpu.py", 20, "kernels are compiled for the CPU"),
    Slow("plugins/cupy_backend/tests/test_chains_on_cpu.py", 9, "kernels are compiled for the CPU"),
    Slow("plugins/cupy_backend/tests/test_loops_on_cpu.py", 9, "kernels are compiled for the CPU"),
    Slow(
        "plugins/cupy_backend/tests/test_element_loops_on_cpu.py",
        9,
        "kernels are compiled for the CPU",
    ),
    Slow("plugins/cupy_backend/tests/test_kit_on_kernels.py", 0, "cases are compiled for the CPU"),
    Slow("plugins/cupy_backend/tests/test_complex_functions.py", 9, "many digits for each number"),
    Slow("plugins/cupy_backend/tests/test_error_functions.py", 9, "many digits for each number"),
    Slow("plugins/cupy_backend/tests/test_gamma_functions.py", 9, "many digits for each number"),
    Slow("plugins/cupy_backend/tests/test_powers.py", 9, "many digits for each number"),
    Slow("plugins/cupy_backend/tests/test_end_to_end.py", 3, "each kernel is compiled for the CPU"),
    Slow("plugins/cupy_backend/tests/test_nvrtc.py", 0, "NVIDIA's compiler takes seconds"),
    Slow("plugins/cupy_backend/tests/test_gpu_check.py::test_all_stages", 0, "runs all stages"),
    Slow("plugins/xla_backend/tests/test_processes.py", 0, "processes start, and wait for others"),
    Slow(
        "plugins/xla_backend/tests/test_row_blocks.py"
        "::test_blocks_change_no_value_and_no_derivative",
        3,
        "each program is compiled twice",
    ),
    Slow("plugins/xla_backend/tests/test_segments.py", 3, "long programs, each compiled anew"),
    Slow("conformance/tests/test_mutants.py::test_mutant_is_caught", 3, _PROCESS),
    Slow("conformance/tests/test_mutants.py::test_loopback_passes_every_law", 0, _PROCESS),
    Slow("conformance/tests/test_plugin.py::test_the_parts_are_the_whole", 0, _PROCESS),
    Slow(
        "conformance/tests/test_plugin.py::test_quick_and_rest_are_full_and_deep_is_all",
        0,
        _PROCESS,
    ),
    Slow("conformance/tests/test_plugin.py::test_jobs_add_up_to_one_report", 0, _PROCESS),
    Slow(
        "tests/repository/test_benchmarks.py::test_a_program_has_the_derivatives_that_differences_have",
        4,
        "differences by every argument of every program",
    ),
    Slow(
        "tests/repository/test_benchmarks.py::test_workloads_run_and_agree_without_peers",
        0,
        "all workloads run; each program has its derivatives in another test",
    ),
    Slow(f"{ON}/control/test_loops.py", 9, _COMPILED, "xla"),
    Slow(f"{ON}/transforms", 3, _COMPILED, "xla"),
    Slow(f"{ON}/array/test_indexing.py", 3, _COMPILED, "xla"),
    Slow(f"{ON}/passes/test_fission.py", 4, _COMPILED, "xla"),
    Slow(
        f"{ON}/array/test_functions.py::test_the_divisor_of_the_least_integer_is_positive",
        24,
        "XLA compiles the wide dtypes for seconds",
        "xla",
    ),
    Slow(
        f"{ON}/transforms/test_custom_used.py::test_the_implicit_derivative_of_a_fixed_point",
        0,
        "XLA compiles iterations that are written out for seconds",
        "xla",
    ),
    Slow(f"{ON}/array/test_assignment.py", 10, _COMPILED, "xla"),
    Slow(f"{ON}/array/test_functions.py", 10, _COMPILED, "xla"),
    Slow(f"{ON}/of_scipy/test_initial_value.py", 0, _COMPILED, "xla"),
    Slow(f"{ON}/transforms/test_batching_rules.py", 4, _COMPILED, "xla"),
    Slow(f"{ON}/transforms/test_complex.py", 5, _COMPILED, "xla"),
    Slow(f"{ON}/transforms/test_control_flow.py", 2, _COMPILED, "xla"),
    Slow(f"{ON}/transforms/test_host_callback.py", 4, _COMPILED, "xla"),
    Slow(f"{ON}/transforms/test_nesting.py", 3, _COMPILED, "xla"),
)

#: Over XLA these alone of the tests for any backend are in `full`, the others in `deep`: what
#: compiles thousands of programs and looks at core alone runs on NumPy. What XLA itself could get
#: wrong, the lowerings, is the kit's.
XLA_FULL = (
    f"{ON}/transforms",
    f"{ON}/control/test_loops.py::test_the_derivatives_of_a_loop_are_those_of_its_program",
    f"{ON}/passes/test_fission.py::test_gradients_are_those_of_the_whole_loop",
    f"{ON}/array/test_functions.py",
    f"{ON}/array/test_expressions.py",
    f"{ON}/array/test_indexing.py",
    f"{ON}/array/test_assignment.py",
)
#: Prepared contractions in all transforms, derivatives of every function beside differences,
#: warnings of gauges, patterns and entries of sparse Jacobians, all pairs of transforms of
#: closures; checks of gradients, rules of users; every operator and function on every kind of
#: part, derivatives of assignments, and series of every function; parameters that core refuses;
#: arguments that a function writes to, and dtypes of numbers.
XLA_DEEP = (
    f"{ON}/stats/test_distributions.py::test_derivatives_of_logarithms_are_those_of_differences",
    f"{ON}/stats/test_distributions.py::test_derivatives_by_shapes_far_out",
    f"{ON}/linalg/test_sparse.py::test_operators_are_those_of_dense_matrices",
    f"{ON}/linalg/test_structured.py::test_a_cholesky_factor_of_a_band",
    f"{ON}/array/test_assignment.py::test_augmented_assignment_to_a_part_is_numpys",
    f"{ON}/array/test_assignment.py::test_no_function_gives_back_the_handle_of_its_argument",
    f"{ON}/array/test_assignment.py::test_the_gradient_counts_each_value_as_often_as_it_remains",
    f"{ON}/array/test_assignment.py::test_the_tangent_is_written_where_the_value_is",
    f"{ON}/transforms/test_accumulated_entries.py::test_of_one_move_after_another",
    f"{ON}/transforms/test_accumulated_entries.py::test_equal_those_of_the_dense_derivative",
    f"{ON}/transforms/test_jet.py::TestAgainst::test_nested_derivatives",
    "plugins/cupy_backend/tests/test_kernels_on_cpu.py::test_operations_on_the_other_dtypes",
    "plugins/cupy_backend/tests/test_nvrtc.py::test_kernels_of_every_dtype_compile",
    "plugins/cupy_backend/tests/test_kit_on_kernels.py::test_every_primitive",
    f"{ON}/transforms/test_contract_expression.py",
    f"{ON}/transforms/test_sparse_jacobians.py",
    f"{ON}/transforms/test_closures.py",
    f"{ON}/transforms/test_derivatives_of_functions.py",
    f"{ON}/transforms/test_gauge.py",
    f"{ON}/transforms/test_host_callback.py::test_a_rule_around_the_call_is_its_derivative",
    f"{ON}/transforms/test_parameters_without_derivative.py",
    f"{ON}/transforms/test_check_grads.py",
    f"{ON}/transforms/test_own_arguments.py",
    f"{ON}/control/test_dtypes_of_numbers.py",
    f"{ON}/control/test_counters.py",
    f"{ON}/transforms/test_jacobian.py::test_the_dtype_of_a_jacobian_does_not_depend_on_shapes",
    f"{ON}/transforms/test_custom.py",
    f"{ON}/transforms/test_rules_when_called.py",
    f"{ON}/transforms/test_singular_points.py",
)

#: These are in `deep` alone.
DEEP = (
    f"{ON}/of_scipy/test_initial_value.py::test_derivatives_of_a_stiff_solution_are_those_of_differences",
    f"{ON}/of_scipy/test_initial_value.py::test_derivatives_of_a_forced_solution",
    f"{ON}/of_scipy/test_interpolate.py::test_derivatives_of_a_spline",
    f"{ON}/of_scipy/test_interpolate.py::test_derivatives_of_monotone_interpolation",
    f"{ON}/of_scipy/test_ndimage.py::test_derivatives_by_elements_and_places",
    f"{ON}/of_scipy/test_distance.py::test_derivatives_by_both_sets",
    "tests/solvers/test_tensor_networks.py::test_a_program_finds_what_it_prints",
    "tests/solvers/test_tensor_networks.py::test_trg_has_onsagers_free_energy_and_two_derivatives",
    f"{ON}/stats/test_distributions.py::test_derivatives_of_logarithms_are_those_of_differences",
    f"{ON}/stats/test_distributions.py::test_derivatives_by_shapes_far_out",
    "plugins/cupy_backend/tests/test_conformance.py::test_every_case_passes",
    "plugins/cupy_backend/tests/test_kernels_on_cpu.py::test_operations_on_the_other_dtypes",
    "plugins/cupy_backend/tests/test_nvrtc.py::test_kernels_of_every_dtype_compile",
    "plugins/cupy_backend/tests/test_kit_on_kernels.py::test_every_primitive",
    "plugins/xla_backend/tests/test_processes.py::test_four_processes_compute_what_one_computes",
)

#: Of the parameters of these `full` keeps one in `keep`, and `deep` all.
SAMPLED = (
    Slow(f"{ON}/array/test_bessel.py", 3, "each decomposition is hundreds of equations"),
    Slow(f"{ON}/array/test_faddeeva.py", 6, "each decomposition is hundreds of equations"),
    Slow(f"{ON}/array/test_loops.py", 4, "loops of thousands of turns"),
    Slow(f"{ON}/linalg/test_equal_values.py", 3, "third derivatives of decompositions"),
    Slow(f"{ON}/linalg/test_matrix_functions.py", 3, "differences of every function"),
    Slow(
        f"{ON}/linalg/test_riccati.py::test_derivatives_of_a_stabilizing_solution",
        2,
        "second differences by six operands",
    ),
    Slow(f"{ON}/rolling/test_roll.py::test_a_rolled_loop_is_the_program", 2, "every transform"),
    Slow(f"{ON}/transforms/test_mixed_jacobians.py::test_random_programs", 8, _COMPILED, "xla"),
    Slow(
        "plugins/xla_backend/tests/test_jax_programs.py"
        "::test_values_and_derivatives_in_jax_are_those_of_tenferro",
        3,
        "JAX compiles each in seven ways",
    ),
    Slow(
        "plugins/xla_backend/tests/test_jax_programs.py::test_reverse_mode_alone",
        3,
        "JAX compiles a Hessian of each",
    ),
    Slow(
        "conformance/tests/test_mutants.py::test_loopback_passes_every_law",
        12,
        "the whole kit in twelve parts; NumPy passes it too",
    ),
)


def in_tier(names: list[str], tier: str, over: str) -> list[bool]:
    """Return for each test, by its name from the root of the repository, whether a tier runs it."""
    if tier == "deep":
        return [True] * len(names)
    functions = [name.partition("[")[0] for name in names]
    of_function = {function: _in_full(function, over) for function in set(functions)}
    sample = _one_in(names, SAMPLED, over)
    full = [s and of_function[function] for s, function in zip(sample, functions, strict=True)]
    quick = [a and b for a, b in zip(full, _one_in(names, SLOW, over), strict=True)]
    if tier == "quick":
        return quick
    return full if tier == "full" else [f and not q for f, q in zip(full, quick, strict=True)]


def file_in_tier(file: str, tier: str, over: str) -> bool:
    """Return whether a tier may run a test of a file: one that a row names, or any other."""
    rows = (*(row.tests for row in (*SLOW, *SAMPLED)), *XLA_FULL, *XLA_DEEP, *DEEP)
    tests = [f"{file}::", *(row for row in rows if row.startswith(f"{file}::"))]
    if tier != "rest":
        return any(in_tier(tests, tier, over))
    slow = [row.tests for row in SLOW if row.over in ("", over)]
    tests = [test for test in tests if any(is_under(test, place) for place in slow)]
    return any(in_tier(tests, "full", over))


def _in_full(function: str, over: str) -> bool:
    wanted = over != "xla" or _in_full_over_xla(function)
    return wanted and not any(is_under(function, x) for x in DEEP)


def _in_full_over_xla(name: str) -> bool:
    if not is_under(name, ON):
        return True
    return any(is_under(name, x) for x in XLA_FULL) and not any(is_under(name, x) for x in XLA_DEEP)


def _one_in(names: list[str], rows: tuple[Slow, ...], over: str) -> list[bool]:
    """Return which tests rows keep: of the parameters of one function, in the order of names."""
    counts: dict[str, int] = {}
    keeps: dict[str, int] = {}
    kept = {}
    for name in sorted(names):
        function = name.partition("[")[0]
        if function not in keeps:
            keeps[function] = _keep(function, rows, over)
        keep = keeps[function]
        number = counts[function] = counts.get(function, -1) + 1
        kept[name] = keep > 0 and number % keep == 0
    return [kept[name] for name in names]


def _keep(name: str, rows: tuple[Slow, ...], over: str) -> int:
    """Return of how many parameters one is kept: as the longest row that the test is under says."""
    found = [row for row in rows if row.over in ("", over) and is_under(name, row.tests)]
    return max(found, key=lambda row: (len(row.tests), row.over)).keep if found else 1


def is_under(name: str, place: str) -> bool:
    """Return whether a test is in a folder or file, or is a test function with its parameters."""
    return name.startswith(place) and name[len(place) : len(place) + 1] in ("", "/", ":", "[")
