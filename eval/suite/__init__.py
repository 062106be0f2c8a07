"""The benchmark: methods x data sets x protocols x seeds, and what is read off their results."""
