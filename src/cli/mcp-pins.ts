import type { Command } from "commander"
import type { App } from "../model/app.ts"
import type { McpPin, McpToolDefinition } from "../model/mcp.ts"
import { nearest } from "../model/nearest.ts"
import { confirm } from "./confirm.ts"
import type { Run, Session } from "./house.ts"
import { lineDiff } from "./line-diff.ts"
import { showList } from "./listing.ts"
import { jsonText, say, tell } from "./output.ts"
import { expected, listCommand, UsageError } from "./usage.ts"
import { personOf, withApp } from "./session.ts"
import { clock } from "./since.ts"

export function addPins(mcp: Command, run: Run): void {
  const pins = mcp.command("pins").description("what people have agreed to of each server's tools")
  listCommand(pins).action(run(listPins))
  pins
    .command("diff [server] [tool]")
    .description("what a server offers that nobody has agreed to, beside what somebody has")
    .action(run(diffPins))
  pins
    .command("trust [server] [tool]")
    .description("agree to what a server offers now, whole or one tool of it")
    .option("--yes", "agree without being asked; for where there is no terminal")
    .action(run(trustPins))
}

function listPins(session: Session): Promise<number> {
  return withPins(session, undefined, undefined, async (_, pins) => {
    await showList<McpPin>(
      session,
      pins,
      [
        { title: "SERVER", of: ({ server }) => server, paint: "bold" },
        { title: "TOOL", of: ({ tool }) => tool },
        {
          title: "STATE",
          of: ({ state }) => state,
          paint: (paint, cell) => paint[colours[cell.trim()] ?? "yellow"](cell),
        },
        { title: "AGREED BY", of: ({ by }) => by },
        { title: "AT", of: ({ at }) => (at === undefined ? undefined : clock(at)), paint: "dim" },
        { title: "SHA-256", of: ({ hash }) => hash?.slice(0, 12), paint: "dim" },
        { title: "NOTICED", of: ({ warnings }) => warnings.join(" ") },
      ],
      "There are no pins yet: no server has been connected. 'qm mcp list' shows the servers.",
      { whole: true },
    )
    return 0
  })
}

const colours: Readonly<Record<string, "green" | "dim">> = { pinned: "green", gone: "dim" }

function diffPins(session: Session, server: string | undefined, tool: string | undefined): Promise<number> {
  return withPins(session, server, tool, (_, pins) => {
    const waiting = pins.filter(isWaiting)
    const { flags, house } = session
    if (flags.json) tell(session, jsonText(waiting, house))
    else if (waiting.length === 0) say(session, "Nothing differs from what people have agreed to.")
    else tell(session, waiting.map((pin) => pinText(session, pin)).join("\n\n"))
    return 0
  })
}

/** Shows what is agreed to before it is, and counts only for what was shown. */
function trustPins(
  session: Session,
  server: string | undefined,
  tool: string | undefined,
  { yes = false }: { yes?: boolean },
): Promise<number> {
  return withPins(session, server, tool, async (app, pins, loaded) => {
    const { house, flags } = session
    const by = await personOf(session, app, loaded)
    const waiting = pins.filter(isWaiting)
    if (waiting.length === 0) {
      if (flags.json) tell(session, jsonText([], house))
      else say(session, "There is nothing to agree to: everything is as people have agreed to already.")
      return 0
    }
    if (!flags.json) tell(session, waiting.map((pin) => pinText(session, pin)).join("\n\n"))
    if (!(await confirm(session, `Agree to ${counted(waiting.length)} as shown?`, yes))) {
      say(session, "Nothing was agreed to.")
      return 4
    }
    const agreed: McpPin[] = []
    for (const name of new Set(waiting.map((pin) => pin.server))) {
      const shown = waiting.flatMap(({ server: of, seenHash }) => (of === name && seenHash ? [seenHash] : []))
      agreed.push(...(await expected(app.mcp.trust(name, tool, by.id, new Set(shown)))))
    }
    if (flags.json) tell(session, jsonText(agreed, house))
    else say(session, `${by.id} agreed to ${counted(agreed.length)}. They can be used now.`)
    return 0
  })
}

function counted(count: number): string {
  return count === 1 ? "1 tool" : `${count} tools`
}

/** What stands in the way of one tool, as lines in which nothing is hidden. */
function pinText({ house }: Session, pin: McpPin): string {
  const { server, tool, state, warnings, definition, seen } = pin
  const title = { new: "is new", changed: "has changed", gone: "is gone", pinned: "is as agreed to" }[state]
  const diff = lineDiff(definitionText(definition), definitionText(seen ?? definition))
  const noticed = warnings.map((sentence) => `  ! ${sentence.replaceAll("\n", "\\n")}`)
  return house.printable([`${server}: ${tool} ${title}`, ...noticed, ...diff.map((line) => `  ${line}`)].join("\n"))
}

function definitionText(definition: McpToolDefinition | undefined): string {
  return definition === undefined ? "" : JSON.stringify(definition, null, 2)
}

function isWaiting({ state }: McpPin): boolean {
  return state === "new" || state === "changed"
}

function withPins(
  session: Session,
  server: string | undefined,
  tool: string | undefined,
  work: (app: App, pins: readonly McpPin[], loaded: Parameters<typeof personOf>[2]) => number | Promise<number>,
): Promise<number> {
  return withApp(session, {}, async (app, loaded) => {
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

function unknownServer(server: string, names: readonly string[]): UsageError {
  const guess = nearest(server, names)
  const help = guess ? `Did you mean '${guess}'?` : "'qm mcp list' shows what there is."
  return new UsageError(`There is no MCP server '${server}'. ${help}`)
}

function unknownTool(server: string | undefined, tool: string, pins: readonly McpPin[]): UsageError {
  const guess = nearest(
    tool,
    pins.map((pin) => pin.tool),
  )
  const help = guess ? `Did you mean '${guess}'?` : "'qm mcp pins list' shows what there is."
  return new UsageError(`The server '${server}' has no tool '${tool}'. ${help}`)
}
