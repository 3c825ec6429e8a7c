"""SplitMix64: the same numbers in every Python, so that drawn videos, documents and intervals are the same everywhere."""

_MASK = (1 << 64) - 1


class RandomNumbers:
    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """In [0, bound)."""
        return self.next() % bound

    def between(self, low: float, high: float) -> float:
        """In [low, high)."""
        return low + (high - low) * float(self.next() >> 11) * 2.0**-53
