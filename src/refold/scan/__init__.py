"""From a string to what it holds: sentences, names, values, secrets, tokens; knows no messages."""
