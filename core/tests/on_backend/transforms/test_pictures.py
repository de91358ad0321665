"""Pictures of graphs are well formed, show each equation once, and do not overlap."""

import html
import re
import xml.etree.ElementTree as ET
from itertools import combinations

import numpy as np
import pytest

import tenferro as tn
from tenferro._runtime.markup import escape
from tenferro.transforms import GraphTooLargeError
from tenferro.transforms.inspection.views import picture
from tenferro.transforms.inspection.views._layout import draw, rising

SCALAR, VECTOR = tn.Aval((), "float64"), tn.Aval((3,), "float64")
ODD = """<a & "b">'c' #%%\\n`é"""


def loss(w, x):
    return np.sum(np.log(1 + np.exp(-(x @ w))))


def chain(x):
    for _ in range(3000):
        x = np.sin(x)
    return x


GRAPHS = {
    "primal": tn.trace(lambda x: np.sum(np.tanh(x) ** 2), VECTOR),
    "grad": tn.trace(tn.grad(loss), VECTOR, tn.Aval((2, 3), "float64")),
    "hvp": tn.trace(tn.hvp(loss), VECTOR, VECTOR, tn.Aval((2, 3), "float64")),
    "nothing": tn.trace(lambda x: x, VECTOR),
    "constant": tn.trace(lambda x: tn.ones(3), VECTOR),
    "odd names": tn.trace(lambda x: x[ODD] * 2, {ODD: SCALAR}),
}
every_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)


def without_line_numbers(text):
    return re.sub(r"\.py:\d+", ".py:…", text)


def small():
    return tn.trace(tn.grad(lambda x: np.sin(x) * x), SCALAR)


@pytest.mark.parametrize("form", ["mermaid", "dot"])
def test_text_forms_are_what_they_were(form, golden):
    golden(f"picture_{form}", without_line_numbers(getattr(small(), f"to_{form}")()))


def test_the_notebook_form_is_what_it_was(golden):
    text = small()._repr_html_().partition("<details>")[0]
    golden("picture_html", without_line_numbers(text))


# ---- well formed ---------------------------------------------------------------------------------


@every_graph
def test_svg_parses_and_titles_each_box_with_its_equation(graph):
    root = ET.fromstring(graph.to_svg())
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")][1:]
    shown = picture(graph.graph, graph.positions, graph.labels)
    assert titles == [box.note for box in shown.boxes]


@every_graph
@pytest.mark.parametrize("form", ["svg", "mermaid", "dot"])
def test_pictures_name_tangents_and_cotangents_as_the_text_does(graph, form):
    drawn = html.unescape(getattr(graph, f"to_{form}")().replace("&#37;", "%").replace("#37;", "%"))
    for value, label in graph.labels.items():
        assert label in str(graph)
        assert f"{label}: {graph.graph.avals[value]}" in drawn


@every_graph
def test_html_parses(graph):
    """The notebook form is well-formed XML"""
    ET.fromstring(graph._repr_html_())


@every_graph
def test_html_says_what_the_text_says(graph):
    block = ET.fromstring(graph._repr_html_()).find("pre")
    assert "".join(block.itertext()) == str(graph)


STATEMENTS = {
    "mermaid": (
        r'  n\d+(\(\["|\(")[^"`%;<>]*(#\d+;[^"`%;<>]*|<br/>[^"`%;<>]*)*("\]\)|"\)):::\w+',
        r"  n\d+ (-->|==>|-\.->) n\d+",
        r"  classDef \w+ fill:#\w{6},stroke:#\w{6},color:#\w{6}",
    ),
    "dot": (
        r'  n\d+ \[label="([^"\\]|\\.)*", tooltip="([^"\\]|\\.)*", color="#\w{6}", '
        r'fillcolor="#\w{6}", fontcolor="#\w{6}"\]',
        r'  n\d+ -> n\d+ \[color="#\w{6}"(, style=dashed|, penwidth=2)?\]',
        r"  (node|edge) \[[^\]]*\]",
        r"  rankdir=TB",
    ),
}


@every_graph
@pytest.mark.parametrize("form", STATEMENTS)
def test_each_line_of_a_text_form_is_a_statement_of_its_language(graph, form):
    lines = getattr(graph, f"to_{form}")().split("\n")
    inner = lines[1:] if form == "mermaid" else lines[1:-1]
    bad = [x for x in inner if not any(re.fullmatch(p, x) for p in STATEMENTS[form])]
    assert bad == []


def test_what_xml_cannot_hold_is_left_out():
    assert escape("a\x00\x0b\ud800<") == "a&lt;"


