"""Functions that return models: fit, load, list, merge, import, and models of given probabilities, counts or weights."""
