//! Makes a program that shows a mistake as small as possible.

use crate::generate::{Sketch, Statement};

/// The smallest sketch that can be had from `sketch` by dropping and unwrapping pieces, one after the other, while `fails` stays true of
/// it. `fails` must be false for texts that are no programs.
pub fn shrink(sketch: &Sketch, mut fails: impl FnMut(&Sketch) -> bool) -> Sketch {
    let mut smallest = sketch.clone();
    loop {
        let mut candidates = smaller(&smallest).into_iter();
        match candidates.find(|candidate| fails(candidate)) {
            Some(candidate) => smallest = candidate,
            None => return smallest,
        }
    }
}

/// Every sketch that is smaller by one piece.
fn smaller(sketch: &Sketch) -> Vec<Sketch> {
    let mut found = Vec::new();
    let mut push = |change: &dyn Fn(&mut Sketch)| {
        let mut candidate = sketch.clone();
        change(&mut candidate);
        found.push(candidate);
    };
    for index in 0..sketch.threads.len() {
        push(&|s| drop(s.threads.remove(index)));
    }
    for index in 0..sketch.nevers.len() {
        push(&|s| drop(s.nevers.remove(index)));
    }
    for (index, thread) in sketch.threads.iter().enumerate() {
        for body in smaller_bodies(&thread.body) {
            push(&|s| s.threads[index].body = body.clone());
        }
    }
    for index in 0..sketch.declarations.len() {
        push(&|s| drop(s.declarations.remove(index)));
    }
    for (index, thread) in sketch.threads.iter().enumerate() {
        for register in 0..thread.registers.len() {
            push(&|s| drop(s.threads[index].registers.remove(register)));
        }
        if let Some((name, _)) = thread.head.split_once('[') {
            push(&|s| s.threads[index].head = name.to_string());
        }
    }
    found
}

/// Every list of statements that is smaller by one piece.
fn smaller_bodies(body: &[Statement]) -> Vec<Vec<Statement>> {
    let mut found = Vec::new();
    for index in 0..body.len() {
        let replaced = |by: &[Statement]| {
            let mut all = body[..index].to_vec();
            all.extend_from_slice(by);
            all.extend_from_slice(&body[index + 1..]);
            all
        };
        found.push(replaced(&[]));
        if let Statement::Compound(head, blocks, between) = &body[index] {
            found.extend(blocks.iter().map(|block| replaced(block)));
            for (at, block) in blocks.iter().enumerate() {
                let with = |blocks| replaced(&[Statement::Compound(head.clone(), blocks, between)]);
                if blocks.len() > 1 {
                    let mut fewer = blocks.clone();
                    fewer.remove(at);
                    found.push(with(fewer));
                }
                for smaller in smaller_bodies(block) {
                    let mut changed = blocks.clone();
                    changed[at] = smaller;
                    found.push(with(changed));
                }
            }
        }
    }
    found
}
