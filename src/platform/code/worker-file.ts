import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { findBuiltFile } from "../../lib/package-file.ts"

/** The path of a built worker of this folder. */
export function workerFile(name: string): string {
  const found = findBuiltFile(`platform/code/${name}.js`)
  if (found === undefined) throw new Error(`The ${name} is not built. Run: npm run build`)
  return found
}

/** The folder with the grammars. */
export function grammarFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm/package.json")), "wasm")
}
