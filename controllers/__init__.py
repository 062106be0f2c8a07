"""Controllers: they see features, a mask and operation names, and choose the next operation."""
