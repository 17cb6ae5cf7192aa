// As much of an operating system as the module needs: a clock, random numbers, and nowhere to write to.

export function wasi(memory: () => WebAssembly.Memory, say: (text: string) => void): WebAssembly.ModuleImports {
  const view = () => new DataView(memory().buffer);
  const BAD_FILE = 8;
  const known: Record<string, (...args: any[]) => number> = {
    clock_time_get: (_clock: number, _precision: bigint, at: number) => {
      view().setBigUint64(at, BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6)), true);
      return 0;
    },
    random_get: (at: number, length: number) => {
      crypto.getRandomValues(new Uint8Array(memory().buffer, at, length));
      return 0;
    },
    environ_sizes_get: (count: number, size: number) => {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    fd_write: (_file: number, list: number, length: number, written: number) => {
      let total = 0;
      for (let i = 0; i < length; i++) {
        const [at, size] = [view().getUint32(list + 8 * i, true), view().getUint32(list + 8 * i + 4, true)];
        say(new TextDecoder().decode(new Uint8Array(memory().buffer, at, size).slice()));
        total += size;
      }
      view().setUint32(written, total, true);
      return 0;
    },
    sched_yield: () => 0,
    proc_exit: (code: number) => {
      throw new Error("the module has ended with " + code);
    },
  };
  // There are no files: whatever is asked about one has the same answer.
  return new Proxy(known, { get: (all, name: string) => all[name] ?? (() => BAD_FILE), has: () => true });
}

/** The imports of a module, each by its name, as `WebAssembly.instantiate` looks them up. */
export function imports(module: WebAssembly.Module, functions: WebAssembly.ModuleImports): WebAssembly.Imports {
  const found: WebAssembly.ModuleImports = {};
  for (const { name } of WebAssembly.Module.imports(module)) found[name] = functions[name];
  return { wasi_snapshot_preview1: found };
}
