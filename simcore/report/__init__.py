"""What a run says: gates, tables, the run folder with its summary and reports."""
