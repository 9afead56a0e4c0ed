"""From strings to values: sentences, lines, entities, fences. Knows nothing of messages."""
