"""The fault harness: `python -m tests.faults [NAME] [--deep]` attacks the commit."""
