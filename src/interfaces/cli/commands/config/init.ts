import type { CliCommand } from "../../common/cli-command.ts"
import { importNames, type ImportName } from "../../../../config/clients.ts"
import { commandList } from "../../common/command-list.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { printResult } from "../../common/output.ts"
import { CannotDo, choiceFlag, orCannotWrite, UsageError } from "../../common/usage.ts"

const ownFolder = "Run 'qm init' in a folder of your own."

interface InitFlags {
  from?: string
  shellMode?: string
}

const shellModes = ["ask", "sandbox"] as const
type ShellMode = (typeof shellModes)[number]

export function addInit(program: CliCommand, run: Run): void {
  program
    .command("init [path]")
    .example("qm init", "qm init --shell-mode sandbox", "qm init --from claude")
    .description(
      "write a configuration file in this folder; with --from, import a client's MCP servers and permissions",
    )
    .option(`--from <client>`, `import from ${importNames.join(", ")}; path is the client's file or folder`)
    .option(
      "--shell-mode <mode>",
      "ask: a person approves every command; sandbox: bubblewrap holds them, and only what deletes or overwrites asks",
    )
    .action(run(init))
}

/** Writes a first configuration, trusts it and prints the next steps. */
async function init(context: CliContext, path: string | undefined, { from, shellMode }: InitFlags): Promise<number> {
  const client = choiceFlag("--from", from, importNames)
  const mode = choiceFlag("--shell-mode", shellMode, shellModes)
  if (client !== undefined && mode !== undefined)
    throw new UsageError("--shell-mode is for a first configuration. With --from, set tools.shell.mode in the file.")
  if (client !== undefined) return importConfig(context, client, path)
  if (path !== undefined) throw new UsageError("A path is only used with --from: it is the client's file or folder.")
  const written = await orCannotWrite(() => writeFirstConfig(context, mode), ownFolder)
  const lines = [
    `Wrote ${written.file} and trusted it.`,
    `Editors complete and check it with ${written.schemaFile}.`,
    shellSentence(written),
    "",
    "Edit the file: it has every key, with its default or an example. Then:",
    "  qm trust              run it after each change; until then only stricter settings apply",
    "  qm tools list         list the tools agents can use",
    "  qm call current_time  call a tool",
  ]
  printResult(context, written, lines.join("\n"))
  return 0
}

interface Written {
  shellMode: ShellMode
  hasSandbox: boolean
}

function shellSentence({ shellMode, hasSandbox }: Written): string {
  if (shellMode === "ask")
    return hasSandbox
      ? "A person approves every command (tools.shell.mode: ask). For commands that run unasked in bubblewrap, write sandbox there."
      : "A person approves every command (tools.shell.mode: ask). For commands that run unasked, install bubblewrap first."
  const sentences = [
    "Commands run in the bubblewrap sandbox unasked (tools.shell.mode: sandbox): no network, and no writing outside this folder.",
    "A command that visibly deletes or overwrites files asks. What a script does inside is not seen: it may change and delete files in this folder, and they are not in the trash.",
    "To approve every command instead, set tools.shell.mode to ask in the file.",
  ]
  if (!hasSandbox) sentences.unshift("Bubblewrap does not work here. Until it does, a person approves every command.")
  return sentences.join("\n")
}

async function writeFirstConfig(context: CliContext, wanted: ShellMode | undefined) {
  const { cwd, home, env } = context.io
  const { sandboxWorks } = await import("../../../../app/builtin.ts")
  const { refuseExisting, writeInitialConfig } = await import("../../../../config/init.ts")
  // Nobody is asked about a file that will not be written.
  refuseExisting(cwd)
  const hasSandbox = sandboxWorks()
  const shellMode = wanted ?? (hasSandbox ? await askShellMode(context) : "ask")
  const { file, schemaFile, pin } = writeInitialConfig(cwd, home, env, { shellMode })
  return { file, schemaFile, sha256: pin.sha256, shellMode, hasSandbox }
}

/** Asks the person at the terminal. Without a terminal, and after any other answer, the mode is `ask`. */
async function askShellMode({ io, flags }: CliContext): Promise<ShellMode> {
  const { isAttended } = await import("../../common/open-app.ts")
  if (flags.json || !isAttended(io)) return "ask"
  io.stderr.write(
    "How do agents run commands? Both can be changed in the file later.\n" +
      "  ask      a person approves every command\n" +
      "  sandbox  bubblewrap holds them: no network, no writing outside this folder; only what visibly deletes or overwrites asks\n",
  )
  const { createInterface } = await import("node:readline/promises")
  const lines = createInterface({ input: io.stdin, output: io.stderr })
  try {
    const reply = await lines.question("Shell mode [ask] ")
    return /^\s*s(?:andbox)?\s*$/i.test(reply) ? "sandbox" : "ask"
  } finally {
    lines.close()
  }
}

/** Writes a configuration from another program's files and lists what could not be imported. */
async function importConfig(context: CliContext, client: ImportName, path: string | undefined): Promise<number> {
  const { cwd, home, env } = context.io
  const { importFrom } = await import("../../../../config/import.ts")
  const { writeConfig } = await import("../../../../config/init.ts")
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
