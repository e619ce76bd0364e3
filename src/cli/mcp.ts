import type { Command } from "commander"
import { Writable } from "node:stream"
import type { McpPin, McpServerState } from "../model/mcp.ts"
import { agentOf } from "./caller.ts"
import type { McpSpeaker, Run, Session } from "./house.ts"
import { showList } from "./listing.ts"
import { addLogin } from "./mcp-login.ts"
import { addPins } from "./mcp-pins.ts"
import { divertStdout, say } from "./output.ts"
import { isInside, personOf, withApp } from "./session.ts"
import { cancelOnSignal } from "./signals.ts"
import { CannotDo, unknownCommand } from "./usage.ts"

export function addMcp(program: Command, run: Run): void {
  const mcp = program.command("mcp").description("MCP both ways: our tools for a client, and other people's servers")
  mcp
    .command("serve", { isDefault: true })
    .description("speak MCP on stdin and stdout for the agent of --agent; a client starts this")
    .allowExcessArguments()
    .hook("preAction", (_, { args: [word] }) => {
      if (word !== undefined) throw unknownCommand(word, mcp)
    })
    .action(run(serve))
  mcp.command("list").description("the servers whose tools are offered, and how they are").action(run(listServers))
  addPins(mcp, run)
  addLogin(mcp, run)
}

/** Serves one client until it closes stdin. Nothing but the protocol reaches stdout. */
async function serve(session: Session): Promise<number> {
  const { io, house } = session
  const { controller, stop } = cancelOnSignal(io.leave, () => {})
  const stdout = divertStdout(io)
  const protocol = new Writable({
    decodeStrings: false,
    write(chunk: unknown, _encoding, done) {
      stdout.write(String(chunk))
      done()
    },
  })
  try {
    return await withApp(session, { stays: true, print: (text) => say(session, text) }, async (app, loaded) => {
      const agentId = agentOf(session, loaded, app)
      if (app.org.findAgent(agentId)?.status !== "active") {
        throw new CannotDo(
          "agent_not_found",
          `There is no agent '${agentId}', or it has ended. 'qm agents list' shows who there is.`,
        )
      }
      const speaker: McpSpeaker = isInside(io)
        ? { agentId }
        : { agentId, person: (await personOf(session, app, loaded)).id }
      if (io.stdin.isTTY) say(session, "This speaks MCP with a program on stdin. 'qm install' lets a client start it.")
      await house.serveStdio(app, speaker, { stdin: io.stdin, stdout: protocol, signal: controller.signal })
      return 0
    })
  } finally {
    stdout.restore()
    stop()
  }
}

interface ShownServer extends McpServerState {
  /** How many tools a person has agreed to, and how many wait for that. */
  pins: { pinned: number; waiting: number }
}

function listServers(session: Session): Promise<number> {
  return withApp(session, {}, async ({ mcp }) => {
    await mcp.ready(undefined, { all: true })
    const pins = mcp.pins()
    const servers = mcp.list().map((server): ShownServer => ({ ...server, pins: countsOf(server.name, pins) }))
    await showList<ShownServer>(
      session,
      servers,
      [
        { title: "SERVER", of: ({ name }) => name, paint: "bold" },
        {
          title: "STATE",
          of: ({ state }) => state,
          paint: (paint, cell) => paint[byState[cell.trim()] ?? "yellow"](cell),
        },
        { title: "BY", of: ({ transport }) => transport },
        { title: "PROTOCOL", of: ({ protocolVersion }) => protocolVersion },
        { title: "TOOLS", of: ({ tools }) => tools },
        { title: "PINNED", of: ({ pins: { pinned } }) => pinned },
        { title: "QUARANTINED", of: ({ quarantined }) => quarantined },
        { title: "PROBLEM", of: ({ problem }) => problem },
      ],
      "There is no MCP server yet. Name one under mcpServers in the configuration, or take over those of a client with 'qm init --from claude'.",
      { whole: true },
    )
    if (servers.some(({ pins: { waiting } }) => waiting > 0)) {
      say(
        session,
        "Some tools wait for a person to look at them: 'qm mcp pins diff' shows them, 'qm mcp pins trust' agrees.",
      )
    }
    return 0
  })
}

const byState: Readonly<Record<string, "green" | "dim" | "red">> = {
  connected: "green",
  resting: "dim",
  disabled: "dim",
  open: "red",
  refused: "red",
}

function countsOf(server: string, pins: readonly McpPin[]): ShownServer["pins"] {
  const own = pins.filter((pin) => pin.server === server)
  return {
    pinned: own.filter(({ state }) => state === "pinned").length,
    waiting: own.filter(({ state }) => state === "new" || state === "changed").length,
  }
}
