"""Choice within an operation: which found passages to keep, which entity to expand, and what to ask about it."""
