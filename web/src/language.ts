// Highlighting and completion of .pal.
import { completeFromList, snippetCompletion } from "@codemirror/autocomplete";
import { LanguageSupport, StreamLanguage } from "@codemirror/language";

const WORDS = "const domain shared fn thread never let if else while loop for in break continue choose select or atomic goto return assert assume wait fence skip program struct enum include".split(" ");
const ORDERS = "relaxed acquire release acqrel seqcst nonatomic".split(" ");
const CALLS = "cas bcas fadd xchg load store swap compare_exchange compare_exchange_weak fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min".split(" ");
const VALUES = "true false null me deadlock end".split(" ");

const kinds = new Map<string, string>([
  ...WORDS.map((word) => [word, "keyword"] as const),
  ...ORDERS.map((word) => [word, "modifier"] as const),
  ...CALLS.map((word) => [word, "propertyName"] as const),
  ...VALUES.map((word) => [word, "atom"] as const),
]);

const pal = StreamLanguage.define<{ comment: boolean; depth: number }>({
  name: "pal",
  startState: () => ({ comment: false, depth: 0 }),
  token(stream, state) {
    if (state.comment || stream.match("/*")) {
      state.comment = !stream.match(/^.*?\*\//);
      if (state.comment) stream.skipToEnd();
      return "comment";
    }
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match(/^"[^"]*"?/)) return "string";
    if (stream.match(/^0[xX][0-9a-fA-F]+|^[0-9]+/)) return "number";
    if (stream.match(/^[A-Za-z_][A-Za-z0-9_]*/)) {
      const word = stream.current();
      return kinds.get(word) ?? (stream.match(/^\s*:(?!:)/, false) ? "labelName" : "variableName");
    }
    if (stream.match(/^(->|\.\.|[-+&|^]=|<<|>>|[<>=!]=|&&|\|\||[-+*/%<>=!~&|^@])/)) return "operator";
    const sign = stream.next();
    state.depth += Number(sign === "{") - Number(sign === "}");
    return null;
  },
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "{"] } },
  indent: (state, after, { unit }) => Math.max(0, state.depth - (/^\s*\}/.test(after) ? 1 : 0)) * unit,
});

const completions = completeFromList([
  ...WORDS.map((label) => ({ label, type: "keyword" })),
  ...ORDERS.map((label) => ({ label, type: "constant" })),
  ...CALLS.map((label) => ({ label, type: "method" })),
  snippetCompletion("thread ${name} {\n  ${}\n}", { label: "thread", detail: "a thread", type: "class" }),
]);

export const palLanguage = () => new LanguageSupport(pal, pal.data.of({ autocomplete: completions }));
