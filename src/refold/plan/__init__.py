"""Where plans were made: `refold.planner` makes them now."""
