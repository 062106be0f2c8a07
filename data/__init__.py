"""Questions, benchmark files, corpora, the synthetic world, and the pure functions that score answers and evidence."""
