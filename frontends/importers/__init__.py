"""Logs of live agents into traces; one module a format, each registered as an importer."""
