//! A real editor, Neovim, with the setup that the book recommends, where it is installed.

use std::path::Path;
use std::process::Command;

const PROGRAM: &str =
    "shared x,y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let s = x; }\n";

/// What the editor does: it waits for the verdict, asks what a name is, formats, puts fences in, writes the run.
const SCRIPT: &str = r#"
local function say(name, value)
  io.stdout:write(name .. ": " .. tostring(value):gsub("\n", " / ") .. "\n")
end
local function request(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 60000)
  for _, answer in pairs(answers or {}) do
    return answer.result, answer.error
  end
end
local ok, err = pcall(function()
  vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 50)
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    say("diagnostic", diagnostic.message)
  end
  vim.api.nvim_win_set_cursor(0, { 2, 11 })
  local at = vim.lsp.util.make_position_params(0, "utf-16")
  say("hover", request("textDocument/hover", at).contents.value)
  say("definition", request("textDocument/definition", at).range.start.line)
  local lenses = request("textDocument/codeLens", { textDocument = at.textDocument })
  say("lens", lenses[1].command.title)
  vim.cmd("PalisadeRun " .. vim.env.RUN)
  vim.wait(60000, function() return vim.fn.filereadable(vim.env.RUN) == 1 and vim.fn.getfsize(vim.env.RUN) > 0 end, 50)
  local edits = request("textDocument/formatting", { textDocument = at.textDocument, options = { tabSize = 2, insertSpaces = true } })
  vim.lsp.util.apply_text_edits(edits, 0, "utf-16")
  say("formatted", vim.api.nvim_buf_get_lines(0, 0, 1, false)[1])
  vim.cmd("silent write")
  local uri = vim.uri_from_bufnr(0)
  local _, refused = request("workspace/executeCommand", { command = "palisade.fences", arguments = { uri } })
  say("refused", refused and refused.message or "no")
  vim.wait(60000, function() return vim.fn.search("fence", "nw") > 0 end, 50)
  say("text", table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"))
end)
if not ok then say("failed", err) end
vim.cmd("qa!")
"#;

#[test]
fn neovim_shows_what_the_server_says() {
    if Command::new("nvim").arg("--version").output().is_err() {
        palisade_testkit::skipped("Neovim");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    std::fs::write(file("sb.pal"), PROGRAM).unwrap();
    std::fs::write(file("script.lua"), SCRIPT).unwrap();
    let setup = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/neovim.lua");
    let output = Command::new("nvim")
        .args(["--headless", "-u", "NONE", "-i", "NONE", "-n"])
        .arg("-c")
        .arg(format!("luafile {}", setup.display()))
        .arg("-c")
        .arg(format!("edit {}", file("sb.pal").display()))
        .arg("-c")
        .arg(format!("luafile {}", file("script.lua").display()))
        .current_dir(directory.path())
        .env("PALISADE", env!("CARGO_BIN_EXE_palisade"))
        .env("RUN", file("run.html"))
        .env("HOME", directory.path())
        .env("XDG_STATE_HOME", directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    for wanted in [
        "diagnostic: violated: not robust against TSO",
        "shared memory",
        "definition: 0",
        "lens: ✗ violated",
        "formatted: shared x, y;",
        "refused: no",
        "fence;",
    ] {
        assert!(said.contains(wanted), "no {wanted} in\n{said}");
    }
    let run = std::fs::read_to_string(file("run.html")).unwrap();
    assert!(run.contains("class=\"player\""));
}
