//! Walking a state space: packed states, an exact visited set, limits, progress
