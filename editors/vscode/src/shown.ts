// What needs no editor to be tested: the settings, which files are looked at, the panel.

/** The server's settings, from the editor's. */
export function settings(get: (name: string) => unknown): Record<string, unknown> {
  const chosen = (name: string) => (get(name) === "auto" ? undefined : get(name));
  return {
    timeout: get("timeout"),
    memory: get("memory"),
    model: chosen("model"),
    criterion: chosen("criterion"),
    checkOnSave: get("checkOnSave"),
    rust: get("rust"),
  };
}

/** Files of C and Rust belong to others: they are looked at only where the user wants it. */
export function selector(get: (name: string) => unknown): { language: string; scheme?: string }[] {
  const languages = ["pal", "palisade-litmus", "palisade-tpl"];
  if (get("c")) languages.push("c");
  if (get("rust")) languages.push("rust");
  return languages.map((language) => ({ language, scheme: "file" }));
}

/** The page of a run; where there is none, what was said instead. */
export function panel(run: { html?: string; headline?: string; text?: string }): string {
  if (run.html) return run.html;
  const escape = (text: string) => text.replace(/[&<>"']/g, (c) => "&#" + c.charCodeAt(0) + ";");
  return `<!DOCTYPE html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"></head><body><h3>${escape(run.headline ?? "")}</h3><pre style="white-space:pre-wrap">${escape(run.text ?? "")}</pre></body></html>`;
}
