import { Option } from "commander"
import type { CliCommand } from "../../common/cli-command.ts"
import type { AgentActivity } from "../../../../agents/society/overview.ts"
import { stateText } from "./agent-tree.ts"
import { counted } from "../../../../lib/counted.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { Agent, Freeze } from "../../../../core/organisation.ts"
import { printableJson } from "../../../../lib/printable.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { requireRole, wholeAgentId, ancestorIds } from "../../common/known-names.ts"
import { createdFields, showFields, showList } from "../../common/listing.ts"
import { printResult } from "../../common/output.ts"
import { withApp, withPerson } from "../../common/open-app.ts"
import { formatTime } from "../../common/time-text.ts"
import { listCommand, newIdFrom, numberFlag } from "../../common/usage.ts"

interface AgentFlags {
  id?: string
  role: string
  department?: string
  level?: string
  parent?: string
  folder?: string
}

export function addAgents(program: CliCommand, run: Run): void {
  const agents = program
    .command("agents")

    .description("list, create, write to and terminate agents")
  listCommand(agents, "the agents")
    .example("qm agents list --all")
    .allowInTool()
    .option("--all", "also show terminated agents")
    .action(run(listAgents))
  agents
    .command("show <id>")
    .example("qm agents show dev")
    .allowInTool()
    .description("show one agent: its role, parents, tools and messages")
    .action(run(showAgent))
  agents
    .command("create [id]")
    .example("qm agents create dev --role developer")
    .description("create an agent; without an id it gets a generated one")
    .requiredOption("--role <role>", "role, by name or id")
    .addOption(new Option("--id <id>").hideHelp())
    .option("--department <id>", "department (default: the role's)")
    .option("--level <number>", "level (default: the role's)")
    .option("--parent <id>", "parent agent; the new agent never gets more rights than it")
    .option(
      "--folder <path>",
      "folder of the workspace that its model works in, and nothing else (default: its parent's)",
    )
    .action(run(createAgent))
  agents
    .command("terminate <id>")
    .example("qm agents terminate dev --reason 'The task is done.'")
    .description("end an agent and all its sub-agents, and cancel their waiting calls")
    .option("--reason <text>", "reason for the audit log")
    .action(run(terminateAgent))
  agents
    .command("inbox <id>")
    .example("qm agents inbox dev --unread")
    .description("show the messages an agent received, without marking them as read")
    .option("--unread", "only unread messages")
    .option("--message <id>", "only this message, as a whole; the first characters of its id are enough")
    .action(run(inbox))
  agents
    .command("message <id> <text...>")
    .example("qm agents message dev 'Which tests fail?' --wait")
    .description("write to an agent, which works on it and answers")
    .option("--wait [seconds]", "wait for the answer and print it")
    .action(run(message))
  agents
    .command("watch")
    .example("qm agents watch")
    .description("show live who does what, waits for whom, and what it has used")
    .action(run(watch))
}

async function message(context: CliContext, id: string, words: readonly string[], flags: { wait?: string | true }) {
  const { messageAgent } = await import("./agents-message.ts")
  return messageAgent(context, id, words, flags)
}

async function watch(context: CliContext) {
  const { watchAgents } = await import("./agents-watch.ts")
  return watchAgents(context)
}

function listAgents(context: CliContext, { all }: { all?: boolean }): Promise<number> {
  return withApp(context, { readOnly: true }, async ({ org, society }) => {
    const overview = await society.overview()
    await showList(
      context,
      org.listAgents({ includeTerminated: all === true }).map((agent) => {
        const now = overview.find(({ agentId }) => agentId === agent.id)
        return { ...agent, folder: folderOf(org, agent), ...activityOf(now) }
      }),
      [
        { title: "ID", of: ({ id }) => id, paint: "bold" },
        { title: "ROLE", of: ({ roleId }) => roleName(org, roleId) },
        { title: "DEPARTMENT", of: ({ id, department }) => org.view(id)?.department ?? department },
        { title: "LEVEL", of: (agent) => levelOf(org, agent) },
        { title: "PARENT", of: ({ parentId }) => parentId },
        { title: "FOLDER", of: ({ folder }) => folder },
        { title: "STATUS", of: ({ status }) => status },
        { title: "NOW", of: ({ id }) => nowText(id, overview) },
        { title: "SOURCE", of: ({ source }) => source, paint: "dim" },
      ],
      "There is no agent yet. 'qm agents create --role <role>' creates one.",
    )
    return 0
  })
}

