import type { Command } from "commander"
import type { App } from "../model/app.ts"
import type { Agent, Freeze } from "../model/organisation.ts"
import type { Run, Session } from "./house.ts"
import { showFields, showList } from "./listing.ts"
import { answer, jsonText } from "./output.ts"
import { withApp, withPerson } from "./session.ts"
import { clock } from "./since.ts"
import { listCommand, noSuch, number } from "./usage.ts"

interface AgentFlags {
  id?: string
  role: string
  department?: string
  level?: string
  parent?: string
}

export function addAgents(program: Command, run: Run): void {
  const agents = program.command("agents").description("the agents and their roles")
  listCommand(agents).option("--all", "also those that were terminated").action(run(listAgents))
  agents.command("show <id>").description("one agent, and what it can use").action(run(showAgent))
  agents
    .command("create")
    .description("make an agent")
    .requiredOption("--role <role>", "its role, by name or id")
    .option("--id <id>", "its id; made up when left out")
    .option("--department <id>", "its department; the role's when left out")
    .option("--level <number>", "its level; the role's when left out")
    .option("--parent <id>", "the agent above it, whose ceilings it inherits")
    .action(run(createAgent))
  agents
    .command("terminate <id>")
    .description("end an agent and everyone below it, with their waiting calls")
    .option("--reason <text>", "why")
    .action(run(terminateAgent))
  agents
    .command("inbox <id>")
    .description("the messages that have arrived for an agent; looking does not mark them as read")
    .option("--unread", "only those it has not read")
    .action(run(showInbox))
}

function listAgents(session: Session, { all }: { all?: boolean }): Promise<number> {
  return withApp(session, {}, async ({ org }) => {
    await showList(
      session,
      org.listAgents({ includeTerminated: all === true }),
      [
        { title: "ID", of: ({ id }) => id, paint: "bold" },
        { title: "ROLE", of: ({ roleId }) => roleName(org, roleId) },
        { title: "DEPARTMENT", of: ({ department }) => department },
        { title: "LEVEL", of: ({ level }) => level },
        { title: "PARENT", of: ({ parentId }) => parentId },
        { title: "STATUS", of: ({ status }) => status },
        { title: "SOURCE", of: ({ source }) => source, paint: "dim" },
      ],
      "There is no agent.",
    )
    return 0
  })
}

/** An agent with everything a person asks about it: who stands above it, what it sees, whether it may act. */
function showAgent(session: Session, id: string): Promise<number> {
  return withApp(session, {}, async (app) => {
    const { org } = app
    const agent = org.findAgent(id)
    if (agent === undefined) throw unknownAgent(app, id)
    const spawners = spawnersOf(org, agent)
    const tools = app.visibleTools(id).length
    const frozen = freezeOf(app.frozen(), [id, ...spawners])
    const unread = (await org.inbox(id, { unreadOnly: true })).length
    const role = roleName(org, agent.roleId)
    showFields(session, { ...agent, role, spawners, tools, frozen: frozen ?? null, unread }, [
      ["id", agent.id],
      ["role", role],
      ["department", agent.department],
      ["level", agent.level],
      ["spawned by", spawners.join(" ← ")],
      ["status", agent.status],
      ["frozen", frozen === undefined ? "no" : frozenText(frozen)],
      ["tools", `${tools} (qm tools list --agent ${agent.id})`],
      ["unread", `${unread} messages (qm agents inbox ${agent.id})`],
      ["task", agent.taskId],
      ["brief", agent.taskBrief === undefined ? undefined : jsonText(agent.taskBrief, session.house, 2)],
      ["source", agent.source],
      ["made by", `${agent.createdBy} (${agent.madeBy})`],
      ["made at", agent.createdAt],
    ])
    return 0
  })
}

function createAgent(session: Session, flags: AgentFlags): Promise<number> {
  const { id, role, department, parent } = flags
  const given = { id, role, department, level: number("--level", flags.level), parentId: parent }
  return withPerson(session, async ({ org }, by) => {
    const agent = await org.createAgent(given, by)
    answer(session, agent, `Created agent ${agent.id} with role ${roleName(org, agent.roleId)}.`)
    return 0
  })
}

function terminateAgent(session: Session, id: string, { reason }: { reason?: string }): Promise<number> {
  return withPerson(session, async ({ org }, by) => {
    const ended = await org.terminateAgent(id, by, reason)
    answer(session, { terminated: ended }, `Terminated ${ended.join(", ")}.`)
    return 0
  })
}

function showInbox(session: Session, id: string, { unread }: { unread?: boolean }): Promise<number> {
  return withApp(session, {}, async (app) => {
    if (id !== "user" && app.org.findAgent(id) === undefined) throw unknownAgent(app, id)
    await showList(
      session,
      await app.org.inbox(id, { unreadOnly: unread === true }),
      [
        { title: "ARRIVED", of: ({ deliverAt }) => clock(deliverAt), paint: "dim" },
        { title: "FROM", of: ({ from }) => from, paint: "bold" },
        { title: "TASK", of: ({ taskId }) => taskId },
        { title: "READ", of: ({ readAt }) => (readAt === null ? "no" : "yes") },
        { title: "MESSAGE", of: ({ payload }) => jsonText(payload, session.house) },
      ],
      `No message has arrived for ${id}.`,
    )
    return 0
  })
}

/** The ids above an agent, nearest first. Whoever is above is named even when it has ended. */
export function spawnersOf(org: App["org"], { id, parentId }: Pick<Agent, "id" | "parentId">): string[] {
  const above: string[] = []
  for (let next = parentId; next !== undefined && next !== id && !above.includes(next);) {
    above.push(next)
    next = org.findAgent(next)?.parentId
  }
  return above
}

type Frozen = Freeze & { agentId?: string | undefined }

/** The freeze that holds for an agent with these above it. */
function freezeOf(frozen: readonly Frozen[], ids: readonly string[]): Frozen | undefined {
  return frozen.find(({ agentId }) => agentId === undefined || ids.includes(agentId))
}

/** Who is frozen, by whom and why, and how it ends. */
export function frozenText({ agentId, by, at, because }: Frozen): string {
  const [who, thaw] =
    agentId === undefined
      ? ["everyone", "qm thaw"]
      : [`agent ${agentId} and everyone below it`, `qm thaw --agent ${agentId}`]
  const why = because === undefined ? "" : `: ${because}`
  return `${who}, by ${by} at ${clock(at)}${why} ('${thaw}' ends it)`
}

function unknownAgent({ org }: App, id: string) {
  return noSuch(
    "agent",
    id,
    org.listAgents().map((agent) => agent.id),
  )
}

function roleName(org: App["org"], roleId: string): string {
  return org.findRole(roleId)?.name ?? roleId
}
