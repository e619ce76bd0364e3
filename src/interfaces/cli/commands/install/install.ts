import { counted } from "../../../../lib/counted.ts"
import type { CliCommand } from "../../common/cli-command.ts"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { activeAgent } from "../../common/calling-agent.ts"
import { readBuiltinFlag, shownTools } from "../mcp/builtin-groups-flag.ts"
import { confirm } from "../../common/confirm.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import { clientNames } from "../../../../config/clients.ts"
import type { InstallationPlan } from "../../../../config/install.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { LoadedConfig } from "../../../../config/load.ts"
import { nearestName } from "../../../../lib/nearest-name.ts"
import { shellWord } from "../../../../lib/shell-word.ts"
import { httpOrigin } from "../../../../lib/url.ts"
import type { CliContext, Io, Run } from "../../common/context.ts"
import { lineDiff } from "../../terminal/line-diff.ts"
import { printMessage, printOutput } from "../../common/output.ts"
import { withApp } from "../../common/open-app.ts"
import { isInProject } from "../../../../lib/program-in-project.ts"
import { orCannotWrite, UsageError } from "../../common/usage.ts"

interface InstallFlags {
  builtin?: string
  http?: boolean
  name: string
  replace?: boolean
  yes?: boolean
}

export function addInstall(program: CliCommand, run: Run): void {
  program
    .command("install <client>")
    .example("qm install claude --agent dev", "qm install claude --replace")
    .description(
      "add Quartermaster to a client as an MCP server; client: claude, cursor, vscode, or the path of its configuration file",
    )
    .option(
      "--builtin <groups>",
      "the groups of built-in tools that the client is shown, or all; default: workspace,command,network if there are many tools",
    )
    .option("--http", "connect to a running 'qm serve' with a token instead of starting 'qm mcp'")
    .option("--name <name>", "name of the server in the client's configuration", "quartermaster")
    .option(
      "--replace",
      "remove the servers from the client's file that Quartermaster has too, so that no call goes around it",
    )
    .option("--yes", "write without asking; required without a terminal")
    .action(run(install))
}

/** Shows the change to the client's configuration, asks, and writes it with a backup of the old file. */
async function install(context: CliContext, client: string, flags: InstallFlags): Promise<number> {
  const plan = await withApp(context, { readOnly: true }, async (app, loaded) => {
    const agent = activeAgent(context, loaded, app)
    const governed = app.mcp.list().map(({ name }) => name)
    const builtin = chooseGroups(context, app, agent, flags)
    const planned = await planInstallation(context, client, agent, loaded, { ...flags, governed, builtin })
    const warning = goAround(client, planned, governed)
    const shown = whatIsShown(app, agent, builtin, `qm install ${shellWord(client)}`, flags.http === true)
    return { ...planned, next: [...planned.next, ...shown], warning }
  })
  const { file, before, after } = plan
  if (before === after) {
    done(context, plan, undefined, false)
    return 0
  }
  const { maskJson } = await import("../../terminal/mask-json.ts")
  const diff = lineDiff(maskJson(before ?? ""), maskJson(after))
  if (!context.flags.json) printOutput(context, printable([file, ...diff.map((line) => `  ${line}`)].join("\n")))
  if (!(await confirm(context, `Write this to ${file}?`, flags.yes === true))) {
    printMessage(context, "Nothing was written.")
    return 4
  }
  const backup = await orCannotWrite(
    () => plan.write(),
    `Give the path of a client's file that you may write: qm install <path>.`,
  )
  done(context, plan, backup, true)
  return 0
}

/** Names the servers that the client still starts itself, and says how to end that. */
function goAround(client: string, { file, others }: InstallationPlan, governed: readonly string[]): string[] {
  const both = others.filter((name) => governed.includes(name))
  const theirs = others.filter((name) => !governed.includes(name))
  return [
    ...(others.length === 0
      ? []
      : [`Warning: the client still starts ${others.join(", ")} itself, and those calls go around Quartermaster.`]),
    ...(both.length === 0
      ? []
      : [
          `Quartermaster has ${both.join(", ")} too. To remove from ${file} what it has: qm install ${shellWord(client)} --replace`,
        ]),
    ...(theirs.length === 0
      ? []
      : [
          `Quartermaster does not have ${theirs.join(", ")}: add each under mcpServers in its configuration, run 'qm trust', then 'qm install ${shellWord(client)} --replace'.`,
        ]),
  ]
}

/** More tools than this cost a model attention and context. */
const manyTools = 25

/** What an agent needs that works on files and runs commands. */
const usualGroups: readonly string[] = ["workspace", "command", "network"]

