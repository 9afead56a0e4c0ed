"""What went wrong in an earlier engine must go right here."""
