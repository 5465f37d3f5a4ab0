"""Queries with the numbers of a model in them, for engines that it does not live in."""
