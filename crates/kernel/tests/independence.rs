//! The second validator is made of itself and of the parsed program.

use std::path::Path;

#[test]
fn it_takes_nothing_but_a_program() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = std::fs::read_to_string(here.join("Cargo.toml")).unwrap();
    let (_, behind) = manifest.split_once("[dependencies]").unwrap();
    let (dependencies, _) = behind.split_once("[dev-dependencies]").unwrap();
    let lines: Vec<&str> = dependencies.split_whitespace().collect();
    assert_eq!(lines, ["palisade-lang.workspace", "=", "true"]);
    // What the searches compute with is not called: only types, and the size of a domain.
    for entry in std::fs::read_dir(here.join("src")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for shared in [
            ".eval(",
            ".reduce(",
            ".binary(",
            ".unary(",
            ".holds(",
            ".locate(",
            ".outgoing(",
            ".for_each_",
            ".instances(",
            ".with_copies(",
            ".target(",
            ".is_plain(",
        ] {
            let own = ["self.locate("];
            let without_own = own.iter().fold(code.to_owned(), |t, o| t.replace(o, ""));
            assert!(!without_own.contains(shared), "{path:?} calls {shared}");
        }
    }
}
