"""Where the scripts under test are found, and where what they are compared with lies. Imported first."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "resources/evaluation"
GOLDEN = ROOT / "tests/golden/evaluation"
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True
