//! Replays witnesses by the rules of the memory models alone
