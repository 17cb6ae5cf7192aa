// Runs the module: one question after the other. A question that takes too long ends with this worker.
import { imports, wasi } from "./wasi";

interface Exports {
  memory: WebAssembly.Memory;
  _initialize?: () => void;
  room(length: number): number;
  ask(): number;
  answer(): number;
}

let exports: Promise<Exports> | undefined;
let said = "";

async function start(module: WebAssembly.Module): Promise<Exports> {
  let memory: WebAssembly.Memory;
  const functions = wasi(
    () => memory,
    (text) => (said = (said + text).slice(-2000)),
  );
  const instance = await WebAssembly.instantiate(module, imports(module, functions));
  const found = instance.exports as unknown as Exports;
  memory = found.memory;
  found._initialize?.();
  return found;
}

addEventListener("message", async (event) => {
  const { module, question, id } = event.data;
  try {
    exports ??= start(module);
    const { memory, room, ask, answer } = await exports;
    const bytes = new TextEncoder().encode(JSON.stringify(question));
    new Uint8Array(memory.buffer, room(bytes.length), bytes.length).set(bytes);
    const length = ask();
    const text = new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), length).slice());
    postMessage({ id, answer: JSON.parse(text) });
  } catch (error) {
    // The module is in no state to be asked again.
    exports = undefined;
    const full = /memory|out of bounds|unreachable/i.test(String(error)) && /memory allocation/.test(said);
    postMessage({ id, trouble: full ? "memory" : String(error) });
  }
});
