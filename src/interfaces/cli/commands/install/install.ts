import { counted } from "../../../../lib/counted.ts"
import type { CliCommand } from "../../common/cli-command.ts"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { activeAgent } from "../../common/calling-agent.ts"
import { readBuiltinFlag, shownTools } from "../mcp/builtin-groups-flag.ts"
import { confirm } from "../../common/confirm.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import { clientNames, hookedClients, hookSeconds, type ClientName } from "../../../../config/clients.ts"
import { clientPlaces } from "../../../../config/client-places.ts"
import type { HookCommand } from "../../../../config/client-hooks.ts"
import type { InstallationPlan } from "../../../../config/install.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { LoadedConfig } from "../../../../config/load.ts"
import { nearestName } from "../../../../lib/nearest-name.ts"
import { shellWord } from "../../../../lib/shell-word.ts"
import { httpOrigin } from "../../../../lib/url.ts"
import type { CliContext, Io, Run } from "../../common/context.ts"
import { lineDiff } from "../../terminal/line-diff.ts"
import { printMessage, printOutput, printResult } from "../../common/output.ts"
import { isInsideTool, withApp, withPerson } from "../../common/open-app.ts"
import { isInProject } from "../../../../lib/program-in-project.ts"
import { CannotDo, orCannotWrite, UsageError } from "../../common/usage.ts"

interface InstallFlags {
  builtin?: string
  failOpen?: boolean
  hooks?: boolean
  http?: boolean
  managed?: boolean
  name: string
  print?: boolean
  replace?: boolean
  uninstall?: boolean
  yes?: boolean
}

export function addInstall(program: CliCommand, run: Run): void {
  program
    .command("install <client>")
    .example("qm install claude --agent dev", "qm install claude --replace")
    .description(
      `add Quartermaster to a client as an MCP server, and to the hooks of a coding agent, so that its own tools are decided on too; client: ${clientNames.join(", ")}, or the path of its configuration file`,
    )
    .option(
      "--builtin <groups>",
      "the groups of built-in tools that the client is shown, or all; default: workspace,command,network if there are many tools",
    )
    .option("--no-hooks", "leave the client's own tools alone, which then go around Quartermaster")
    .option(
      "--fail-open",
      "let the client's own tools run when nothing can be decided, for example without a data folder",
    )
    .option("--uninstall", "take out what was added: byte for byte if nobody changed the files since")
    .option("--print", "print the files as they would be, and write nothing")
    .option("--managed", "print what an administrator deploys so that people cannot switch it off")
    .option("--http", "connect to a running 'qm serve' with a token instead of starting 'qm mcp'")
    .option("--name <name>", "name of the server in the client's configuration", "quartermaster")
    .option(
      "--replace",
      "remove the servers from the client's file that Quartermaster has too, so that no call goes around it",
    )
    .option("--yes", "write without asking; required without a terminal")
    .action(run(install))
}

/** Shows the changes to the client's files, asks, and writes them with backups of the old ones. */
async function install(context: CliContext, client: string, flags: InstallFlags): Promise<number> {
  if (flags.uninstall === true) return uninstall(context, client, flags)
  if (flags.managed === true) return printManaged(context, client, flags)
  const { plans, create } = await withApp(context, { readOnly: true }, async (app, loaded) => {
    const newAgent = agentToCreate(context, client, loaded, app, flags)
    const agent = newAgent ?? activeAgent(context, loaded, app)
    const governed = app.mcp.list().map(({ name }) => name)
    const builtin = newAgent === undefined ? chooseGroups(context, app, agent, flags) : undefined
    const planned = await planInstallation(context, client, agent, loaded, { ...flags, governed, builtin })
    const [main] = planned
    const warning = goAround(client, main, governed)
    const command = `qm install ${shellWord(client)}`
    const shown = newAgent === undefined ? whatIsShown(app, agent, builtin, command, flags.http === true) : []
    const next = [...main.next, ...shown, ...hooksNext(client, planned.length > 1 || hasHooks(client, flags), agent)]
    return { plans: [{ ...main, next, warning }, ...planned.slice(1)] as Plans, create: newAgent }
  })
  if (flags.print === true) {
    const files = plans.map(({ file, after }) => ({ file, text: after }))
    printResult(context, { files }, files.map(({ file, text }) => `# ${file}\n${text}`).join("\n"))
    return 0
  }
  const changed = plans.filter(({ before, after }) => (before ?? "") !== after)
  if (changed.length > 0 && !(await confirmPlans(context, changed, flags))) return 4
  if (create !== undefined) await createClientAgent(context, create)
  const backups = new Map<string, string | undefined>()
  for (const plan of changed) backups.set(plan.file, await writePlan(plan))
  done(context, plans, backups)
  return 0
}

