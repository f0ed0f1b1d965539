"""Random OpenMP programs that check themselves, and a campaign that runs them natively and under Steelyard."""
