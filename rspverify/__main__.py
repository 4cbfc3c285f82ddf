"""`python -m rspverify`."""

from rspverify.cli import main

if __name__ == "__main__":
    main()
