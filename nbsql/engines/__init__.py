"""One module an engine: how it is opened, described and driven. None of them writes SQL of its own."""
