import type { Command } from "commander"
import { agentOf } from "./caller.ts"
import type { Run, Session } from "./house.ts"
import { answer } from "./output.ts"
import { withApp } from "./session.ts"

export function addStart(program: Command, run: Run): void {
  program.command("start").description("what there is so far, and a short tour").action(run(start))
}

/** What there is so far, and a short tour of the command line. */
function start(session: Session): Promise<number> {
  return withApp(session, {}, async (app, loaded) => {
    const agent = agentOf(session, loaded, app)
    const tools = app.visibleTools(agent)
    const groups = new Set(tools.map((tool) => tool.group)).size
    const { total: calls } = await app.audit.stats()
    const version = session.house.version()
    const { dataDir } = loaded
    const here = `Here: ${tools.length} tools in ${groups} groups for agent ${agent}; ${calls} calls in the record, ${dataDir}.`
    const lines = [
      `Quartermaster ${version} hands LLM agents their tools: it decides, limits, asks and records every call.`,
      "It is a library, this command line, and an MCP gateway: 'qm serve' over HTTP, 'qm mcp' for a client on this machine.",
      here,
      "",
      ...tour.map(([command, what]) => `  ${command.padEnd(width)}  ${what}`),
      "",
      "Without an installed qm, write 'node dist/qm.js' instead; 'npm link' installs it.",
    ]
    answer(session, { version, agent, tools: tools.length, groups, calls, dataDir }, lines.join("\n"))
    return 0
  })
}

/** In this order every command works as it stands, also in an empty folder; the call that waits wants a yes. */
const tour = [
  ["qm tools list", "what an agent can use"],
  ["qm call base64_encode text=hello", "call a tool; every call is written down"],
  ["qm roles create --name developer --groups data,system", "make a role with two groups of tools"],
  ["qm agents create --id dev --role developer", "make an agent of it"],
  ["qm why set_env key=A value=1 --agent dev", "what would become of a call, and why"],
  ["qm call set_env key=A value=1 --agent dev", "this one asks you; without a terminal it waits"],
  ["qm approvals list", "what waits for a person; answer from any terminal"],
  ["qm freeze --agent dev", "stop an agent; 'qm thaw --agent dev' ends it"],
  ["qm audit list", "who called what, and how it ended"],
  ["qm audit verify", "whether the record is as it was written"],
  ["qm init", "write a configuration file; 'qm init --from claude' takes over another program's"],
  ["qm tokens create --agent dev", "let a program speak for an agent over HTTP"],
  ["qm doctor", "what works on this machine and what is missing"],
  ["qm help", "everything else"],
] as const
const width = Math.max(...tour.map(([command]) => command.length))
