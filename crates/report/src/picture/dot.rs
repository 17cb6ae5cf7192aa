//! A run for Graphviz: a cluster per thread, with the same colours, dashes and names of arrows as in the picture.

use super::diagram::Diagram;
use super::scene::Ink;
use std::fmt::Write;

/// The run.
pub(crate) fn run(diagram: &Diagram) -> String {
    let mut out = String::from(
        "digraph run {\n  graph [fontname=\"sans-serif\", rankdir=TB, labelloc=t];\n  \
         node [shape=box, style=rounded, fontname=\"monospace\", fontsize=11];\n  \
         edge [fontname=\"monospace\", fontsize=11];\n",
    );
    let mut title = vec![diagram.title.clone()];
    title.extend(diagram.captions.iter().cloned());
    let _ = writeln!(out, "  label=\"{}\";", lines(&title));
    for (column, name) in diagram.columns.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{column} {{");
        let _ = writeln!(out, "    label=\"{}\"; color=gray;", escape(name));
        let mut before: Option<usize> = None;
        for (index, node) in diagram.nodes.iter().enumerate() {
            if node.column != column {
                continue;
            }
            let mut text = vec![format!("step {}", node.steps.0 + 1)];
            if !node.code.is_empty() {
                text.push(format!("{}: {}", node.line, node.code));
            }
            if !node.effect.is_empty() {
                text.push(node.effect.clone());
            }
            if let Some((_, badge)) = &node.badge {
                text.push(format!("({badge})"));
            }
            let hot = match node.frame.class().contains("hot") {
                true => ", penwidth=2.5",
                false => "",
            };
            let _ = writeln!(out, "    n{index} [label=\"{}\"{hot}];", lines(&text));
            if let Some(before) = before {
                let _ = writeln!(
                    out,
                    "    n{before} -> n{index} [color=gray, arrowhead=none];"
                );
            }
            before = Some(index);
        }
        out.push_str("  }\n");
    }
    for lane in &diagram.lanes {
        if let Some(to) = lane.to {
            let _ = writeln!(
                out,
                "  n{} -> n{to} [color=goldenrod, style=dotted, penwidth=3, label=\"waits\"];",
                lane.from
            );
        }
    }
    for link in &diagram.links {
        let (colour, style) = match link.ink {
            Ink::Po => ("black", "solid"),
            Ink::Rf => ("red", "solid"),
            Ink::Co => ("blue", "dashed"),
            Ink::Fr => ("darkorange3", "dashed"),
            Ink::Race => ("purple", "dashed"),
            Ink::Sw | Ink::Psc | Ink::Flow => ("gray40", "solid"),
        };
        let width = if link.bold { ", penwidth=2.5" } else { "" };
        let both = if link.both { ", dir=both" } else { "" };
        let _ = writeln!(
            out,
            "  n{} -> n{} [label=\"{}\", color={colour}, fontcolor={colour}, style={style}, constraint=false{width}{both}];",
            link.from,
            link.to,
            link.ink.names().0
        );
    }
    out.push_str("}\n");
    out
}

fn lines(texts: &[String]) -> String {
    let escaped: Vec<String> = texts.iter().map(|text| escape(text)).collect();
    // `\l` ends a line that stands on the left.
    escaped.iter().map(|text| format!("{text}\\l")).collect()
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