/** Shows an agent with its ancestors, how many tools it sees, and whether it is frozen. */
function showAgent(context: CliContext, given: string): Promise<number> {
  return withApp(context, { readOnly: true }, async (app) => {
    const { org } = app
    const id = wholeAgentId(app, given)
    const agent = org.findAgent(id)!
    const ancestors = ancestorIds(org, agent)
    const tools = app.visibleTools(id).length
    const frozen = freezeOf(app.frozen(), [id, ...ancestors])
    const unread = (await org.inbox(id, { unreadOnly: true })).length
    const role = roleName(org, agent.roleId)
    const { department } = org.view(id) ?? agent
    const level = levelOf(org, agent)
    const folder = folderOf(org, agent)
    const overview = await app.society.overview()
    const now = activityOf(overview.find(({ agentId }) => agentId === id))
    const fields = {
      ...agent,
      ...now,
      role,
      department,
      level,
      folder,
      ancestors,
      tools,
      frozen: frozen ?? null,
      unread,
    }
    showFields(context, fields, [
      ["id", agent.id],
      ["role", role],
      ["department", department],
      ["level", level],
      ["ancestors", ancestors.join(" ← ")],
      ["status", agent.status],
      ["now", nowText(id, overview)],
      ["frozen", frozen === undefined ? "no" : frozenText(frozen)],
      ["tools", `${tools} (qm tools list --agent ${agent.id})`],
      ["unread", `${counted(unread, "message")} (qm agents inbox ${agent.id})`],
      ["folder", folder],
      ["task", agent.taskId],
      ["brief", agent.taskBrief === undefined ? undefined : printableJson(agent.taskBrief, 2)],
      ["source", agent.source],
      ...createdFields(agent),
    ])
    return 0
  })
}

function createAgent(context: CliContext, name: string | undefined, flags: AgentFlags): Promise<number> {
  const id = name === undefined && flags.id === undefined ? undefined : newIdFrom(name, flags, "agent")
  const { role, department, parent, folder } = flags
  const given = { id, role, department, folder, level: numberFlag("--level", flags.level) }
  return withPerson(context, async (app, by) => {
    const { org } = app
    requireRole(app, role)
    const parentId = parent === undefined ? undefined : wholeAgentId(app, parent)
    const agent = await org.createAgent({ ...given, parentId }, by)
    printResult(context, agent, `Created agent ${agent.id} with role ${roleName(org, agent.roleId)}.`)
    return 0
  })
}

function terminateAgent(context: CliContext, given: string, { reason }: { reason?: string }): Promise<number> {
  return withPerson(context, async (app, by) => {
    const ended = await app.org.terminateAgent(wholeAgentId(app, given), by, reason)
    printResult(context, { terminated: ended }, `Terminated ${ended.join(", ")}.`)
    return 0
  })
}

async function inbox(context: CliContext, id: string, flags: { unread?: boolean; message?: string }) {
  const { showInbox } = await import("./agents-inbox.ts")
  return showInbox(context, id, flags)
}

/** Returns the present activity of an agent, for `--json`. A terminated one does nothing. */
function activityOf(now: AgentActivity | undefined): { activity?: AgentActivity["state"]; runEnded?: true } {
  return now === undefined ? {} : { activity: now.state, ...(now.runEnded && { runEnded: true }) }
}

function nowText(id: string, overview: readonly AgentActivity[]): string | undefined {
  const now = overview.find(({ agentId }) => agentId === id)
  return now && stateText(now, overview)
}

/** The freeze that applies to an agent; `ids` are its own id and its ancestors'. */
function freezeOf(frozen: readonly Freeze[], ids: readonly string[]): Freeze | undefined {
  return frozen.find(({ agentId }) => agentId === undefined || ids.includes(agentId))
}

/** Describes a frozen agent: by whom, why, and the command that ends it. */
export function frozenText({ agentId, by, at, because }: Freeze): string {
  const [who, thaw] =
    agentId === undefined
      ? ["all agents", "qm thaw"]
      : [`agent ${agentId} and its sub-agents`, `qm thaw --agent ${agentId}`]
  const why = because === undefined ? "" : `: ${because}`
  return `${who}, by ${by} at ${formatTime(at)}${why} ('${thaw}' ends the freeze)`
}

/** The agent's own folder, or that of the nearest agent above it. */
function folderOf(org: Quartermaster["org"], { id, folder }: Agent): string | undefined {
  return org.view(id)?.folder ?? folder
}

/** The agent's own level or its role's, as far as its parents allow; undefined if neither has one. */
function levelOf(org: Quartermaster["org"], { id, level, roleId }: Agent): number | undefined {
  const own = level ?? org.findRole(roleId)?.level
  return own === undefined ? undefined : (org.view(id)?.level ?? own)
}

function roleName(org: Quartermaster["org"], roleId: string): string {
  return org.findRole(roleId)?.name ?? roleId
}
