"""`python -m lossyfl`."""

from lossyfl.cli import main

main()
