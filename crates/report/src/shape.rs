//! The names that engineers give to cycles: SB, MP, IRIW and their relatives.
//!
//! A shape is a cycle of *visits*: the cycle comes into a thread by a relation between threads, goes at most once along program order, and
//! leaves by a relation again. Which access is a read and which a write follows from the relations alone, so a read-modify-write
//! counts as what it is used for.

use palisade_memory::{RelationName, Witness};

/// A cycle that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The short name.
    pub name: &'static str,
    /// What it stands for.
    pub meaning: &'static str,
    /// The visits, each written as the accesses along program order and the relation by which the cycle leaves.
    visits: &'static str,
}

/// Every shape we know, as `accesses>relation` for each visit.
const SHAPES: &[Shape] = &[
    shape("SB", "store buffering", "WR>fr WR>fr"),
    shape("MP", "message passing", "WW>rf RR>fr"),
    shape("LB", "load buffering", "RW>rf RW>rf"),
    shape("R", "a store against a store, then a load", "WW>co WR>fr"),
    shape("S", "message passing that ends in a store", "WW>rf RW>co"),
    shape("2+2W", "two threads with two stores each", "WW>co WW>co"),
    shape("RWC", "read-to-write causality", "W>rf RR>fr WR>fr"),
    shape("WRC", "write-to-read causality", "W>rf RW>rf RR>fr"),
    shape("WWC", "write-to-write causality", "W>rf RW>rf RW>co"),
    shape(
        "WRW+WR",
        "a causality that ends in a store, then a load",
        "W>rf RW>co WR>fr",
    ),
    shape(
        "WRR+2W",
        "a causality against two stores",
        "W>rf RR>fr WW>co",
    ),
    shape(
        "WRW+2W",
        "a causality that ends in two stores",
        "W>rf RW>co WW>co",
    ),
    shape(
        "IRIW",
        "independent reads of independent writes",
        "W>rf RR>fr W>rf RR>fr",
    ),
    shape(
        "IRRWIW",
        "independent reads and writes of independent writes",
        "W>rf RR>fr W>rf RW>co",
    ),
    shape(
        "IRWIW",
        "independent writes after reads",
        "W>rf RW>co W>rf RW>co",
    ),
    shape(
        "ISA2",
        "message passing through a third thread",
        "WW>rf RW>rf RR>fr",
    ),
    shape(
        "W+RWC",
        "read-to-write causality after a store",
        "WW>rf RR>fr WR>fr",
    ),
    shape(
        "3.SB",
        "store buffering around three threads",
        "WR>fr WR>fr WR>fr",
    ),
    shape(
        "3.LB",
        "load buffering around three threads",
        "RW>rf RW>rf RW>rf",
    ),
    shape(
        "3.2W",
        "three threads with two stores each",
        "WW>co WW>co WW>co",
    ),
    shape(
        "4.SB",
        "store buffering around four threads",
        "WR>fr WR>fr WR>fr WR>fr",
    ),
    shape("Z6.0", "a six-access cycle", "WW>rf RW>co WR>fr"),
    shape("Z6.1", "a six-access cycle", "WW>co WW>rf RW>co"),
    shape("Z6.2", "a six-access cycle", "WW>rf RW>rf RW>co"),
    shape("Z6.3", "a six-access cycle", "WW>co WW>rf RR>fr"),
    shape("Z6.4", "a six-access cycle", "WW>co WR>fr WR>fr"),
    shape("Z6.5", "a six-access cycle", "WW>co WW>co WR>fr"),
];

const fn shape(name: &'static str, meaning: &'static str, visits: &'static str) -> Shape {
    Shape {
        name,
        meaning,
        visits,
    }
}

/// The name of the witness' cycle, if it has one.
pub fn name(witness: &Witness) -> Option<Shape> {
    let visits = visits(witness)?;
    SHAPES.iter().copied().find(|shape| {
        let wanted: Vec<&str> = shape.visits.split(' ').collect();
        wanted.len() == visits.len()
            && (0..wanted.len()).any(|turn| {
                (0..wanted.len()).all(|at| visits[(at + turn) % visits.len()] == wanted[at])
            })
    })
}

/// The visits of the cycle in the notation of [`Shape::visits`]. `None` where a visit moves between accesses of one location (no
/// shape here does) or where the cycle is none.
fn visits(witness: &Witness) -> Option<Vec<String>> {
    let edges = &witness.edges;
    let thread = |event: usize| Some(&witness.events.get(event)?.thread);
    let external: Vec<usize> = (0..edges.len())
        .filter(|&at| {
            let edge = edges[at];
            edge.relation != RelationName::Po && thread(edge.from) != thread(edge.to)
        })
        .collect();
    if external.len() < 2 {
        return None;
    }
    let mut result = Vec::new();
    for (at, &leaves) in external.iter().enumerate() {
        let comes = external[(at + external.len() - 1) % external.len()];
        let first = edges[comes].to;
        let last = edges[leaves].from;
        if thread(first)? != thread(last)? {
            return None;
        }
        let out = edges[leaves].relation;
        let entry = if edges[comes].relation == RelationName::Rf {
            'R'
        } else {
            'W'
        };
        let exit = if out == RelationName::Fr { 'R' } else { 'W' };
        let accesses = if stored_at(witness, first) == stored_at(witness, last) {
            // One access that is come to as one thing and left as another is a read-modify-write: both at once.
            if entry != exit {
                return None;
            }
            exit.to_string()
        } else if witness.events[first].location == witness.events[last].location {
            return None;
        } else {
            format!("{entry}{exit}")
        };
        result.push(format!("{accesses}>{}", relation(out)));
    }
    Some(result)
}

