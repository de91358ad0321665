"""Views of programs: graphs, pictures, explanations, costs, shapes, callbacks."""
