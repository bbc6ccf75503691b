"""What text says: folded forms, terms, times, secrets, small talk."""
