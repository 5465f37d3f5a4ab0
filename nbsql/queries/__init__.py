"""Rows out of a model: predictions, decisions, weights, samples."""
