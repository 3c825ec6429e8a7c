#!/usr/bin/env python3
"""95 % intervals: textbook values, and what clusters cost."""

import math
import unittest

import script_folder  # noqa: F401 (first: where the scripts are found)
from intervals import Interval, bootstrap_interval, clustered_interval, mean, mean_interval, total, wilson_interval
from random_numbers import RandomNumbers


class Intervals(unittest.TestCase):
    def test_wilson_knows_textbook_values(self) -> None:
        # 8 of 10: (0.490, 0.943), Wilson 1927 as tabulated everywhere.
        self.assertAlmostEqual(wilson_interval(8, 10).low, 0.4902, 4)
        self.assertAlmostEqual(wilson_interval(8, 10).high, 0.9433, 4)
        self.assertEqual(wilson_interval(0, 10).low, 0.0)
        self.assertAlmostEqual(wilson_interval(0, 10).high, 0.2775, 4)
        self.assertEqual(wilson_interval(10, 10).high, 1.0)
        self.assertEqual(wilson_interval(0, 0), Interval(0.0, 1.0))

    def test_bootstrap_holds_the_mean_and_narrows_with_the_root(self) -> None:
        few = [i % 5 / 4.0 for i in range(25)]
        wide, narrow = bootstrap_interval(few), bootstrap_interval(few * 16)
        # Standard deviation 0.3536: mean 0.5 -+ 1.96 * 0.3536 / 5.
        self.assertAlmostEqual(wide.low, 0.5 - 0.1386, delta=0.015)
        self.assertAlmostEqual(wide.high, 0.5 + 0.1386, delta=0.015)
        self.assertAlmostEqual((wide.high - wide.low) / (narrow.high - narrow.low), 4.0, delta=0.4)

    def test_questions_that_go_together_narrow_less(self) -> None:
        # Forty questions of which half are right: each a draw of its own, or eight documents of five that are right or wrong as a whole.
        narrow = clustered_interval([[float(i % 2 == 0)] for i in range(40)])
        together = [[float(i % 2 == 0)] * 5 for i in range(8)]
        wide = clustered_interval(together)
        # Standard deviation 0.5 over the root of 40, and of 8.
        self.assertAlmostEqual(narrow.high - narrow.low, 2 * 1.96 * 0.5 / math.sqrt(40.0), delta=0.03)
        self.assertAlmostEqual(wide.high - wide.low, 2 * 1.96 * 0.5 / math.sqrt(8.0), delta=0.08)
        self.assertEqual(clustered_interval([]), Interval(0.0, 1.0))
        self.assertEqual(clustered_interval([*together, []]), wide, "a document without a question counts for nothing")

    def test_scores_of_zero_and_one_take_wilson(self) -> None:
        self.assertEqual(mean_interval([1.0, 1.0, 0.0, 1.0]), wilson_interval(3, 4))
        mixed = [1.0, 0.5, 0.0, 1.0]
        self.assertEqual(mean_interval(mixed), bootstrap_interval(mixed))

    def test_add_from_left_to_right(self) -> None:
        self.assertEqual(total([1e16, 1.0, -1e16]), 0.0, "sum() of Python 3.12 says 1")
        self.assertEqual(mean([]), 0.0)

    def test_draw_splitmix64(self) -> None:
        # The first numbers of seed 0, as published with the generator.
        random = RandomNumbers(0)
        self.assertEqual([random.next() for _ in range(2)], [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4])


if __name__ == "__main__":
    unittest.main()
