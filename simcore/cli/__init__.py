"""The command line; it adds nothing to what `simcore`'s functions can do."""
