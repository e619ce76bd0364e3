import { existsSync } from "node:fs"
import { join } from "node:path"
import { clientNames, hookedClients, type ClientName } from "../../../../config/clients.ts"
import { clientPlaces } from "../../../../config/client-places.ts"
import { ConfigError } from "../../../../config/config-error.ts"
import type { CliCommand } from "../../common/cli-command.ts"
import type { CliContext, Run } from "../../common/context.ts"
import { printResult } from "../../common/output.ts"
import { table } from "../../terminal/table.ts"

export function addClients(program: CliCommand, run: Run): void {
  program
    .command("clients")
    .example("qm clients")
    .description("list the clients that are used here: what Quartermaster governs of each, and what goes around it")
    .action(run(listClients))
}

interface ClientState {
  client: ClientName
  /** Our servers in its file. */
  servers: string[]
  /** The state of our hook for its own tools. `none`: it has no hooks that we install. */
  hooks: "installed" | "missing" | "none"
  /** The tools and servers that go around us. */
  around: string[]
  problem?: string
}

async function listClients(context: CliContext): Promise<number> {
  const states = await Promise.all(
    clientNames.filter((client) => isUsed(client, context)).map((client) => stateOf(client, context)),
  )
  const words = { installed: "by hooks", missing: "no", none: "no hooks" } as const
  const rows = states.map(({ client, servers, hooks, around, problem }) => [
    client,
    servers.length === 0 ? "no" : servers.join(", "),
    words[hooks],
    problem ?? (around.length === 0 ? "nothing" : around.join(", ")),
  ])
  const text =
    rows.length === 0
      ? "No client that is known here has files in this folder or your home folder. 'qm install <client>' adds one."
      : [
          table(
            ["CLIENT", "SERVER", "OWN TOOLS GOVERNED", "GOES AROUND"].map((title) => ({ title })),
            rows,
          ),
          "",
          "'qm install <client>' governs more of one; 'qm doctor' tries its hooks with a call that must be refused.",
        ].join("\n")
  printResult(context, states, text)
  return 0
}

/** Folders that a client has in the home folder once it was used. */
const homes: Partial<Record<ClientName, string>> = {
  claude: ".claude",
  codex: ".codex",
  gemini: ".gemini",
  qwen: ".qwen",
  cursor: ".cursor",
  copilot: ".copilot",
  opencode: ".config/opencode",
  zed: ".config/zed",
}

function isUsed(client: ClientName, { io: { cwd, home } }: CliContext): boolean {
  const own = homes[client]
  return existsSync(clientPlaces[client].file(cwd, home)) || (own !== undefined && existsSync(join(home, own)))
}

async function stateOf(client: ClientName, { io: { cwd, home } }: CliContext): Promise<ClientState> {
  const { serversOf, hookOf } = await import("../../../../config/install.ts")
  const hasHooks = hookedClients.some((each) => each === client)
  try {
    const { ours, others } = serversOf(client, cwd, home)
    const hooks = !hasHooks ? "none" : hookOf(client, cwd) === undefined ? "missing" : "installed"
    const tools = hooks === "installed" ? [] : ["its own tools"]
    return { client, servers: ours, hooks, around: [...tools, ...others.map((name) => `server ${name}`)] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { client, servers: [], hooks: hasHooks ? "missing" : "none", around: [], problem: error.message }
  }
}
