"""What people type and models send, turned into typed requests; and answers turned into text."""
