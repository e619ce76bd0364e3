import type { Command } from "commander"
import { clients, type Run, type Session } from "./house.ts"
import { answer } from "./output.ts"
import { oneOf, UsageError } from "./usage.ts"

interface InitFlags {
  from?: string
}

export function addInit(program: Command, run: Run): void {
  program
    .command("init [path]")
    .description("write a configuration file here and trust it; with --from, one out of a client's, to be read first")
    .option(`--from <client>`, `take over servers and permissions of ${clients.join(", ")}; path is its file or folder`)
    .action(run(init))
}

/** Writes a first configuration, trusted, and says what to do with it. */
async function init(session: Session, path: string | undefined, { from }: InitFlags): Promise<number> {
  const client = oneOf("--from", from, clients)
  if (client !== undefined) return takeOver(session, client, path)
  if (path !== undefined) throw new UsageError("A path goes with --from: it is the client's file or folder.")
  const written = await session.house.writeInitialConfig(session.io.cwd)
  const lines = [
    `Wrote ${written.file} and trusted it.`,
    `Wrote ${written.schemaFile}, with which editors complete and check it.`,
    "",
    "Next:",
    "  edit the file         every key is there, with its default or an example",
    "  qm trust              after each change; until then only what tightens counts",
    "  qm tools list         what the agents can use",
    "  qm call current_time  call a tool",
  ]
  answer(session, written, lines.join("\n"))
  return 0
}

/** The same out of what another program is configured with. What could not be taken over is said, line by line. */
async function takeOver(session: Session, client: (typeof clients)[number], path: string | undefined): Promise<number> {
  const { house, io } = session
  const imported = await house.importFrom(client, path)
  const written = await house.writeImported(io.cwd, imported)
  const { files, servers, rules, notes } = imported
  const lines = [
    `Read ${files.join(", ")}.`,
    `Wrote ${written.file} with ${counted(servers.length, "server")} and ${counted(rules, "rule")}. It is not trusted yet: no server starts, and nothing is allowed.`,
    ...(notes.length === 0 ? [] : ["", "To look at:", ...notes.map((note) => `  - ${note}`)]),
    "",
    "Next:",
    "  qm trust              after reading the file; it shows what counts from then on",
    "  qm mcp list           connect to the servers and see what they offer",
    "  qm tools list         what the agents can use",
    `  qm install ${client}`.padEnd(22) + "  let the client use them through Quartermaster; then remove them there",
  ]
  answer(session, { ...written, files, servers, rules, notes }, lines.join("\n"))
  return 0
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`
}
