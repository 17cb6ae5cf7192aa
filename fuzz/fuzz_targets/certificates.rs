//! Any bytes as a certificate: no panic, and nothing is shown.
#![no_main]

use palisade_certificate::{Claim, Header, Locations, Proof, Reader};
use palisade_memory::{Criterion, Model};

const QUESTIONS: [(Model, Criterion); 8] = [
    (Model::Sc, Criterion::Safe),
    (Model::Tso, Criterion::Drf),
    (Model::Tso, Criterion::Trf),
    (Model::Tso, Criterion::Robust),
    (Model::Tso, Criterion::Persistent),
    (Model::Tso, Criterion::Safe),
    (Model::Ra, Criterion::Robust),
    (Model::Ra, Criterion::Safe),
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // Violates every criterion, so no certificate can be right.
    let program = palisade_testkit::program(
        "shared x, y;\nthread a { x = 1; let r = y; assert r == 2; }\nthread b { y = 1; let s = x; }\n",
    );
    for (model, criterion) in QUESTIONS {
        let claim = Claim {
            locations: Locations::All,
            ..Claim::new(model, criterion)
        };
        // Some claims have no proof of this form, and are refused for it.
        let buffers = Claim {
            proof: Proof::Buffers(1),
            ..claim
        };
        for claim in [claim, buffers] {
            let mut file = Header::new(&program, claim).to_text().into_bytes();
            file.extend_from_slice(data);
            let asked = palisade_validate::Asked {
                locations: claim.locations,
                ..palisade_validate::Asked::new(model, criterion)
            };
            let judged =
                palisade_validate::validate_certificate(&program, asked, || Reader::new(&file[..]));
            assert!(judged.is_err(), "{claim:?}");
        }
    }
});
