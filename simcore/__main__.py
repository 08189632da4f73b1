"""`python -m simcore`."""

from simcore.cli.main import main

main()
