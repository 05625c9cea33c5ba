"""The conformance cases: what a store holds, what a planner answers, what must come of it."""
