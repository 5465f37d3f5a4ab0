"""Before there is a model: which settings, and which features, do best on rows that were not met."""
