//! Random programs and brute force by the definitions, for tests only