type Plans = [InstallationPlan & { warning: string[] }, ...InstallationPlan[]]

async function confirmPlans(
  context: CliContext,
  plans: readonly InstallationPlan[],
  flags: Pick<InstallFlags, "yes">,
): Promise<boolean> {
  const { maskJson } = await import("../../terminal/mask-json.ts")
  const masked = (file: string, text: string) => (/\.json\w?$/.test(file) ? maskJson(text) : text)
  for (const { file, before, after } of plans) {
    const diff = lineDiff(masked(file, before ?? ""), masked(file, after))
    if (!context.flags.json) printOutput(context, printable([file, ...diff.map((line) => `  ${line}`)].join("\n")))
  }
  const names = plans.map(({ file }) => file).join(" and ")
  if (await confirm(context, `Write this to ${names}?`, flags.yes === true)) return true
  printMessage(context, "Nothing was written.")
  return false
}

function writePlan(plan: InstallationPlan): Promise<string | undefined> {
  return orCannotWrite(() => plan.write(), `Give the path of a client's file that you may write: qm install <path>.`)
}

/** Takes out what was added. The agent stays, because the audit log names it. */
async function uninstall(context: CliContext, client: string, flags: InstallFlags): Promise<number> {
  const { removeFrom, removeHooksFrom } = await import("../../../../config/install.ts")
  const { removeHooks } = await import("../../../../config/client-hooks.ts")
  const known = knownClient(client)
  if (known === undefined)
    throw new UsageError(
      `--uninstall takes one of ${clientNames.join(", ")}. Take our server out of ${client} by hand.`,
    )
  const { cwd, home } = context.io
  const hooks = removeHooks(known, cwd)
  const main = removeFrom(known, cwd, home, hooks)
  const own = hooks !== undefined && hooks.file !== clientPlaces[known].file(cwd, home)
  const plans = [main, ...(own ? [removeHooksFrom(hooks, home)] : [])]
  const changed = plans.filter(({ before, after }) => (before ?? "") !== after)
  if (changed.length === 0) {
    printMessage(context, `Nothing of Quartermaster is in ${plans.map(({ file }) => file).join(" and ")}.`)
    return 0
  }
  if (flags.print !== true && !(await confirmPlans(context, changed, flags))) return 4
  for (const plan of flags.print === true ? [] : changed) await writePlan(plan)
  const files = changed.map(({ file, after }) => ({ file, text: after }))
  const lines = files.map(({ file, text }) =>
    text === "" ? `Removed ${file}, which we made.` : `Took it out of ${file}.`,
  )
  printResult(context, { files, written: flags.print !== true }, lines.join("\n"))
  return 0
}

async function printManaged(context: CliContext, client: string, flags: InstallFlags): Promise<number> {
  const { managedSettings } = await import("../../../../config/managed.ts")
  const agent = context.flags.agent ?? client
  const found = managedSettings(client, flags.name, hookCommand(context.io, client, agent, flags))
  if (found === undefined)
    throw new CannotDo(
      "no_managed_place",
      `It is not known where an administrator deploys settings for ${client}. 'qm install ${client} --print' shows what a person's files have.`,
    )
  printResult(context, found, `# ${found.file}\n${found.text}`)
  return 0
}

function knownClient(client: string): ClientName | undefined {
  return clientNames.find((each) => each === client)
}

function hasHooks(client: string, { hooks }: Pick<InstallFlags, "hooks">): boolean {
  return hooks !== false && hookedClients.some((each) => each === client)
}

/** The agent of a client that has none yet. Who names an agent, or has configured one, has chosen. */
function agentToCreate(
  { flags: { agent }, io }: CliContext,
  client: string,
  { config }: LoadedConfig,
  app: Quartermaster,
  flags: InstallFlags,
): string | undefined {
  if (agent !== undefined || config.agent !== undefined || !hasHooks(client, flags) || isInsideTool(io))
    return undefined
  return client
}

/** The groups of coding agents: files, commands, the network, their own tools and the servers that are known now. */
const clientGroups: readonly string[] = ["workspace", "command", "network", "clients"]

/** One agent per client and project. It is made once, and a person may give it another role. */
async function createClientAgent(context: CliContext, id: string): Promise<void> {
  await withPerson(context, async (app, by) => {
    if (app.org.findAgent(id) !== undefined) return 0
    const servers = app.mcp.list().map(({ name }) => name)
    const { role } = await app.org.createRole({ name: "coding-agent", toolGroups: [...clientGroups, ...servers] }, by)
    await app.org.createAgent({ id, role: role.id }, by)
    printMessage(
      context,
      `Created agent ${id} with role coding-agent. 'qm roles update coding-agent' changes what it has.`,
    )
    return 0
  })
}

