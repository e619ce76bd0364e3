import type { Command } from "commander"
import type { App } from "../model/app.ts"
import type { Run, Session } from "./house.ts"
import { jsonText, tell } from "./output.ts"
import { withApp } from "./session.ts"
import { UsageError } from "./usage.ts"

export function addTrust(program: Command, run: Run): void {
  program
    .command("trust [file]")
    .description("let a configuration file count in full, as it is now; with --data, a data folder made elsewhere")
    .action(run(trust))
}

/** Shows what would count from now on, a configuration file or what a data folder holds, then trusts it. */
async function trust(session: Session, file: string | undefined): Promise<number> {
  const { data } = session.flags
  if (data === undefined) return trustFile(session, file)
  if (file !== undefined) throw new UsageError("Trust one thing at a time: a configuration file, or --data <folder>.")
  return trustFolder(session, data)
}

async function trustFile(session: Session, file: string | undefined): Promise<number> {
  const { house, flags } = session
  const { pin, ...examined } = await house.examine(file ?? flags.config)
  const allows =
    examined.allows.length === 0
      ? ["It says nothing that an untrusted file could not say."]
      : ["From now on this counts:", ...examined.allows.map((line) => `  ${line}`)]
  const files = examined.files.map(({ file: path, sha256 }) => `${path}\n  SHA-256 ${sha256}`)
  if (!flags.json) tell(session, house.printable([...files, ...allows].join("\n")))
  pin()
  tell(
    session,
    flags.json ? jsonText(examined, house) : "Trusted. One changed byte ends it; then run 'qm trust' again.",
  )
  return 0
}

async function trustFolder(session: Session, given: string): Promise<number> {
  const { house, flags } = session
  const { folder, pin } = await house.examineFolder(given)
  const holds = await withApp(session, {}, whatItHolds)
  const lines = Object.entries(holds).map(([what, list]) => `  ${what}: ${list.length}${list.map(below).join("")}`)
  if (!flags.json) tell(session, house.printable([folder, "From now on this counts:", ...lines].join("\n")))
  pin()
  const done = "Trusted, as long as it stays where it is. 'qm audit verify' looks at its record."
  tell(session, flags.json ? jsonText({ folder, holds }, house) : done)
  return 0
}

/** One line each, whatever stands in it. */
function below(line: string): string {
  return `\n    ${line.replaceAll("\n", "\\n")}`
}

/** Everything in a store that can give somebody a right. */
async function whatItHolds({ desk, org, rules, tokens, mcp, experiments }: App): Promise<Record<string, string[]>> {
  const stored = ({ source }: { source: string }) => source === "store"
  const { people, roles, agents } = { people: org.listPeople(), roles: org.listRoles(), agents: org.listAgents() }
  return {
    "remembered answers": (await desk.grants()).map(({ words, by }) => `${words} Said by ${by}.`),
    "rules of its own": rules
      .list()
      .filter(({ source }) => source.startsWith("rule "))
      .map(({ verdict, tool, because }) => `${verdict} ${tool}: ${because}`),
    people: people.filter(stored).map(({ id, roles: held }) => [id, ...held].join(", ")),
    roles: roles.filter(stored).map(({ name, toolGroups }) => `${name}: ${toolGroups?.join(", ") ?? "all groups"}`),
    agents: agents.filter(stored).map(({ id, roleId }) => `${id}, role ${roleId}`),
    "tokens of agents": tokens
      .list()
      .map(({ agentId, name, person }) => [agentId, name, person ?? "nobody's answers"].join(", ")),
    "tools agreed to": mcp
      .pins()
      .flatMap(({ server, tool, by }) => (by === undefined ? [] : [`${server}: ${tool}, by ${by}`])),
    "sign-ins at servers": mcp
      .list()
      .flatMap(({ name, signedInBy }) => (signedInBy === undefined ? [] : [`${name}, by ${signedInBy}`])),
    experiments: experiments
      .list()
      .filter(({ source, state }) => source === "store" && state === "running")
      .map(({ name, tool, versions }) => `${name}: ${tool}, ${versions.join(" or ")}`),
    "calls that wait": (await desk.list()).map(({ callId, agentId, tool }) => `${callId} ${agentId} ${tool}`),
  }
}
