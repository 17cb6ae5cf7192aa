//! Pictures of runs, and of programs.
//!
//! [`run`] draws a witness as engineers do: a column per thread, time downwards, the user's statements in boxes, a store that waits drawn
//! from where it is issued to where it reaches memory, and the arrows of happens-before with the cycle in bold. The layout is given by
//! threads and time; `diagram` turns it into boxes and lines at fixed places (a `Scene`), and `svg` writes those down. [`flow`]
//! draws the control-flow graphs of a program in the same manner.

mod diagram;
mod dot;
mod flow;
mod scene;
mod svg;
mod witness;

use palisade_lang::Program;
use palisade_memory::Witness;

/// A picture, ready to be written in a format.
#[derive(Clone, Debug)]
pub struct Picture {
    scene: scene::Scene,
}

/// The run of a witness. `file` is what its program is called in the title.
pub fn run(witness: &Witness, program: &Program, file: &str) -> Picture {
    Picture {
        scene: diagram::draw(&witness::diagram(witness, program, file)),
    }
}

/// The run of a witness for Graphviz, which makes its own layout.
pub fn run_dot(witness: &Witness, program: &Program, file: &str) -> String {
    dot::run(&witness::diagram(witness, program, file))
}

/// The control-flow graphs of a program's threads.
pub fn flow(program: &Program, title: &str) -> Picture {
    Picture {
        scene: flow::draw(program, title),
    }
}

impl Picture {
    /// As SVG: a file of its own, light or dark as the reader's system is.
    pub fn svg(&self) -> String {
        svg::document(&self.scene)
    }

    /// As a web page that fetches nothing.
    pub fn html(&self) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
             <style>{}body{{margin:0}}svg{{display:block;margin:0 auto;max-width:100%;height:auto}}</style>\n\
             </head>\n<body>\n{}</body>\n</html>\n",
            svg::escape(&self.scene.title),
            svg::ground_of_page(),
            svg::document(&self.scene)
        )
    }

    /// As a part of a page that has [`style`] once.
    pub(crate) fn inline(&self) -> String {
        svg::inline(&self.scene)
    }
}

/// What makes inline pictures look.
pub(crate) fn style() -> String {
    svg::style()
}

/// A file's name without its directory, which does not help a person who looks at a picture.
fn base_name(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

#[cfg(test)]
mod tests;
