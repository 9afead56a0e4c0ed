"""From strings to values: sentences, fences, lines, names, cuts."""
