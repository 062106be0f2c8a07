"""Training of controllers: collect rows, build targets, fit."""
