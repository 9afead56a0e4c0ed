"""The real programs, against a scripted provider; see `make test-clients`."""
