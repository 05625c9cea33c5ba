"""Which two states of an action's files can be compared, and how each pair is called."""
