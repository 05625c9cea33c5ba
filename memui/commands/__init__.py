"""What each command does. None of them imports Textual before it opens a screen."""
