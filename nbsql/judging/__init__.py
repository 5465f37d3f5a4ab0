"""How good a model is: metrics, folds, leave-one-out, sweeps and calibration."""
