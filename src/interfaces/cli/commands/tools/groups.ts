import type { CliCommand } from "../../common/cli-command.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { nearestName } from "../../../../lib/nearest-name.ts"
import { callingAgent } from "../../common/calling-agent.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { printResult, printOutput } from "../../common/output.ts"
import { terminalStyleFor } from "../../../../lib/terminal-style.ts"
import { waitForServers } from "../../common/wait-for-servers.ts"
import { withApp } from "../../common/open-app.ts"
import { columnsOf, table } from "../../terminal/table.ts"
import { CannotDo, listCommand } from "../../common/usage.ts"

type Group = ReturnType<Quartermaster["listGroups"]>[number]

export function addGroups(program: CliCommand, run: Run): void {
  const groups = program
    .command("groups")

    .allowInTool()
    .description("list the tool groups that roles can have")
  listCommand(groups, "the tool groups").example("qm groups list").action(run(listGroups))
  groups
    .command("show <id>")
    .example("qm groups show workspace")
    .description("show one group and its tools")
    .action(run(showGroup))
}

/** Lists groups with the tools this agent may see. A group whose tools are all hidden is left out. */
function listGroups(context: CliContext): Promise<number> {
  const { io, flags } = context
  return withApp(context, { readOnly: true }, async (app, loaded) => {
    await waitForServers(context, app)
    const groups = groupsOf(app, callingAgent(context, loaded, app))
    if (flags.json) printOutput(context, printableJson(groups))
    else {
      const paint = await terminalStyleFor(io.stdout, io.env)
      const head = [
        { title: "GROUP", paint: paint.bold },
        { title: "TOOLS" },
        { title: "DESCRIPTION", paint: paint.dim },
      ]
      const rows = groups.map((group) => [group.id, String(group.toolCount), group.description].map(printable))
      printOutput(context, table(head, rows, columnsOf(io.stdout)))
    }
    return 0
  })
}

function showGroup(context: CliContext, id: string): Promise<number> {
  return withApp(context, { readOnly: true }, async (app, loaded) => {
    await waitForServers(context, app)
    const groups = groupsOf(app, callingAgent(context, loaded, app))
    const group = groups.find((each) => each.id === id)
    if (group === undefined) {
      const known = groups.map((each) => each.id)
      const guess = nearestName(id, known)
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
    printResult(context, group, lines.join("\n"))
    return 0
  })
}

function groupsOf(app: Quartermaster, agentId: string): Group[] {
  const visible = new Set(app.visibleTools(agentId).map((tool) => tool.name))
  return app.listGroups().flatMap((group) => {
    const tools = group.tools.filter((name) => visible.has(name))
    return tools.length === 0 && group.toolCount > 0 ? [] : [{ ...group, tools, toolCount: tools.length }]
  })
}
