import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** Where a built worker of this folder lies: beside this file, below the bundle, or in dist when this is the source. */
export function workerFile(name: string): string {
  const places = [`./${name}.js`, `./world/code/${name}.js`, `../../../dist/world/code/${name}.js`]
  const found = places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((file) => existsSync(file))
  if (found === undefined) throw new Error(`The ${name} is not built. Run: npm run build`)
  return found
}

/** The folder with the grammars. */
export function grammarFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm/package.json")), "wasm")
}
