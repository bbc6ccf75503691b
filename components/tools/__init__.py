"""Tools of the agent."""
