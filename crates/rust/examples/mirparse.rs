fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        match palisade_rust::mir::parse(&text, "") {
            Ok(unit) => println!(
                "{path}: {} bodies, {} statics",
                unit.bodies.len(),
                unit.statics.len()
            ),
            Err(e) => println!("{path}: {e}"),
        }
    }
}
