import type { Command } from "commander"
import type { Flags, Io } from "./house.ts"
import { isInside } from "./session.ts"
import { NotAllowed } from "./usage.ts"

/**
 * What a program that an agent started may do here: call, look and ask why. Nothing that answers, gives rights or
 * trusts, and nothing that shows what other agents wait for. A command that is not named is closed.
 */
const open: Readonly<Record<string, "whole" | readonly string[]>> = {
  call: "whole",
  why: "whole",
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
}

/** Refuses what is for people when no person can be there: their commands, and to say what Quartermaster counts with. */
export function refuseInside(io: Io, command: Command): void {
  if (!isInside(io)) return
  refuseClosed(command)
  const { set, config, data } = command.optsWithGlobals<Partial<Flags>>()
  const flags = Object.entries({ "--set": set, "--config": config, "--data": data })
  const setting = flags.find(([, value]) => value !== undefined)?.[0] ?? settingIn(io.env)
  if (setting === undefined) return
  throw new NotAllowed(
    `${setting} is for people, and this runs inside a tool (QM_INSIDE is set), which counts with the configuration as it is. Leave it out.`,
  )
}

/** A variable that would configure. QM_AGENT says whom the tool was started for. */
function settingIn(env: Io["env"]): string | undefined {
  const given = Object.keys(env).filter(
    (name) => env[name] && (name.startsWith("QM_") || name === "QUARTERMASTER_DATA"),
  )
  return given.find((name) => !known.includes(name) && !/^QM_NOTIFY_(?!_)/.test(name))
}

const known: readonly string[] = ["QM_INSIDE", "QM_AGENT", "QM_PERSON_TOKEN"]

function refuseClosed(command: Command): void {
  const [noun = "", verb = ""] = wordsOf(command)
  const allowed = Object.hasOwn(open, noun) ? open[noun] : []
  if (allowed === "whole" || allowed?.includes(verb)) return
  const words = ["qm", noun, verb].filter((word) => word !== "").join(" ")
  throw new NotAllowed(
    `'${words}' is for people, and this runs inside a tool (QM_INSIDE is set). Ask a person to run it in a terminal of their own.`,
  )
}

/** The words of a command below the program's own name. */
function wordsOf(command: Command): string[] {
  return command.parent === null ? [] : [...wordsOf(command.parent), command.name()]
}
