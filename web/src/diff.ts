// Two texts, line by line: what goes, what comes, and a little around it.

export interface DiffLine {
  kind: "same" | "add" | "del" | "gap";
  text: string;
}

const AROUND = 2;

export function diff(old: string, next: string): DiffLine[] {
  const [a, b] = [old.split("\n"), next.split("\n")];
  // The longest common sequence of lines, from behind. Programs are short.
  const longest = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const all: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) all.push({ kind: "same", text: a[i++] }), j++;
    else if (j < b.length && (i === a.length || longest[i][j + 1] > longest[i + 1][j])) all.push({ kind: "add", text: b[j++] });
    else all.push({ kind: "del", text: a[i++] });
  }
  const near = all.map((_, at) => all.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((line) => line.kind !== "same"));
  const shown: DiffLine[] = [];
  all.forEach((line, at) => {
    if (near[at]) shown.push(line);
    else if (shown.length && shown.at(-1)!.kind !== "gap") shown.push({ kind: "gap", text: "…" });
  });
  return shown;
}
