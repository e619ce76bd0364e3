import type { Command } from "commander"
import { nearest } from "../model/nearest.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { agentOf } from "./caller.ts"
import type { Run, Session } from "./house.ts"
import { answer, jsonText, say, tell } from "./output.ts"
import { paintFor } from "../model/paint.ts"
import { meetServers, meetTool } from "./servers.ts"
import { withApp } from "./session.ts"
import { columnsOf, table } from "./table.ts"
import { CannotDo, listCommand } from "./usage.ts"

export function addTools(program: Command, run: Run): void {
  const tools = program.command("tools").description("the tools an agent can use")
  listCommand(tools).option("--group <id>", "only the tools of one group").action(run(listTools))
  tools.command("show <name>").description("everything about one tool").action(run(showTool))
}

/** The tools this agent may know of, and no others, by the names that its model is used to. */
function listTools(session: Session, { group }: { group?: string }): Promise<number> {
  const { io, house, flags } = session
  return withApp(session, {}, async (app, loaded) => {
    const agentId = agentOf(session, loaded, app)
    await meetServers(app)
    const members = app.listGroups().find(({ id }) => id === group)?.tools ?? []
    const ownNames = new Map(app.visibleTools(agentId).map(({ id, name }) => [id, name]))
    const isMember = ({ id, name }: RegisteredTool) => members.includes(ownNames.get(id) ?? name)
    const shown = app.shownTools(agentId)
    const tools = shown.filter((tool) => group === undefined || tool.group === group || isMember(tool))
    if (flags.json) tell(session, jsonText(tools.map(summary), house))
    else if (tools.length === 0) say(session, "There is no tool here that this agent may use.")
    else {
      const { bold, dim, green, yellow, red } = await paintFor(io.stdout, io.env)
      const byLevel = (level: string) => (level === "public" ? green : level === "moderate" ? yellow : red)(level)
      const head = [
        { title: "NAME", paint: bold },
        { title: "GROUP" },
        { title: "LEVEL", paint: byLevel },
        { title: "EFFECT" },
        { title: "DESCRIPTION", paint: dim },
      ]
      const rows = tools.map(summary).map((tool) => {
        return [tool.name, tool.group, tool.level, tool.effect ?? "?", tool.description].map(house.printable)
      })
      tell(session, table(head, rows, columnsOf(io.stdout)))
    }
    return 0
  })
}

function summary({ name, group, permission: { level }, effect, description, version }: RegisteredTool) {
  return { name, group, level, effect: effect ?? null, description, version }
}

/** Everything about one tool: as this agent is shown it, or as it is when it is named by its own name. */
function showTool(session: Session, name: string): Promise<number> {
  const { house } = session
  return withApp(session, {}, async (app, loaded) => {
    const agentId = agentOf(session, loaded, app)
    await meetTool(app, agentId, name)
    const tools = [...app.shownTools(agentId), ...app.visibleTools(agentId)]
    const tool = tools.find((each) => [each.name, `${each.name}@${each.version}`, each.id].includes(name))
    if (tool === undefined) {
      const known = tools.map((each) => each.name)
      const guess = nearest(name, known)
      const help = guess ? `Did you mean '${guess}'?` : "'qm tools list' shows what there is."
      throw new CannotDo("tool_not_found", `There is no tool '${name}' for this agent. ${help}`)
    }
    const { permission, input, output, ...about } = {
      ...tool,
      input: tool.input.json,
      output: tool.output?.json ?? null,
    }
    const fields = Object.entries({ ...about, ...permission }).filter(([, value]) => typeof value !== "function")
    const lines = fields.map(([key, value]) => `${`${key}:`.padEnd(margin.length)}${text(value)}`)
    const schemas = Object.entries({ input, output }).map(([key, value]) => `${key}: ${jsonText(value, house, 2)}`)
    answer(session, { ...about, permission, input, output }, [...lines, ...schemas].join("\n"))
    return 0
  })
}

const margin = " ".repeat(26)

function text(value: unknown): string {
  if (value === undefined || value === null || value === "") return "-"
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.join(", ")
  return typeof value === "string" ? value.replaceAll("\n", `\n${margin}`) : JSON.stringify(value)
}
