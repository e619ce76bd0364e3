import type { CliCommand } from "./cli-command.ts"
import type { Flags, Io } from "./context.ts"
import { isInsideTool } from "./open-app.ts"
import { NotAllowed, wordsOf } from "./usage.ts"

/** Inside a tool, refuses commands for people and options or variables that change the configuration. */
export function refuseInsideTool(io: Io, command: CliCommand): void {
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

function refuseCommand(command: CliCommand): void {
  for (let each: CliCommand | null = command; each !== null; each = each.parent) if (each.isAllowedInTool) return
  const words = wordsOf(command).slice(0, 3).join(" ")
  throw new NotAllowed(
    `'${words}' is for people, and this runs inside a tool (QM_INSIDE is set). Ask a person to run it in their own terminal.`,
  )
}
