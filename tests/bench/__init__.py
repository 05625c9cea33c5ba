"""The benches: `python -m tests.bench [NAME] [--files N] [--all] [--markdown]`.

Each file in `work/` is one: a docstring whose first line says what is measured, `SIZES` (and
`LARGE`, taken with `--all`), and `measure(size, rounds)`, which yields figures. Ours, the peer and
the floor take turns in one process, so that a busy machine slows all of them; what counts is the
median of the rounds' ratios. That the work is done right is asserted beside its speed. The suite
runs every bench at a tiny size for its asserts, and never judges a time.
"""
