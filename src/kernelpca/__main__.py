"""`python -m kernelpca` is the command line."""

from kernelpca.cli import main

if __name__ == "__main__":
    main()
