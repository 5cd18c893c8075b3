"""The compiled loops over data. They know verbs, and no concrete loss, penalty, sampler, step rule or algorithm."""
