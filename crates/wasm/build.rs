//! Programs may be nested as deep as parsers allow, and memory is limited, also where nothing else limits it.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("wasm") {
        println!("cargo:rustc-link-arg-cdylib=-zstack-size=16777216");
        println!("cargo:rustc-link-arg-cdylib=--max-memory=1073741824");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
