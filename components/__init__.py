"""What LangBot loads: the five fronts of the memory."""
