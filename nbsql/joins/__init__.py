"""Learning over joins: features that live in dimension tables."""
