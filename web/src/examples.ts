// Programs to begin with, from the project's own.
import storeBuffering from "../../programs/litmus/sb.pal?raw";
import messagePassing from "../../programs/litmus/mp.pal?raw";
import peterson from "../../programs/mutex/peterson-sc.pal?raw";
import dekker from "../../programs/mutex/dekker-sc.pal?raw";
import bakery from "../../programs/mutex/bakery-2.pal?raw";
import ticket from "../../programs/locks/ticketlock.pal?raw";
import seqlock from "../../programs/sync/seqlock.pal?raw";
import chaseLev from "../../programs/queues/chase-lev-sc.pal?raw";
import latch from "../../programs/bugs/postgresql-latch.pal?raw";
import anyNumber from "../../programs/param/spinlock.pal?raw";
import peterC from "../../programs/c/peterson-weak.c?raw";
import spinC from "../../programs/c/spinlock.c?raw";
import stackC from "../../programs/c/stack.c?raw";

export interface Example {
  name: string;
  language: string;
  text: string;
}

const own = `shared x;

thread p {
  x = 1;
}

thread q {
  let r = x;
}
`;

/** Without the lines that say which verdicts it must get: those would give the answer away. */
const shown = (text: string) =>
  text
    .split("\n")
    .filter((line) => !line.startsWith("// expect") && !line.startsWith("// orders"))
    .join("\n")
    .replace("\n//\n\n", "\n\n");

const pal = (name: string, text: string): Example => ({ name, language: "pal", text: shown(text) });
const c = (name: string, text: string): Example => ({ name, language: "c", text: shown(text) });

export const EXAMPLES: Example[] = [
  pal("Store buffering", storeBuffering),
  pal("Message passing", messagePassing),
  pal("Peterson's lock", peterson),
  pal("Dekker's lock", dekker),
  pal("Bakery lock", bakery),
  pal("Ticket lock", ticket),
  pal("Sequence lock", seqlock),
  pal("Work-stealing queue", chaseLev),
  pal("A lost wake-up", latch),
  pal("A lock for any number of threads", anyNumber),
  c("C: Peterson's lock, too weak", peterC),
  c("C: a spin lock", spinC),
  c("C: a lock-free stack", stackC),
  pal("Your own", own),
];

/** The languages, and what a file in them is called: the name decides how the text is read. */
export const LANGUAGES: [id: string, name: string, file: string][] = [
  ["pal", "Palisade", "program.pal"],
  ["c", "C", "program.c"],
  ["litmus", "litmus test", "program.litmus"],
  ["tpl", "Rocker (.tpl)", "program.tpl"],
  ["trencher", "automata", "program.txt"],
];
