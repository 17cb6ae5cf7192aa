//! What several tests need.

use palisade_check::Reductions;

const ALL: Reductions = Reductions::ALL;

/// No reduction at all, and all but one, for each that every search knows.
pub const ONE_OFF: [Reductions; 6] = [
    Reductions::NONE,
    Reductions {
        local_steps: false,
        ..ALL
    },
    Reductions {
        dead_registers: false,
        ..ALL
    },
    Reductions {
        symmetry: false,
        ..ALL
    },
    Reductions {
        partial_order: false,
        ..ALL
    },
    Reductions {
        static_filter: false,
        ..ALL
    },
];
