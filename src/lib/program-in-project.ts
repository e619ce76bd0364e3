import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** Reports whether npx finds this program from the folder without a download. */
export function isInProject(folder: string): boolean {
  if (hasProgram(join(folder, "node_modules", ".bin")) || isClone(folder)) return true
  const above = dirname(folder)
  return above !== folder && isInProject(above)
}

/** Reports whether the folder of programs has this one. */
export function hasProgram(folder: string): boolean {
  return ["qm", "qm.cmd"].some((name) => existsSync(join(folder, name)))
}

function isClone(folder: string): boolean {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name?: unknown }
    return name === "quartermaster"
  } catch {
    return false
  }
}
