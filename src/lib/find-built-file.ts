import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

/**
 * Where the build has put a file that is started by its path, such as `store/mover-worker.js`: beside the calling file,
 * below the bundle, or in dist when sources run. `from` is the `import.meta.url` of a file in the same folder.
 */
export function findBuiltFile(path: string, from: string): string | undefined {
  const steps = path.split("/")
  const places = [`./${steps.at(-1)}`, `./${path}`, `${"../".repeat(steps.length)}dist/${path}`]
  return places.map((place) => fileURLToPath(new URL(place, from))).find((file) => existsSync(file))
}
