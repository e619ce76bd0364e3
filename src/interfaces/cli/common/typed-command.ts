import { delimiter } from "node:path"
import { hasProgram, isInProject } from "../../../lib/program-in-project.ts"
import { shellWord } from "../../../lib/shell-word.ts"
import type { Flags, Io } from "./context.ts"

/** The command by which a person in this folder starts this program. */
export type TypedCommand = "qm" | "npx qm" | `node ${string}`

/**
 * `qm` where it is on the PATH, `npx qm` in a clone or a project that has it installed, otherwise by its file. The PATH of
 * npm and npx has folders of packages in it, which the person's own has not.
 */
export function typedCommand({ env, cwd, program }: Pick<Io, "env" | "cwd" | "program">): TypedCommand {
  const folders = (env["PATH"] ?? "").split(delimiter)
  const isOnPath = folders.some((folder) => !folder.includes("node_modules") && folder !== "" && hasProgram(folder))
  if (isOnPath) return "qm"
  return isInProject(cwd) ? "npx qm" : `node ${program.script}`
}

/**
 * The text with the commands in it as the person can type them: `qm trust` becomes `npx qm trust`, and `qm -C demo trust`
 * where `-C demo` was given. A command that names its place itself keeps it.
 */
export function asTyped({ typed, typedOptions = [] }: Pick<Io, "typed" | "typedOptions">, text: string): string {
  const options = typedOptions.map((word) => `${shellWord(word)} `).join("")
  return text.replace(/(?<=^|[\s'"(`])qm (?=([a-z])|-)/gm, (_, command?: string) =>
    command === undefined ? `${typed} ` : `${typed} ${options}`,
  )
}

/** The options that say where a command works, as they were given. */
export function placeOptions({ config, data }: Pick<Flags, "config" | "data">): string[] {
  return [...(config === undefined ? [] : ["--config", config]), ...(data === undefined ? [] : ["--data", data])]
}
