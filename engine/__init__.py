"""The engine under memui: a store of memories, plans for it, their review and their commit.

A library of its own: it prints nothing, asks nothing and never imports `memui`. Start at
`engine.store.open_store` and `engine.consolidation`.
"""
