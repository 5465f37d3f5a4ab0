"""Models by name: fitted, loaded, listed, merged, imported and made of given probabilities."""
