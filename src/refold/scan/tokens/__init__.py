"""How many tokens a text costs."""