/** Describes the hooks: one sentence, and the person's remaining steps. */
function hooksNext(client: string, has: boolean, agent: string): string[] {
  if (!hookedClients.some((each) => each === client)) return []
  if (!has) return [`The client's own tools go around Quartermaster. To have them decided on too: qm install ${client}`]
  return [
    `Hooks let Quartermaster decide on the client's own tools too, as agent ${agent}: Bash follows the rules for run_command, Edit those for edit_file, and so on. 'qm doctor' tries the hooks. --no-hooks leaves them out.`,
    ...(client === "codex"
      ? ["Codex runs hooks of a project only once you trust them: start codex here, trust the folder and its hooks."]
      : []),
  ]
}

/** Returns the command of hooks for this program: in a shared file without paths of this machine where possible. */
function hookCommand(
  io: Io,
  client: string,
  agent: string,
  { name, failOpen }: Pick<InstallFlags, "name" | "failOpen">,
): HookCommand {
  const { command, args = [] } = shareable(io) as { command: string; args?: readonly string[] }
  const words = ["hook", client, "--agent", agent, "--timeout", String(hookSeconds)]
  const server = name === "quartermaster" ? [] : ["--server", name]
  return { command, args: [...args, ...words, ...server, ...(failOpen === true ? ["--fail-open"] : [])] }
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

/** The groups of an agent that works on files and runs commands. */
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

/** Describes the tools that the client is shown, and how to have more or fewer of them. */
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
    governed,
    builtin,
    ...flags
  }: Omit<InstallFlags, "builtin"> & { governed: readonly string[]; builtin: readonly string[] | undefined },
): Promise<[InstallationPlan, ...InstallationPlan[]]> {
  const { installInto, planFile } = await import("../../../../config/install.ts")
  const { addHooks } = await import("../../../../config/client-hooks.ts")
  const { listenAddress } = await import("../../../../config/listen-address.ts")
  const { http, name, replace } = flags
  const { cwd, home } = io
  const { host, port } = listenAddress(config)
  const reachable = ["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host
  const known = knownClient(client)
  const started = known !== undefined && clientPlaces[known].isShared ? shareable(io) : onThisMachine(io)
  const target = http === true ? { url: `${httpOrigin(reachable, port)}/mcp`, agent } : { ...started, agent, builtin }
  const hooks =
    known !== undefined && hasHooks(client, flags)
      ? addHooks(known, hookCommand(io, client, agent, flags), cwd)
      : undefined
  const main = installInto(known ?? { path: clientFile(client, cwd) }, name, target, {
    cwd,
    home,
    remove: replace === true ? governed : [],
    more: hooks,
  })
  const isApart = hooks !== undefined && known !== undefined && hooks.file !== clientPlaces[known].file(cwd, home)
  return isApart ? [main, planFile(hooks, home)] : [main]
}

/** The file of a client in the project is shared with others, so it has no path of this machine where that is possible. */
function shareable(io: Io) {
  // Without --no, npx would download whatever has this name where the project's packages are not installed.
  if (isInProject(io.cwd)) return { command: "npx", args: ["--no", "qm"] }
  if (io.typed === "qm") return { command: "qm" }
  const { command, args } = onThisMachine(io)
  return { command, args }
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

function done(context: CliContext, plans: Plans, backups: ReadonlyMap<string, string | undefined>): void {
  const [{ file, next, others, warning }, ...more] = plans
  if (context.flags.json) {
    const stateOf = (path: string) => ({ file: path, written: backups.has(path), backup: backups.get(path) ?? null })
    const hooks = more.map((plan) => stateOf(plan.file))
    printOutput(
      context,
      printableJson({ ...stateOf(file), ...(hooks.length > 0 && { hooks }), others, next: [...next, ...warning] }),
    )
    return
  }
  const lines = [
    ...plans.map(({ file: path }) =>
      backups.has(path) ? `Wrote ${path}.` : `${path} is already up to date; nothing was written.`,
    ),
    ...[...backups.values()].flatMap((backup) =>
      backup === undefined ? [] : [`The previous version is in ${backup}.`],
    ),
    ...next,
    ...(backups.size > 0 ? ["Restart the client, or reload its MCP servers, to see the tools."] : []),
    ...warning,
  ]
  printMessage(context, lines.join("\n"))
}
