"""How much a sentence or a message matters."""
