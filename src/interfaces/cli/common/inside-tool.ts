import type { Command } from "commander"
import type { Flags, Io } from "./context.ts"
import { isInsideTool } from "./open-app.ts"
import { NotAllowed } from "./usage.ts"

/**
 * The commands that a program started by an agent may use: those that call, list and explain. It may not answer
 * approvals, grant rights or trust files. Commands that are not listed are refused.
 */
const allowedInside: Readonly<Record<string, "whole" | readonly string[]>> = {
  call: "whole",
  why: "whole",
  pipeline: "whole",
  tools: "whole",
  groups: "whole",
  doctor: "whole",
  start: "whole",
  audit: ["list", "show", "stats", "export", "verify", "head"],
  rules: ["list", "test", "simulate"],
  roles: ["list", "show"],
  agents: ["list", "show"],
  departments: ["list"],
  people: ["list", "show"],
  mcp: ["serve", "list"],
  plugins: ["list", "show"],
  experiments: ["list", "show"],
  models: ["list"],
}

/** Inside a tool, refuses commands for people and options or variables that change the configuration. */
export function refuseInsideTool(io: Io, command: Command): void {
  if (!isInsideTool(io)) return
  refuseCommand(command)
  const { set, config, data } = command.optsWithGlobals<Partial<Flags>>()
  const flags = Object.entries({ "--set": set, "--config": config, "--data": data })
  const source = flags.find(([, value]) => value !== undefined)?.[0] ?? configVariable(io.env)
  if (source === undefined) return
  throw new NotAllowed(
    `${source} is for people, and this runs inside a tool (QM_INSIDE is set), which cannot change the configuration. Leave it out.`,
  )
}

/** The first environment variable that would change the configuration. */
function configVariable(env: Io["env"]): string | undefined {
  const given = Object.keys(env).filter(
    (name) => env[name] && (name.startsWith("QM_") || name === "QUARTERMASTER_DATA"),
  )
  return given.find((name) => !known.includes(name) && !/^QM_NOTIFY_(?!_)/.test(name))
}

const known: readonly string[] = ["QM_INSIDE", "QM_AGENT", "QM_PERSON_TOKEN"]

function refuseCommand(command: Command): void {
  const [noun = "", verb = ""] = wordsOf(command)
  const allowed = Object.hasOwn(allowedInside, noun) ? allowedInside[noun] : []
  if (allowed === "whole" || allowed?.includes(verb)) return
  const words = ["qm", noun, verb].filter((word) => word !== "").join(" ")
  throw new NotAllowed(
    `'${words}' is for people, and this runs inside a tool (QM_INSIDE is set). Ask a person to run it in their own terminal.`,
  )
}

/** The words of a command without the program name. */
function wordsOf(command: Command): string[] {
  return command.parent === null ? [] : [...wordsOf(command.parent), command.name()]
}
