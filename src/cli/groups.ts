import type { Command } from "commander"
import type { App } from "../model/app.ts"
import { nearest } from "../model/nearest.ts"
import { agentOf } from "./caller.ts"
import type { Run, Session } from "./house.ts"
import { answer, jsonText, tell } from "./output.ts"
import { paintFor } from "../model/paint.ts"
import { meetServers } from "./servers.ts"
import { withApp } from "./session.ts"
import { columnsOf, table } from "./table.ts"
import { CannotDo, listCommand } from "./usage.ts"

type Group = ReturnType<App["listGroups"]>[number]

export function addGroups(program: Command, run: Run): void {
  const groups = program.command("groups").description("the groups that roles are given")
  listCommand(groups).action(run(listGroups))
  groups.command("show <id>").description("one group and its tools").action(run(showGroup))
}

/** The groups with the tools this agent may know of. A group whose tools are all hidden is hidden too. */
function listGroups(session: Session): Promise<number> {
  const { io, house, flags } = session
  return withApp(session, {}, async (app, loaded) => {
    await meetServers(app)
    const groups = groupsOf(app, agentOf(session, loaded, app))
    if (flags.json) tell(session, jsonText(groups, house))
    else {
      const paint = await paintFor(io.stdout, io.env)
      const head = [
        { title: "GROUP", paint: paint.bold },
        { title: "TOOLS" },
        { title: "DESCRIPTION", paint: paint.dim },
      ]
      const rows = groups.map((group) => [group.id, String(group.toolCount), group.description].map(house.printable))
      tell(session, table(head, rows, columnsOf(io.stdout)))
    }
    return 0
  })
}

function showGroup(session: Session, id: string): Promise<number> {
  return withApp(session, {}, async (app, loaded) => {
    await meetServers(app)
    const groups = groupsOf(app, agentOf(session, loaded, app))
    const group = groups.find((each) => each.id === id)
    if (group === undefined) {
      const known = groups.map((each) => each.id)
      const guess = nearest(id, known)
      const help = guess ? `Did you mean '${guess}'?` : "'qm groups list' shows what there is."
      throw new CannotDo("group_not_found", `There is no group '${id}' for this agent. ${help}`)
    }
    const { description, isReserved, tools } = group
    const lines = [
      `id:          ${id}`,
      `description: ${description || "-"}`,
      `reserved:    ${isReserved}`,
      `tools:       ${tools.join(", ") || "-"}`,
    ]
    answer(session, group, lines.join("\n"))
    return 0
  })
}

function groupsOf(app: App, agentId: string): Group[] {
  const seen = new Set(app.visibleTools(agentId).map((tool) => tool.name))
  return app.listGroups().flatMap((group) => {
    const tools = group.tools.filter((name) => seen.has(name))
    return tools.length === 0 && group.toolCount > 0 ? [] : [{ ...group, tools, toolCount: tools.length }]
  })
}
