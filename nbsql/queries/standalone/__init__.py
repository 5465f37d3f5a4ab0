"""Queries that contain the numbers of a model, for engines that models do not live in."""
