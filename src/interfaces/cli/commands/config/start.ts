import { counted } from "../../../../lib/counted.ts"
import type { CliCommand } from "../../common/cli-command.ts"
import { callingAgent } from "../../common/calling-agent.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { printResult } from "../../common/output.ts"
import { withApp } from "../../common/open-app.ts"
import { commandList } from "../../common/command-list.ts"
import { version } from "../../common/version.ts"

export function addStart(program: CliCommand, run: Run): void {
  program
    .command("start")
    .example("qm start")
    .allowInTool()
    .description("print a short tour of the command line")
    .action(run(start))
}

/** Prints the number of tools and calls here, and a short tour of the command line. */
function start(context: CliContext): Promise<number> {
  return withApp(context, { readOnly: true }, async (app, loaded) => {
    const agent = callingAgent(context, loaded, app)
    const tools = app.visibleTools(agent)
    const groups = new Set(tools.map((tool) => tool.group)).size
    const { total: calls } = await app.audit.stats()
    const qmVersion = version()
    const { dataDir } = loaded
    const here = `Here: ${counted(tools.length, "tool")} in ${counted(groups, "group")} for agent ${agent}; ${counted(calls, "call")} in the audit log. Data folder: ${dataDir}`
    const lines = [
      `Quartermaster ${qmVersion} runs tools for LLM agents: it checks permissions, asks people for approval, and logs every call.`,
      "It is a library, this command line, and an MCP gateway: 'qm serve' over HTTP, 'qm mcp' for a client on this machine.",
      here,
      "",
      ...commandList(tour, context.io.stdout),
    ]
    printResult(context, { version: qmVersion, agent, tools: tools.length, groups, calls, dataDir }, lines.join("\n"))
    return 0
  })
}

/** The commands work in this order in an empty folder, and in the sample, whose agents have other names. `set_env` waits for approval. */
const tour = [
  ["qm demo", "watch a small team at work; it leaves nothing behind"],
  ["qm tools list", "list the tools an agent can use"],
  ["qm call base64_encode text=hello", "call a tool; every call is logged"],
  ["qm roles create --name helper --groups data,system", "create a role with two tool groups"],
  ["qm agents create kit --role helper", "create an agent with that role"],
  ["qm why set_env key=A value=1 --agent kit", "explain whether a call would be allowed, without making it"],
  ["qm call set_env key=A value=1 --agent kit", "this call asks you for approval; without a terminal it waits"],
  ["qm approvals list", "list what waits for approval; answer from any terminal"],
  ["qm freeze --agent kit", "stop an agent; 'qm thaw --agent kit' lets it continue"],
  ["qm audit list", "list the calls and how they ended"],
  ["qm audit verify", "check that no record was changed"],
  ["qm init", "write a configuration file; 'qm init --from claude' imports Claude's"],
  ["qm tokens create --agent kit", "create a token for a program that calls tools over HTTP"],
  ["qm doctor", "check what works on this machine and what is missing"],
  ["qm help", "list all commands"],
] as const