# ---- what is shown -------------------------------------------------------------------------------


@every_graph
def test_every_equation_and_input_has_one_box(graph):
    boxes = picture(graph.graph, graph.positions, graph.labels).boxes
    equations = [box for box in boxes if box.part not in ("input", "output")]
    inputs = [box for box in boxes if box.part == "input"]
    assert (len(equations), len(inputs)) == (len(graph), len(graph.graph.inputs))


def test_flow_enters_where_the_text_has_a_star_and_residuals_elsewhere():
    graph = GRAPHS["grad"]
    shown = picture(graph.graph, graph.positions, graph.labels)
    for edge in shown.edges:
        if shown.boxes[edge.end].part in ("linear", "transposed"):
            value = re.match(r"%\d+", shown.boxes[edge.start].lines[0])[0]
            starred = f"*{value}" in shown.boxes[edge.end].lines[0].split()
            assert edge.kind == ("flow" if starred else "residual")
        else:
            assert edge.kind == "value"


def test_the_users_line_is_in_the_tooltip():
    assert "x @ w" in GRAPHS["grad"].to_svg()


# ---- layout --------------------------------------------------------------------------------------


def drawing_of(graph):
    shown = picture(graph.graph, graph.positions, graph.labels)
    sizes = [(10.0 * len(box.lines[0]), 40.0) for box in shown.boxes]
    return draw(sizes, list(shown.edges), [box.literal for box in shown.boxes]), shown


@every_graph
def test_boxes_do_not_overlap_and_are_inside(graph):
    drawing, _ = drawing_of(graph)
    for a, b in combinations(drawing.places, 2):
        apart = abs(a.x - b.x) * 2 >= a.width + b.width - 1e-6
        assert apart or a.top + a.height <= b.top or b.top + b.height <= a.top
    for place in drawing.places:
        assert 0 <= place.x - place.width / 2 <= place.x + place.width / 2 <= drawing.width
        assert 0 <= place.top <= place.top + place.height <= drawing.height


@every_graph
def test_edges_run_downward(graph):
    drawing, shown = drawing_of(graph)
    for edge, route in zip(shown.edges, drawing.routes, strict=True):
        start, end = drawing.places[edge.start], drawing.places[edge.end]
        tops = [top for _, top, _ in route]
        assert tops == sorted(tops)
        assert start.top + start.height <= end.top


def test_a_crossing_that_can_be_avoided_is_avoided():
    edges = [(0, 3, "v"), (1, 2, "v")]
    places = draw([(10.0, 10.0)] * 4, edges, [False] * 4).places
    assert (places[0].x < places[1].x) == (places[3].x < places[2].x)


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_rising_sequence_has_no_better_neighbour(seed):
    rng = np.random.default_rng(seed)
    values, weights = rng.normal(size=9), rng.uniform(0.5, 2, size=9)
    found = np.array(rising(list(values), list(weights)))

    def cost(x):
        return np.sum(weights * (x - values) ** 2)

    assert np.all(np.diff(found) >= 0)
    for _ in range(200):
        other = np.sort(found + rng.normal(scale=0.05, size=9))
        assert cost(found) <= cost(other) + 1e-12


# ---- large graphs and parts ----------------------------------------------------------------------


def test_a_graph_that_is_too_large_is_refused_with_the_way_to_a_part(golden):
    graph = tn.trace(chain, SCALAR)
    with pytest.raises(GraphTooLargeError) as caught:
        graph.to_svg()
    assert (caught.value.count, caught.value.limit) == (3000, 400)
    golden("error_graph_too_large", str(caught.value))
    assert graph._repr_svg_() is None
    assert len(graph._repr_html_()) < 400_000


def test_a_deep_graph_is_drawn_without_recursion_if_it_is_asked_for():
    ET.fromstring(tn.trace(chain, SCALAR).to_svg(limit=3000))


def test_a_part_has_the_numbers_of_the_whole_and_says_what_is_left_out(golden):
    part = tn.trace(chain, SCALAR)[100:103]
    golden("picture_part", part)
    assert len(part) == sum(part.counts().values()) == 3
    boxes = picture(part.graph, part.positions, part.labels).boxes
    assert [box.lines[0] for box in boxes if box.part == "input"] == ["%100"]


def test_around_a_value_are_those_that_are_near():
    graph = tn.trace(chain, SCALAR)
    assert list(graph.around("%50", distance=1).positions) == [49, 50]
    assert list(graph.around(50).positions) == [48, 49, 50, 51]
    with pytest.raises(ValueError, match="no value %9999"):
        graph.around("%9999")
