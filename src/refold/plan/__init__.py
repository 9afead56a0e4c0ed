"""From messages to a plan of what each becomes: claims, candidates, and a budget spent."""
