"""Evaluation: official metrics of predictions, comparisons of controllers, and the records behind every figure."""
