"""A review for people and programs without a terminal: Markdown, HTML, a patch, JSON."""
