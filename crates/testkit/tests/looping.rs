//! Brute force for programs with loops against the plain one, on programs without: with bounds that no run meets, both decide the same.

use palisade_testkit::oracle::{
    ra_robust, ra_robust_looping, tso_persistent, tso_persistent_looping, tso_robust,
    tso_robust_looping,
};
use palisade_testkit::{Compared, Shape, compare};

/// More stores than a random program has.
const ENOUGH: usize = 16;

fn enough(compared: Compared) {
    assert!(compared.programs >= 1400, "{compared:?}");
    assert!(compared.violated >= compared.programs / 10, "{compared:?}");
}

#[test]
fn robust() {
    let looping = |p: &_| tso_robust_looping(p, ENOUGH);
    enough(compare(&Shape::TSO, 0..1500, tso_robust, looping));
}

#[test]
fn persistent() {
    let looping = |p: &_| tso_persistent_looping(p, ENOUGH);
    enough(compare(&Shape::TSO, 0..1500, tso_persistent, looping));
}

#[test]
fn robust_against_release_acquire() {
    let looping = |p: &_| ra_robust_looping(p, ENOUGH);
    enough(compare(&Shape::RA, 0..1500, ra_robust, looping));
}
