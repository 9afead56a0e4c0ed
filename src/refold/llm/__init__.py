"""Models: the questions they are asked, the gates for their answers, and the clients."""
