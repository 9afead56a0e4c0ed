"""Models: what they are asked, the gates for what they answer, and what asks them."""