/// The event itself, or for a flush the event that issued it.
fn stored_at(witness: &Witness, event: usize) -> usize {
    witness.events[event].issue.unwrap_or(event)
}

/// As JSON spells it.
pub(crate) fn relation(relation: RelationName) -> &'static str {
    match relation {
        RelationName::Po => "po",
        RelationName::Rf => "rf",
        RelationName::Co => "co",
        RelationName::Fr => "fr",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_memory::{Criterion, Edge, Event, EventKind, Model};

    /// `"p0 W x, p0 R y | 0 po 1, …"`
    pub(crate) fn witness(events: &str, edges: &str) -> Witness {
        let events: Vec<Event> = events
            .split(", ")
            .map(|event| {
                let words: Vec<&str> = event.split(' ').collect();
                Event {
                    thread: words[0].to_owned(),
                    kind: if words[1] == "R" {
                        EventKind::Load
                    } else {
                        EventKind::Store
                    },
                    location: Some(words[2].to_owned()),
                    value: Some(1),
                    read: None,
                    file: None,
                    line: 1,
                    column: 1,
                    issue: None,
                    order: None,
                    rf: None,
                    after: None,
                    atomic: false,
                    addresses: Default::default(),
                }
            })
            .collect();
        let edges: Vec<Edge> = edges
            .split(", ")
            .map(|edge| {
                let words: Vec<&str> = edge.split(' ').collect();
                Edge {
                    from: words[0].parse().unwrap(),
                    to: words[2].parse().unwrap(),
                    relation: match words[1] {
                        "po" => RelationName::Po,
                        "rf" => RelationName::Rf,
                        "co" => RelationName::Co,
                        _ => RelationName::Fr,
                    },
                }
            })
            .collect();
        Witness {
            model: Model::Tso,
            criterion: Criterion::Robust,
            cycle: edges.iter().map(|e| e.from).collect(),
            events,
            edges,
            pattern: None,
            loop_start: None,
            copies: None,
        }
    }

    fn named(events: &str, edges: &str) -> Option<&'static str> {
        name(&witness(events, edges)).map(|shape| shape.name)
    }

    #[test]
    fn the_usual_shapes() {
        assert_eq!(
            named(
                "a W x, a R y, b W y, b R x",
                "0 po 1, 1 fr 2, 2 po 3, 3 fr 0"
            ),
            Some("SB")
        );
        assert_eq!(
            named(
                "a W x, a W y, b R y, b R x",
                "1 rf 2, 2 po 3, 3 fr 0, 0 po 1"
            ),
            Some("MP")
        );
        assert_eq!(
            named(
                "a W x, b R x, b R y, c W y, c R x, d W q",
                "0 rf 1, 1 po 2, 2 fr 3, 3 po 4, 4 fr 0"
            ),
            Some("RWC")
        );
        assert_eq!(
            named(
                "a W x, b R x, b R y, c W y, d R y, d R x",
                "0 rf 1, 1 po 2, 2 fr 3, 3 rf 4, 4 po 5, 5 fr 0"
            ),
            Some("IRIW")
        );
        assert_eq!(
            named(
                "a W x, a W y, b W y, b W x",
                "0 po 1, 1 co 2, 2 po 3, 3 co 0"
            ),
            Some("2+2W")
        );
    }

    #[test]
    fn program_order_in_several_steps_is_one() {
        assert_eq!(
            named(
                "a W x, a R z, a R y, b W y, b R x",
                "0 po 1, 1 po 2, 2 fr 3, 3 po 4, 4 fr 0"
            ),
            Some("SB")
        );
    }

    #[test]
    fn accesses_of_one_location_make_no_such_shape() {
        assert_eq!(named("a W x, b R x, b R x", "0 rf 1, 1 po 2, 2 fr 0"), None);
    }

    #[test]
    fn the_table_is_well_formed_and_has_no_twins() {
        let turned = |shape: &Shape| {
            let visits: Vec<&str> = shape.visits.split(' ').collect();
            (0..visits.len())
                .map(|turn| {
                    let mut visits = visits.clone();
                    visits.rotate_left(turn);
                    visits.join(" ")
                })
                .min()
        };
        for (at, shape) in SHAPES.iter().enumerate() {
            let visits: Vec<&str> = shape.visits.split(' ').collect();
            for (here, next) in visits.iter().zip(visits.iter().cycle().skip(1)) {
                let (accesses, relation) = here.split_once('>').unwrap();
                assert_eq!(accesses.ends_with('R'), relation == "fr", "{}", shape.name);
                assert_eq!(next.starts_with('R'), relation == "rf", "{}", shape.name);
            }
            for other in &SHAPES[..at] {
                assert_ne!(
                    turned(shape),
                    turned(other),
                    "{} {}",
                    shape.name,
                    other.name
                );
            }
        }
    }
}
