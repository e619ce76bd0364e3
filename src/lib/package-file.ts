import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** The path of a file of this package, given from the package's root. */
export function packageFile(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}

/** The path of what the build made, given from dist, such as a worker. Undefined where nothing is built. */
export function findBuiltFile(path: string): string | undefined {
  const besideThisModule = fileURLToPath(new URL(`../${path}`, import.meta.url))
  return [besideThisModule, packageFile(`dist/${path}`)].find((file) => existsSync(file))
}
