"""Makes the modules of ../make importable: the world, its questions and its judge are those that the model was made with."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "make"))