/** The groups of built-in tools for the client. Who names an agent has chosen by its role already. */
function chooseGroups(
  context: CliContext,
  app: Quartermaster,
  agent: string,
  { builtin, http }: InstallFlags,
): readonly string[] | undefined {
  if (builtin !== undefined && http === true)
    throw new UsageError(
      "--builtin does not go with --http, where the token's agent decides. Give it a role with fewer groups.",
    )
  if (builtin !== undefined) return readBuiltinFlag(builtin)
  const isChosen = http === true || context.flags.agent !== undefined
  return isChosen || app.mcpTools(agent).length <= manyTools ? undefined : usualGroups
}

/** Which tools the client is shown, and how to have more or fewer of them. */
function whatIsShown(
  app: Quartermaster,
  agent: string,
  builtin: readonly string[] | undefined,
  command: string,
  http: boolean,
): string[] {
  const all = app.mcpTools(agent)
  const tools = shownTools(app, agent, builtin)
  const size = `${Math.max(1, Math.round(JSON.stringify(tools).length / 1000))} kB`
  if (builtin !== undefined)
    return [
      `The client is shown ${tools.length} of the ${counted(all.length, "tool")} of agent ${agent} (${size}): the built-in groups ${builtin.join(", ")}, and all tools of your servers and plugins.`,
      `  ${command} --builtin ${[...builtin, "code"].join(",")}   # to choose the groups; 'qm groups list' shows them`,
      `  ${command} --builtin all`,
    ]
  if (tools.length <= manyTools) return []
  // An agent that has no other groups is not advised to have these.
  if (shownTools(app, agent, usualGroups).length === tools.length) return []
  const many = `The client is shown ${counted(tools.length, "tool")} (${size}), all that agent ${agent} may use.`
  if (!http)
    return [`${many} Models choose better from fewer: ${command} --agent ${agent} --builtin ${usualGroups.join(",")}`]
  const groups = [...usualGroups, ...app.mcp.list().map(({ name }) => name)]
  return [
    `${many} To show fewer, give it an agent with fewer groups:`,
    `  qm roles create --name coder --groups ${groups.join(",")}`,
    "  qm agents create coder --role coder",
    `  ${command} --http --agent coder`,
  ]
}

async function planInstallation(
  { io }: CliContext,
  client: string,
  agent: string,
  { config }: LoadedConfig,
  {
    http,
    name,
    replace,
    governed,
    builtin,
  }: Omit<InstallFlags, "builtin"> & { governed: readonly string[]; builtin: readonly string[] | undefined },
): Promise<InstallationPlan> {
  const { installInto } = await import("../../../../config/install.ts")
  const { listenAddress } = await import("../../../../config/listen-address.ts")
  const { cwd, home } = io
  const { host, port } = listenAddress(config)
  const reachable = ["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host
  const known = clientNames.find((each) => each === client)
  const started = known === undefined ? onThisMachine(io) : shareable(io)
  const target = http === true ? { url: `${httpOrigin(reachable, port)}/mcp`, agent } : { ...started, agent, builtin }
  return installInto(known ?? { path: clientFile(client, cwd) }, name, target, {
    cwd,
    home,
    remove: replace === true ? governed : [],
  })
}

/** The file of a client in the project is shared with others, so it has no path of this machine where that is possible. */
function shareable(io: Io) {
  // Without --no, npx would download whatever has this name where the project's packages are not installed.
  if (isInProject(io.cwd)) return { command: "npx", args: ["--no", "qm"] }
  return io.typed === "qm" ? { command: "qm" } : onThisMachine(io)
}

function onThisMachine({ cwd, program }: Io) {
  return { command: program.node, args: [program.script], folder: cwd }
}

/** The path of a client's file. A word that is neither a path nor a file is meant as a client's name. */
function clientFile(given: string, cwd: string): string {
  if (/[/\\.]/.test(given) || existsSync(resolve(cwd, given))) return given
  const guess = nearestName(given, clientNames)
  const help = guess === undefined ? "" : ` Did you mean '${guess}'?`
  throw new UsageError(
    `There is no client '${given}'.${help} Give one of ${clientNames.join(", ")}, or the path of a client's configuration file.`,
  )
}

function done(
  context: CliContext,
  { file, next, others, warning }: InstallationPlan & { warning: string[] },
  backup: string | undefined,
  written: boolean,
): void {
  if (context.flags.json)
    return printOutput(
      context,
      printableJson({ file, written, backup: backup ?? null, others, next: [...next, ...warning] }),
    )
  const lines = [
    written ? `Wrote ${file}.` : `${file} is already up to date; nothing was written.`,
    ...(backup === undefined ? [] : [`The previous version is in ${backup}.`]),
    ...next,
    ...(written ? ["Restart the client, or reload its MCP servers, to see the tools."] : []),
    ...warning,
  ]
  printMessage(context, lines.join("\n"))
}
