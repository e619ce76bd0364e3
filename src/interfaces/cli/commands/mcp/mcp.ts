import type { CliCommand } from "../../common/cli-command.ts"
import { Writable } from "node:stream"
import type { McpPin, McpServerState } from "../../../../core/mcp.ts"
import { clientIdentity } from "./client-identity.ts"
import { readBuiltinFlag, shownTools } from "./builtin-groups-flag.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { showList } from "../../common/listing.ts"
import { addLogin } from "./mcp-login.ts"
import { addPins, unknownServer } from "./mcp-pins.ts"
import { divertStdout, printMessage } from "../../common/output.ts"
import { outlivePluginErrors } from "./plugin-errors.ts"
import { withApp } from "../../common/open-app.ts"
import { cancelOnSignal } from "../../common/signals.ts"
import { unknownCommand } from "../../common/usage.ts"
import { version } from "../../common/version.ts"

export function addMcp(program: CliCommand, run: Run): void {
  const mcp = program
    .command("mcp")
    .example("qm mcp list", "qm mcp --agent dev")
    .description("serve tools to an MCP client, and manage the MCP servers whose tools agents use")
  mcp
    .command("serve", { isDefault: true })
    .example("qm mcp serve --agent dev")
    .allowInTool()
    .description("serve MCP on stdin and stdout for one agent (--agent); MCP clients start this")
    .option(
      "--builtin <groups>",
      "of the built-in tools list only those of these groups, for example workspace,command",
    )
    .allowExcessArguments()
    .hook("preAction", (_, { args: [word] }) => {
      if (word !== undefined) throw unknownCommand(word, mcp)
    })
    .action(run(serve))
  mcp
    .command("list [server]")
    .example("qm mcp list")
    .allowInTool()
    .description("list the configured MCP servers, their state, and how many of their tools are approved (pinned)")
    .action(run(listServers))
  addPins(mcp, run)
  addLogin(mcp, run)
}

/** Serves one client until it closes stdin. Only protocol messages reach stdout. */
async function serve(context: CliContext, flags: { builtin?: string }): Promise<number> {
  const { io } = context
  const groups = readBuiltinFlag(flags.builtin)
  const { controller, stop } = cancelOnSignal(io.leave, () => {})
  const stdout = divertStdout(io)
  const endOnErrors = outlivePluginErrors(context)
  const protocol = new Writable({
    decodeStrings: false,
    write(chunk: unknown, _encoding, done) {
      stdout.write(String(chunk))
      done()
    },
  })
  try {
    return await withApp(
      context,
      { longLived: true, print: (text) => printMessage(context, text) },
      async (app, loaded) => {
        const client = await clientIdentity(context, app, loaded)
        if (io.stdin.isTTY)
          printMessage(
            context,
            "This command speaks MCP with a program on stdin. 'qm install' configures a client to start it.",
          )
        const { serveStdio } = await import("../../../mcp/stdio.ts")
        const { signal } = controller
        const mcpTools = (agentId: string) => shownTools(app, agentId, groups)
        await serveStdio({ ...app, mcpTools }, client, {
          stdin: io.stdin,
          stdout: protocol,
          signal,
          version: version(),
          inClient: loaded.config.approvals?.inClient,
        })
        return 0
      },
    )
  } finally {
    endOnErrors()
    stdout.restore()
    stop()
  }
}

interface ShownServer extends McpServerState {
  /** The numbers of tools that are approved, and that wait for approval. */
  pins: { pinned: number; waiting: number }
}

function listServers(context: CliContext, only: string | undefined): Promise<number> {
  return withApp(context, { readOnly: true }, async ({ mcp }, { ignored }) => {
    const names = mcp.list().map(({ name }) => name)
    if (only !== undefined && !names.includes(only)) throw unknownServer(only, names)
    await mcp.ready(undefined, { all: true })
    const pins = mcp.pins()
    const listed = mcp.list().filter(({ name }) => only === undefined || name === only)
    const servers = listed.map((server): ShownServer => ({ ...server, pins: countsOf(server.name, pins) }))
    await showList<ShownServer>(
      context,
      servers,
      [
        { title: "SERVER", of: ({ name }) => name, paint: "bold" },
        {
          title: "STATE",
          of: ({ state, problem }) => (state === "waiting" && problem !== undefined ? "failed" : state),
          paint: (paint, cell) => paint[byState[cell.trim()] ?? "yellow"](cell),
        },
        { title: "BY", of: ({ transport }) => transport },
        { title: "PROTOCOL", of: ({ protocolVersion }) => protocolVersion },
        { title: "TOOLS", of: ({ tools }) => tools },
        { title: "PINNED", of: ({ pins: { pinned } }) => pinned },
        { title: "QUARANTINED", of: ({ quarantined }) => quarantined },
        { title: "PROBLEM", of: ({ problem }) => problem && firstLine(problem) },
      ],
      ignored.some(({ key }) => key.startsWith("mcpServers"))
        ? "The MCP servers in the configuration are ignored until you trust it. 'qm check' shows what the file does; after that, run 'qm trust'."
        : "There is no MCP server yet. Add one under mcpServers in the configuration, or import those of a client with 'qm init --from claude'.",
      { whole: true },
    )
    for (const server of context.flags.json ? [] : servers) {
      const output = outputOf(server)
      if (output !== undefined) printMessage(context, output)
    }
    if (servers.some(({ pins: { waiting } }) => waiting > 0)) {
      printMessage(
        context,
        "Some tools wait for approval: 'qm mcp pins diff' shows them, 'qm mcp pins trust' approves them.",
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
  failed: "red",
}

/** Returns the server's output while it did not start, which often tells why. */
function outputOf({ name, problem = "" }: ShownServer): string | undefined {
  const [, ...lines] = problem.trim().split("\n")
  return lines.length === 0 ? undefined : `MCP server ${name}: ${lines.join("\n  ")}`
}

/** Returns the first line. The server's output follows below the table, and is with --json. */
function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n")
  return line.length > 120 ? `${line.slice(0, 119)}…` : line
}

function countsOf(server: string, pins: readonly McpPin[]): ShownServer["pins"] {
  const own = pins.filter((pin) => pin.server === server)
  return {
    pinned: own.filter(({ state }) => state === "pinned").length,
    waiting: own.filter(({ state }) => state === "new" || state === "changed").length,
  }
}
