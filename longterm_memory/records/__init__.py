"""How records look in the vector store, and reading and writing them there."""
