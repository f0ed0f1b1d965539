# SPDX-License-Identifier: BSD-3-Clause
"""Random OpenMP programs that check themselves, and a campaign that runs them natively and under Steelyard."""
