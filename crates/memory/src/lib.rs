//! The memory models themselves, as plain small-step machines: SC, TSO, RA
