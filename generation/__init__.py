"""Generators: they answer, judge whether the evidence suffices, rewrite queries and compress evidence."""
