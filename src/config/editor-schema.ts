import { lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { ensureDataFolder } from "../lib/ensure-folder.ts"
import { dataFolderName } from "./find-project.ts"
import { configJsonSchema } from "./schema.ts"

const schemaName = "quartermaster.schema.json"

/** The first line of a configuration, by which editors find the schema. It lies in the data folder, which git ignores. */
export const schemaLine = `# yaml-language-server: $schema=${dataFolderName}/${schemaName}`

/** Writes the schema by which editors complete and check the configuration in this folder. Returns where it is. */
export function writeSchema(dir: string): string {
  const folder = join(dir, dataFolderName)
  ensureDataFolder(folder)
  const file = join(folder, schemaName)
  // Neither a link in the place of the folder is followed, nor one in the place of the file.
  if (!lstatSync(folder).isDirectory()) return file
  rmSync(file, { force: true })
  writeFileSync(file, `${JSON.stringify(configJsonSchema(), null, 2)}\n`, { flag: "wx", mode: 0o600 })
  return file
}

/** The same for a configuration that names it: after a clone the schema is not there, and after an update it is old. */
export function renewSchema(configFile: string): void {
  if (!readFileSync(configFile, "utf8").startsWith(`${schemaLine}\n`)) return
  try {
    writeSchema(dirname(configFile))
  } catch {
    // Nothing but an editor needs it. Whoever opens the data folder is told that it cannot be written.
  }
}
