"""Counts into a model: fitted, changed, derived from others."""
