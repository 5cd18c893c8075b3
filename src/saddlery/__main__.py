"""``python -m saddlery`` is the command ``saddlery``."""

from saddlery.cli import main

if __name__ == "__main__":
    main()
