// Questions to the worker, within limits of time: whatever does not come back is ended with its worker.

export interface Problem {
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  severity: "error" | "warning";
  message: string;
  help: string | null;
}

export interface Answer {
  verdict: "holds" | "violated" | "unknown" | "error";
  model?: string;
  criterion?: string;
  headline: string;
  text: string;
  reason?: string;
  problems: Problem[];
  lines: number[];
  svg?: string;
  player?: string;
  changed?: string;
}

/** Beyond its own limit the module has this much time to say what it found. */
const GRACE = 3000;

let module: Promise<WebAssembly.Module> | undefined;
let worker: Worker | undefined;
let pending: { id: number; reject: (why: Stopped) => void } | undefined;
let questions = 0;

/** The question was ended: by a later one, by the user, or by the limit of time. */
export class Stopped extends Error {
  constructor(readonly why: "superseded" | "user" | "time") {
    super(why);
  }
}

/** Ends the question that is under way. */
export function stop(why: "superseded" | "user" | "time"): void {
  if (!pending) return;
  worker?.terminate();
  worker = undefined;
  const ended = pending;
  pending = undefined;
  ended.reject(new Stopped(why));
}

export async function ask<T = Answer>(question: Record<string, unknown>, seconds: number): Promise<T> {
  stop("superseded");
  const id = ++questions;
  module ??= fetch("palisade.wasm").then((response) => {
    if (!response.ok) throw new Error("palisade.wasm: " + response.status);
    return WebAssembly.compileStreaming(response);
  });
  const compiled = await module;
  if (id !== questions) throw new Stopped("superseded");
  const running = (worker ??= new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }));
  return new Promise<T>((resolve, reject) => {
    const limit = setTimeout(() => stop("time"), seconds * 1000 + GRACE);
    const end = <V>(how: (value: V) => void, value: V) => {
      clearTimeout(limit);
      if (pending?.id === id) pending = undefined;
      how(value);
    };
    pending = { id, reject: (why) => end(reject, why) };
    running.onmessage = ({ data }) => {
      if (data.id !== id) return;
      if (data.trouble === undefined) return end(resolve, data.answer as T);
      running.terminate();
      if (worker === running) worker = undefined;
      end(reject, new Error(data.trouble === "memory" ? "the memory of this page is not enough" : "palisade itself went wrong here (" + data.trouble + "); please report this, with the program"));
    };
    running.onerror = (event) => end(reject, new Error(event.message || "the worker has ended"));
    running.postMessage({ id, module: compiled, question: { ...question, seconds } });
  });
}
