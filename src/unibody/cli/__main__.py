"""`python -m unibody.cli` is the command `unibody`."""

from unibody.cli.app import main

main()
