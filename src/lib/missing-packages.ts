import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { packageFile } from "./package-file.ts"

/**
 * A sentence on how to add those of the optional packages that are not installed; undefined if all are there. `what` begins the
 * sentence: "Reading web pages".
 */
export function missingPackages(what: string, packages: readonly string[]): string | undefined {
  const missing = packages.filter((name) => !isInstalled(name))
  if (missing.length === 0) return undefined
  const [packagesAre, them] = missing.length === 1 ? ["a package that is", "it"] : ["packages that are", "them"]
  const command = `npm install ${missing.map(withVersion).join(" ")}`
  return `${what} needs ${packagesAre} not installed. Add ${them} where Quartermaster is installed, with '${command}'.`
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch (error) {
    // Another code means that the package is there and only answers to `import`.
    return (error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND"
  }
}

/** The name with the lowest version that works with this version of Quartermaster. */
function withVersion(name: string): string {
  const { peerDependencies } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as {
    peerDependencies: Record<string, string>
  }
  return `${name}@${peerDependencies[name]?.replace("^", "") ?? "latest"}`
}
