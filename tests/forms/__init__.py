"""The compiled and the interpreted form of the package say the same."""
