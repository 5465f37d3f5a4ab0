"""How good a model is: metrics, folds, leave-one-out and calibration."""
