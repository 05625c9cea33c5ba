"""The screens. They hold a session; their widgets hold values only."""
