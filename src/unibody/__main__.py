"""`python -m unibody` is the command `unibody`."""

from unibody.cli.app import main

main()
