# SPDX-License-Identifier: BSD-3-Clause
import itertools
import random
import unittest

import analytic


def brute_force(work, capacities):
    """The smallest makespan over all counts and all placements."""
    best = None
    for threads in itertools.product(range(1, max(capacities) + 1), repeat=len(work)):
        for places in itertools.product(range(len(capacities)), repeat=len(work)):
            used = [sum(n for n, place in zip(threads, places) if place == d) for d in range(len(capacities))]
            if all(u <= c for u, c in zip(used, capacities)):
                span = analytic.makespan(work, threads)
                best = span if best is None else min(best, span)
                break
    return best


class Optimum(unittest.TestCase):
    def test_is_what_exhaustive_search_finds(self):
        rng = random.Random(1)
        for _ in range(40):
            capacities = rng.choice([(4,), (3, 3), (4, 2), (2, 2, 2)])
            work = [rng.randint(0, 40) for _ in range(rng.randint(1, 4))]
            if not any(work):
                continue
            with self.subTest(work=work, capacities=capacities):
                threads = analytic.optimal_threads(work, capacities)
                self.assertIsNotNone(analytic.pack(threads, capacities))
                self.assertEqual(analytic.makespan(work, threads), brute_force(work, capacities))

    def test_stays_inside_a_domain(self):
        self.assertEqual(analytic.makespan([100, 1], analytic.optimal_threads([100, 1], [4, 4])), 25)

    def test_refuses_more_ranks_than_cores(self):
        with self.assertRaises(ValueError):
            analytic.optimal_threads([1] * 5, [2, 2])

    def test_packs_what_first_fit_cannot(self):
        self.assertIsNotNone(analytic.pack([5, 4, 3, 3, 3], [9, 9]))
        self.assertIsNone(analytic.pack([5, 5, 5], [9, 9]))


class PaperRule(unittest.TestCase):
    def test_gives_what_is_left_to_the_largest_remainders(self):
        work = [145, 125, 110, 100, 95, 85, 75, 65]
        self.assertEqual(analytic.shares(work, 48), [9, 7, 7, 6, 6, 5, 4, 4])

    def test_shares_use_every_core_and_starve_no_rank(self):
        rng = random.Random(2)
        for _ in range(200):
            work = [rng.choice([0, 1, rng.randint(1, 1000)]) for _ in range(8)]
            if not any(work):
                continue
            counts = analytic.shares(work, 48)
            self.assertEqual(sum(counts), 48)
            self.assertGreaterEqual(min(counts), 1)

    def test_the_example_of_the_paper_misses_one_core(self):
        threads = analytic.paper_threads([14, 9, 13, 12], [24, 24])
        self.assertEqual(sum([14, 9, 13, 12]) - sum(threads), 1)

    def test_is_never_better_than_the_optimum(self):
        rng = random.Random(3)
        for _ in range(50):
            work = [rng.randint(1, 1000) for _ in range(8)]
            best = analytic.makespan(work, analytic.optimal_threads(work, [24, 24]))
            self.assertGreaterEqual(analytic.makespan(work, analytic.paper_threads(work, [24, 24])), best)


class Program(unittest.TestCase):
    def test_loads_sum_to_the_ranks(self):
        for imbalance in (0, 100, 200, 500):
            loads = analytic.unbalanced_loads(8, imbalance)
            self.assertAlmostEqual(sum(loads), 8)
            self.assertAlmostEqual(max(loads), 1 + imbalance / 100)


if __name__ == "__main__":
    unittest.main()
