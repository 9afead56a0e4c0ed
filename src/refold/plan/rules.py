"""Where the rules were: what they take and return has changed with their place."""

raise ImportError(
    "refold.plan.rules is refold.classic.rules now: a rule takes a run and one text, and returns a "
    "Verdict or None"
)
