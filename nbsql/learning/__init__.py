"""From rows to a model: counting, fitting, changing, and deriving models from others."""
