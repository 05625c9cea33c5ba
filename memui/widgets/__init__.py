"""Widgets: values in by `show`, messages out. None of them knows a store."""
