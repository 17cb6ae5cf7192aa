//! Names that Promela, C and the verifier that SPIN makes accept.

use std::collections::HashSet;

/// Words of Promela and C, and names that the verifier itself uses.
const RESERVED: &str = "active assert atomic auto bit bool break byte case chan char const continue copy d_step d_proctype default do \
    double else empty enabled enum eval extern false fi float for full goto hidden if in init inline inp int len local long ltl mtype \
    nempty never nfull notrace np_ od of old pc_value pid print printf printm priority proctype provided register return run select \
    set_priority short show signed sizeof skip static struct switch timeout trace true typedef typename union unless unsigned unused void \
    volatile while xr xs D_proctype c_code c_decl c_expr c_state c_track get_priority monitor mem now locked stdin stdout stderr NULL \
    inline main exit";

/// Gives out names, each only once.
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    pub(super) fn new() -> Self {
        Names {
            taken: RESERVED.split_whitespace().map(str::to_string).collect(),
        }
    }

    /// A name that looks like `wanted`.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let mut name: String = wanted
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        // Names that begin with `_` or a capital belong to the verifier, and these are labels with a meaning.
        let special = ["end", "accept", "progress"];
        if !name.starts_with(|c: char| c.is_ascii_lowercase())
            || special.iter().any(|s| name.starts_with(s))
        {
            name.insert_str(0, "v_");
        }
        let mut candidate = name.clone();
        let mut number = 2;
        while !self.taken.insert(candidate.clone()) {
            candidate = format!("{name}_{number}");
            number += 1;
        }
        candidate
    }
}
