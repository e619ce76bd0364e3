import { readFileSync } from "node:fs"
import { packageFile } from "../../../lib/package-file.ts"

export function version(): string {
  return (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version
}
