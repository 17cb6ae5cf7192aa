import { defineConfig } from "vite";
import { resolve } from "node:path";

export default defineConfig({
  // The page works wherever it lies: on a server of its own, in a folder of the book, in the command.
  base: "./",
  server: { fs: { allow: [".."] } },
  build: {
    target: "es2022",
    rollupOptions: { input: { index: resolve(import.meta.dirname, "index.html"), player: resolve(import.meta.dirname, "player.html") } },
  },
  worker: { format: "es" },
});
