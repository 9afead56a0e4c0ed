"""What tools return, made shorter: beside the messages, before they are sent, and fetched back."""
