import type { CliCommand } from "../../common/cli-command.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import { ConfigError } from "../../../../config/config-error.ts"
import { confirm } from "../../common/confirm.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { inspectFile } from "./inspect-file.ts"
import { printMessage, printOutput } from "../../common/output.ts"
import { withApp } from "../../common/open-app.ts"
import { UsageError } from "../../common/usage.ts"

export function addTrust(program: CliCommand, run: Run): void {
  program
    .command("trust [file]")
    .example("qm trust")
    .description(
      "trust a configuration file with its current content; with --data, trust a data folder created elsewhere",
    )
    .option("--yes", "trust without asking; required without a terminal")
    .action(run(trust))
}

interface TrustFlags {
  yes?: boolean
}

/** Shows what a configuration file or a data folder allows, then trusts it. */
async function trust(context: CliContext, file: string | undefined, { yes = false }: TrustFlags): Promise<number> {
  const { data } = context.flags
  if (data === undefined) return trustFile(context, file, yes)
  if (file !== undefined) throw new UsageError("Trust one thing at a time: a configuration file, or --data <folder>.")
  return trustFolder(context, data, yes)
}

async function trustFile(context: CliContext, file: string | undefined, yes: boolean): Promise<number> {
  const { io, flags } = context
  const { examineConfig } = await import("../../../../config/examine.ts")
  const { pin, isTrusted, ...examined } = examineConfig(file ?? flags.config, io)
  const { problems, notes } = await inspectFile(context, file ?? flags.config)
  if (problems.length > 0) throw new ConfigError(problems)
  for (const text of notes) printMessage(context, `Note: ${text}`)
  if (isTrusted) {
    const [main] = examined.files
    const sentence = `${main?.file} is already trusted, and has not changed since.`
    printOutput(context, flags.json ? printableJson(examined) : printable(sentence))
    return 0
  }
  const allows =
    examined.allows.length === 0
      ? ["It allows nothing beyond what applies without trust."]
      : ["Once it is trusted, this applies:", ...examined.allows.map((line) => `  ${line}`)]
  const files = examined.files.map(({ file: path, sha256 }) => `${path}\n  SHA-256 ${sha256}`)
  if (!flags.json) printOutput(context, printable([...files, ...allows].join("\n")))
  if (!(await confirmTrust(context, yes))) return 4
  pin()
  const { renewSchema } = await import("../../../../config/editor-schema.ts")
  for (const { file: path } of examined.files) renewSchema(path)
  printOutput(context, flags.json ? printableJson(examined) : "Trusted. If the file changes, run 'qm trust' again.")
  return 0
}

async function trustFolder(context: CliContext, path: string, yes: boolean): Promise<number> {
  const { io, flags } = context
  const { examineFolder } = await import("../../../../config/known-folders.ts")
  const { folder, pin } = examineFolder(path, io)
  const holds = await withApp(context, {}, grantedRights)
  const lines = Object.entries(holds).map(([what, list]) => `  ${what}: ${list.length}${list.map(below).join("")}`)
  if (!flags.json) printOutput(context, printable([folder, "Once it is trusted, this applies:", ...lines].join("\n")))
  if (!(await confirmTrust(context, yes))) return 4
  pin()
  const done = "Trusted, as long as it stays where it is. 'qm audit verify' checks its audit log."
  printOutput(context, flags.json ? printableJson({ folder, holds }) : done)
  return 0
}

async function confirmTrust(context: CliContext, yes: boolean): Promise<boolean> {
  const agreed = await confirm(context, "Trust it?", yes)
  if (!agreed) printMessage(context, "It is not trusted.")
  return agreed
}

/** One line each, with line breaks escaped. */
function below(line: string): string {
  return `\n    ${line.replaceAll("\n", "\\n")}`
}

/** Everything in a store that can grant a right. */
async function grantedRights({
  approvals,
  org,
  rules,
  tokens,
  mcp,
  experiments,
}: Quartermaster): Promise<Record<string, string[]>> {
  const stored = ({ source }: { source: string }) => source === "store"
  const { people, roles, agents } = { people: org.listPeople(), roles: org.listRoles(), agents: org.listAgents() }
  return {
    "remembered answers": (await approvals.grants()).map(({ words, by }) => `${words} Answered by ${by}.`),
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
    "calls that wait": (await approvals.list()).map(({ callId, agentId, tool }) => `${callId} ${agentId} ${tool}`),
  }
}
