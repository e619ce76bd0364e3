import type { CliCommand } from "../../common/cli-command.ts"
import { nearestName } from "../../../../lib/nearest-name.ts"
import { shellWord } from "../../../../lib/shell-word.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { impossibleName } from "../../../../core/permission.ts"
import type { RegisteredTool } from "../../../../core/tool.ts"
import { missingToolSentences } from "../call/dead-server.ts"
import { callingAgent } from "../../common/calling-agent.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { printResult, printMessage, printOutput } from "../../common/output.ts"
import { terminalStyleFor } from "../../../../lib/terminal-style.ts"
import { waitForServers, waitForTool } from "../../common/wait-for-servers.ts"
import { isInsideTool, withApp } from "../../common/open-app.ts"
import { columnsOf, table } from "../../terminal/table.ts"
import { CannotDo, listCommand } from "../../common/usage.ts"

export function addTools(program: CliCommand, run: Run): void {
  const tools = program
    .command("tools")
    .example("qm tools list --agent dev")
    .allowInTool()
    .description("list the tools an agent can use")
  listCommand(tools, "the tools the agent can use")
    .example("qm tools list --group workspace --agent dev")
    .option("--group <id>", "only the tools of one group")
    .action(run(listTools))
  tools
    .command("show <name>")
    .example("qm tools show read_file", "qm tools show Bash")
    .description("show one tool with its parameters and permissions")
    .action(run(showTool))
}

/** Lists the tools this agent may see, by the names of its dialect. */
function listTools(context: CliContext, { group }: { group?: string }): Promise<number> {
  const { io, flags } = context
  return withApp(context, { readOnly: true }, async (app, loaded) => {
    const agentId = callingAgent(context, loaded, app)
    await waitForServers(context, app)
    const members = app.listGroups().find(({ id }) => id === group)?.tools ?? []
    const ownNames = new Map(app.visibleTools(agentId).map(({ id, name }) => [id, name]))
    const isMember = ({ id, name }: RegisteredTool) => members.includes(ownNames.get(id) ?? name)
    const shown = app.toolsInDialect(agentId)
    const tools = shown.filter((tool) => group === undefined || tool.group === group || isMember(tool))
    if (flags.json) printOutput(context, printableJson(tools.map(summary)))
    else if (tools.length === 0) {
      const guess = group === undefined ? undefined : nearestName(group, new Set(shown.map((tool) => tool.group)))
      const hint = guess === undefined ? "" : ` Did you mean '${guess}'?`
      printMessage(context, `This agent may use no tool here.${hint}`)
    } else {
      const { bold, dim, green, yellow, red } = await terminalStyleFor(io.stdout, io.env)
      const byLevel = (level: string) => (level === "public" ? green : level === "moderate" ? yellow : red)(level)
      const head = [
        { title: "NAME", paint: bold },
        { title: "GROUP" },
        { title: "LEVEL", paint: byLevel },
        { title: "EFFECT" },
        { title: "DESCRIPTION", paint: dim },
      ]
      const rows = tools.map(summary).map((tool) => {
        return [tool.name, tool.group, tool.level, tool.effect ?? "?", tool.description].map(printable)
      })
      printOutput(context, table(head, rows, columnsOf(io.stdout)))
    }
    return 0
  })
}

function summary({ name, group, permission: { level }, effect, description, version }: RegisteredTool) {
  return { name, group, level, effect: effect ?? null, description, version }
}

/**
 * Shows one tool, by any name that a call may write; the parameters are those under that name. One that the agent may not
 * use is shown too.
 */
function showTool(context: CliContext, name: string): Promise<number> {
  return withApp(context, { readOnly: true }, async (app, loaded) => {
    const agentId = callingAgent(context, loaded, app)
    await waitForTool(context, app, agentId, name)
    const tools = [...app.toolsInDialect(agentId), ...app.visibleTools(agentId)]
    const visible =
      tools.find((each) => [each.name, `${each.name}@${each.version}`, each.id].includes(name)) ??
      app.visibleTool(agentId, name)
    // A program started by an agent must not learn of tools that are hidden from that agent.
    const hidden = visible !== undefined || isInsideTool(context.io) ? undefined : app.findTool(name)
    if (hidden !== undefined && context.flags.agent !== undefined)
      throw new CannotDo("tool_not_found", await whyHidden(app, agentId, hidden))
    const tool = visible ?? hidden
    if (tool === undefined) {
      const known = tools.map((each) => each.name)
      const guess = nearestName(name, known)
      const help = guess ? `Did you mean '${guess}'?` : "'qm tools list' shows what there is."
      const sentences = [`There is no tool '${name}' for this agent. ${help}`, ...missingToolSentences(app, name)]
      throw new CannotDo("tool_not_found", sentences.join("\n"))
    }
    const { permission, permissionSources, input, output, ...about } = {
      ...tool,
      input: app.inputSchemaOf(agentId, name) ?? tool.input.json,
      output: tool.output?.json ?? null,
    }
    const limits = { ...permission, allowedRoles: rolesText(tool) }
    const fields = Object.entries({ ...about, ...limits }).filter(([, value]) => typeof value !== "function")
    const lines = fields.map(([key, value]) => `${`${key}:`.padEnd(margin.length)}${text(value)}${notes[key] ?? ""}`)
    const schemas = Object.entries({ input, output }).map(([key, value]) => `${key}: ${printableJson(value, 2)}`)
    const result = { ...about, permission, permissionSources, input, output }
    printResult(context, result, [...lines, ...schemas].join("\n"))
    if (visible === undefined) printMessage(context, await whyHidden(app, agentId, tool))
    return 0
  })
}

/** The roles a tool is limited to, and where that is written. */
function rolesText({ permission: { allowedRoles }, permissionSources }: RegisteredTool): string {
  if (allowedRoles.length === 0) return ""
  const roles = allowedRoles.map((name) => (name === impossibleName ? "(none)" : name)).join(", ")
  return `${roles} (${permissionSources?.allowedRoles ?? "written in the tool itself"})`
}

async function whyHidden(app: Quartermaster, agentId: string, hidden: RegisteredTool): Promise<string> {
  const { name: tool } = hidden
  const { reasons } = await app.why({ agentId, tool, input: {} })
  const roles = rolesText(hidden)
  const why = reasons.map(({ sentence, source }) => `${sentence.replace(/\.$/, "")} (${source})`).join("; ")
  const limit = roles === "" ? "" : ` The tool is limited to the roles ${roles}.`
  return `Agent ${agentId} may not use ${tool}: ${why}.${limit} See: qm why ${tool} --agent ${shellWord(agentId)}`
}

const margin = " ".repeat(26)
const notes: Readonly<Record<string, string>> = {
  layer: " (whose tool it is: system is everybody's; one of a department or an agent comes before it)",
}

function text(value: unknown): string {
  if (value === undefined || value === null || value === "") return "-"
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.join(", ")
  return typeof value === "string" ? value.replaceAll("\n", `\n${margin}`) : JSON.stringify(value)
}
