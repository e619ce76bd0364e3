import type { Command } from "commander"
import { clientNames, type ClientName } from "../config/clients.ts"
import { commandList } from "./command-list.ts"
import type { Run, CliContext } from "./context.ts"
import { printResult } from "./output.ts"
import { CannotDo, choiceFlag, orCannotWrite, UsageError } from "./usage.ts"

const ownFolder = "Run 'qm init' in a folder of your own."

interface InitFlags {
  from?: string
}

export function addInit(program: Command, run: Run): void {
  program
    .command("init [path]")
    .description(
      "write a configuration file in this folder; with --from, import a client's MCP servers and permissions",
    )
    .option(`--from <client>`, `import from ${clientNames.join(", ")}; path is the client's file or folder`)
    .action(run(init))
}

/** Writes a first configuration, trusts it and prints the next steps. */
async function init(context: CliContext, path: string | undefined, { from }: InitFlags): Promise<number> {
  const client = choiceFlag("--from", from, clientNames)
  if (client !== undefined) return importConfig(context, client, path)
  if (path !== undefined) throw new UsageError("A path is only used with --from: it is the client's file or folder.")
  const written = await orCannotWrite(() => writeFirstConfig(context), ownFolder)
  const lines = [
    `Wrote ${written.file} and trusted it.`,
    `Wrote ${written.schemaFile}, which editors use to complete and check it.`,
    written.shellMode === "sandbox"
      ? [
          "Commands run in the bubblewrap sandbox without approval (tools.shell.mode: sandbox): no network, and no writing outside this folder.",
          "In this folder they may change and delete files without asking, and what they delete is not in the trash.",
          "To approve each command instead, set tools.shell.mode to ask in the file.",
        ].join("\n")
      : "Commands need approval (tools.shell.mode: ask), because bubblewrap does not work here.",
    "",
    "Edit the file: it has every key, with its default or an example. Then:",
    "  qm trust              run it after each change; until then only stricter settings apply",
    "  qm tools list         list the tools agents can use",
    "  qm call current_time  call a tool",
  ]
  printResult(context, written, lines.join("\n"))
  return 0
}

async function writeFirstConfig({ io: { cwd, home, env } }: CliContext) {
  const { sandboxWorks } = await import("../app.ts")
  const { writeInitialConfig } = await import("../config/init.ts")
  const hasSandbox = sandboxWorks()
  const { file, schemaFile, pin } = writeInitialConfig(cwd, home, env, { hasSandbox })
  return { file, schemaFile, sha256: pin.sha256, shellMode: hasSandbox ? "sandbox" : "ask" }
}

/** Writes a configuration from another program's files and lists what could not be imported. */
async function importConfig(context: CliContext, client: ClientName, path: string | undefined): Promise<number> {
  const { cwd, home, env } = context.io
  const { importFrom } = await import("../config/import.ts")
  const { writeConfig } = await import("../config/init.ts")
  const { text, files, servers, rules, notes } = importFrom(client, path, { cwd, home })
  if (servers.length + rules === 0) {
    const why = notes.length === 0 ? "no MCP server and no permission" : "nothing that can be imported"
    throw new CannotDo(
      "nothing_to_import",
      [`There is ${why} in ${files.join(", ")}.`, ...notes, "Run 'qm init' without --from to write a first file."].join(
        " ",
      ),
    )
  }
  const written = await orCannotWrite(() => writeConfig(cwd, text, env), ownFolder)
  const lines = [
    `Read ${files.join(", ")}.`,
    `Wrote ${written.file} with ${counted(servers.length, "server")} and ${counted(rules, "rule")}. It is not trusted yet: no server starts and no rule allows anything.`,
    ...(notes.length === 0 ? [] : ["", "Please check:", ...notes.map((note) => `  - ${note}`)]),
    "",
    "Next:",
    ...commandList(
      [
        ["qm trust", "show what it allows and starts, and trust it"],
        ["qm mcp list", "connect to the servers and list their tools"],
        ["qm tools list", "list the tools agents can use"],
        [`qm install ${client} --replace`, "let the client use them through Quartermaster, and only through it"],
      ],
      context.io.stdout,
    ),
  ]
  printResult(context, { ...written, files, servers, rules, notes }, lines.join("\n"))
  return 0
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`
}
