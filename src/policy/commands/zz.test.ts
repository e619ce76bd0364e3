import { test } from "vitest"
import { loadParsers } from "./parsers.ts"
import { looseCommands } from "./loose.ts"
import { scanUnbash } from "./unbash.ts"
import { scanTree } from "./tree.ts"
import { isForkBomb } from "./dangers.ts"
test("x", async () => {
  const unbash = await import("unbash")
  const { Parser, Language } = await import("web-tree-sitter")
  const { createRequire } = await import("node:module")
  await loadParsers()
  const parser = new Parser(); parser.setLanguage(await Language.load(createRequire(import.meta.url).resolve("tree-sitter-bash/tree-sitter-bash.wasm")))
  const texts = ["(", "$(", "`", "{", "if ", "a;", "echo ", "'", "\\", "<<E\n", "((", "${", "[[ ", "env ", "bash -c '", "a|", "x=", "\n", "a", "$((", "case x in x) ", "f() { ","\"$(", "a && ", "<(", "a=(", "[", "!", "{ "]
  for (const size of [2000, 8000, 16000, 64000]) for (const t of texts) {
    const text = t.repeat(size / t.length)
    const time = (f: () => unknown) => { const s = performance.now(); try { f() } catch (e) { return "ERR " + String(e).slice(0, 40) } return Math.round(performance.now() - s) }
    const u = time(() => scanUnbash(unbash, text, { commands: [], redirects: [] })), tr = time(() => scanTree(parser, text, { commands: [], redirects: [] })), l = time(() => looseCommands(text)), fb = time(() => isForkBomb(text))
    if ([u, tr, l, fb].some(x => typeof x === "string" || x > 40)) console.log(size, JSON.stringify(t), "unbash", u, "tree", tr, "loose", l, "bomb", fb)
  }
}, 600000)
