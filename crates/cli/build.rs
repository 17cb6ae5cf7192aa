//! How the command is linked.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    // Thousands of addresses in tables would be filled in at every start, which takes a tenth of the shortest answers.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // To load the library that unwinds the stack takes a tenth, too. Where the compiler has it in a form that becomes a part of the command, the linker
    // finds that form first, under the name that it looks for.
    let own = std::env::var_os("OUT_DIR").map(PathBuf::from);
    if let (Some(own), Some(archive)) = (own, file_of_the_compiler("libgcc_eh.a"))
        && std::fs::copy(archive, own.join("libgcc_s.a")).is_ok()
    {
        println!("cargo::rustc-link-search=native={}", own.display());
    }
}

/// A file that the C compiler, which links for us, has.
fn file_of_the_compiler(name: &str) -> Option<PathBuf> {
    // What it has is for this machine.
    if std::env::var("HOST").ok()? != std::env::var("TARGET").ok()? {
        return None;
    }
    let mut ask = Command::new("cc");
    let said = ask.arg(format!("-print-file-name={name}")).output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    // Where there is none, it says the name alone.
    let path = Path::new(said.trim());
    (path.is_absolute() && path.is_file()).then(|| path.to_owned())
}
