"""The benches themselves, one a file; `tests.bench` says what such a file has."""
