"""Choices before a model is fitted: the settings, families and features that predict unseen rows best."""
