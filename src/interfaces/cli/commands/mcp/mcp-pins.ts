import type { CliCommand } from "../../common/cli-command.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { McpPin, McpToolDefinition } from "../../../../core/mcp.ts"
import { nearestName } from "../../../../lib/nearest-name.ts"
import { confirm } from "../../common/confirm.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { lineDiff } from "../../terminal/line-diff.ts"
import { showList } from "../../common/listing.ts"
import { printMessage, printOutput } from "../../common/output.ts"
import { orCannotDo, listCommand, UsageError } from "../../common/usage.ts"
import { personOf, withApp } from "../../common/open-app.ts"
import { formatTime } from "../../common/time-text.ts"

export function addPins(mcp: CliCommand, run: Run): void {
  const pins = mcp
    .command("pins")

    .description(
      "review and approve the tool definitions of MCP servers; a pin is the definition that a person approved",
    )
  listCommand(pins, "the approved definitions of tools of MCP servers")
    .example("qm mcp pins list")
    .action(run(listPins))
  pins
    .command("diff [server] [tool]")
    .example("qm mcp pins diff github")
    .description("show new and changed tool definitions that nobody has approved")
    .action(run(diffPins))
  pins
    .command("trust [server] [tool]")
    .example("qm mcp pins trust github create_issue")
    .description("approve the current tool definitions of all servers, one server or one tool")
    .option("--yes", "approve without asking; required without a terminal")
    .action(run(trustPins))
}

function listPins(context: CliContext): Promise<number> {
  return withPins(context, undefined, undefined, async (_, pins) => {
    await showList<McpPin>(
      context,
      pins,
      [
        { title: "SERVER", of: ({ server }) => server, paint: "bold" },
        { title: "TOOL", of: ({ tool }) => tool },
        {
          title: "STATE",
          of: ({ state }) => state,
          paint: (paint, cell) => paint[colours[cell.trim()] ?? "yellow"](cell),
        },
        { title: "APPROVED BY", of: ({ by }) => by },
        { title: "AT", of: ({ at }) => (at === undefined ? undefined : formatTime(at)), paint: "dim" },
        { title: "SHA-256", of: ({ hash }) => hash?.slice(0, 12), paint: "dim" },
        { title: "WARNINGS", of: ({ warnings }) => warnings.join(" ") },
      ],
      "There are no pins yet: no server has been connected. 'qm mcp list' shows the servers.",
      { whole: true },
    )
    return 0
  })
}

const colours: Readonly<Record<string, "green" | "dim">> = { pinned: "green", gone: "dim" }

function diffPins(context: CliContext, server: string | undefined, tool: string | undefined): Promise<number> {
  return withPins(context, server, tool, (_, pins) => {
    const waiting = pins.filter(isWaiting)
    const { flags } = context
    if (flags.json) printOutput(context, printableJson(waiting))
    else if (waiting.length === 0)
      printMessage(context, "All tool definitions are approved; nothing is new or changed.")
    else printOutput(context, waiting.map(pinText).join("\n\n"))
    return 0
  })
}

/** Shows the definitions, asks, and approves exactly what was shown. */
function trustPins(
  context: CliContext,
  server: string | undefined,
  tool: string | undefined,
  { yes = false }: { yes?: boolean },
): Promise<number> {
  return withPins(context, server, tool, async (app, pins, loaded) => {
    const { flags } = context
    const by = await personOf(context, app, loaded)
    const waiting = pins.filter(isWaiting)
    if (waiting.length === 0) {
      if (flags.json) printOutput(context, printableJson([]))
      else printMessage(context, "There is nothing to approve: no tool definition is new or changed.")
      return 0
    }
    if (!flags.json) printOutput(context, waiting.map(pinText).join("\n\n"))
    if (!(await confirm(context, `Approve ${counted(waiting.length)} as shown?`, yes))) {
      printMessage(context, "Nothing was approved.")
      return 4
    }
    const approved: McpPin[] = []
    for (const name of new Set(waiting.map((pin) => pin.server))) {
      const shown = waiting.flatMap(({ server: of, seenHash }) => (of === name && seenHash ? [seenHash] : []))
      approved.push(...(await orCannotDo(app.mcp.trust(name, tool, by.id, new Set(shown)))))
    }
    if (flags.json) printOutput(context, printableJson(approved))
    else printMessage(context, `${by.id} approved ${counted(approved.length)}. They can be used now.`)
    return 0
  })
}

function counted(count: number): string {
  return count === 1 ? "1 tool" : `${count} tools`
}

/** A tool's warnings and how its definition differs from the approved one, with invisible characters escaped. */
function pinText(pin: McpPin): string {
  const { server, tool, state, warnings, definition, seen } = pin
  const title = { new: "is new", changed: "has changed", gone: "is gone", pinned: "is approved" }[state]
  const diff = lineDiff(definitionText(definition), definitionText(seen ?? definition))
  const notices = warnings.map((sentence) => `  ! ${sentence.replaceAll("\n", "\\n")}`)
  return printable([`${server}: ${tool} ${title}`, ...notices, ...diff.map((line) => `  ${line}`)].join("\n"))
}

function definitionText(definition: McpToolDefinition | undefined): string {
  return definition === undefined ? "" : JSON.stringify(definition, null, 2)
}

function isWaiting({ state }: McpPin): boolean {
  return state === "new" || state === "changed"
}

function withPins(
  context: CliContext,
  server: string | undefined,
  tool: string | undefined,
  work: (
    app: Quartermaster,
    pins: readonly McpPin[],
    loaded: Parameters<typeof personOf>[2],
  ) => number | Promise<number>,
): Promise<number> {
  return withApp(context, {}, async (app, loaded) => {
    const names = app.mcp.list().map(({ name }) => name)
    if (server !== undefined && !names.includes(server)) throw unknownServer(server, names)
    await app.mcp.ready(undefined, { all: true })
    const pins = app.mcp.pins(server)
    if (tool === undefined) return work(app, pins, loaded)
    const found = pins.filter((pin) => pin.tool === tool)
    if (found.length === 0) throw unknownTool(server, tool, pins)
    return work(app, found, loaded)
  })
}

export function unknownServer(server: string, names: readonly string[]): UsageError {
  const guess = nearestName(server, names)
  const help = guess ? `Did you mean '${guess}'?` : "'qm mcp list' shows all servers."
  return new UsageError(`There is no MCP server '${server}'. ${help}`)
}

function unknownTool(server: string | undefined, tool: string, pins: readonly McpPin[]): UsageError {
  const guess = nearestName(
    tool,
    pins.map((pin) => pin.tool),
  )
  const help = guess ? `Did you mean '${guess}'?` : "'qm mcp pins list' shows all tools."
  return new UsageError(`The server '${server}' has no tool '${tool}'. ${help}`)
}
