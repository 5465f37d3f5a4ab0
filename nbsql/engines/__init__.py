"""The database engines, one package each: how an engine is opened, described and driven. None of them contains SQL."""
