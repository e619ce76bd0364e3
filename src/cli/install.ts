import type { Command } from "commander"
import { agentOf } from "./caller.ts"
import { confirm } from "./confirm.ts"
import { clients, type Installation, type Run, type Session } from "./house.ts"
import { lineDiff } from "./line-diff.ts"
import { jsonText, say, tell } from "./output.ts"
import { withApp } from "./session.ts"
import { CannotDo } from "./usage.ts"

interface InstallFlags {
  http?: boolean
  name: string
  yes?: boolean
}

export function addInstall(program: Command, run: Run): void {
  program
    .command("install <client>")
    .description("let a client use an agent's tools: claude, cursor, vscode, or the path of its configuration")
    .option("--http", "call a running 'qm serve' with a token, instead of starting 'qm mcp'")
    .option("--name <name>", "what the client calls it", "quartermaster")
    .option("--yes", "write without being asked; for where there is no terminal")
    .action(run(install))
}

/** Shows what would change in the client's configuration, asks, and writes it; what was there is kept beside it. */
async function install(session: Session, client: string, flags: InstallFlags): Promise<number> {
  const { house } = session
  const known = clients.find((each) => each === client)
  const plan = await withApp(session, {}, async (app, loaded) => {
    const agent = agentOf(session, loaded, app)
    if (app.org.findAgent(agent)?.status !== "active") {
      throw new CannotDo(
        "agent_not_found",
        `There is no agent '${agent}', or it has ended. 'qm agents list' shows who there is.`,
      )
    }
    return house.installInto(known ?? { path: client }, { ...flags, http: flags.http === true, agent }, loaded)
  })
  const { file, before, after, next } = plan
  if (before === after) {
    done(session, plan, undefined, false)
    return 0
  }
  const diff = lineDiff(before ?? "", after)
  if (!session.flags.json) tell(session, house.printable([file, ...diff.map((line) => `  ${line}`)].join("\n")))
  if (!(await confirm(session, `Write this to ${file}?`, flags.yes === true))) {
    say(session, "Nothing was written.")
    return 4
  }
  done(session, { ...plan, next }, plan.write(), true)
  return 0
}

function done(session: Session, { file, next }: Installation, backup: string | undefined, written: boolean): void {
  const { house, flags } = session
  if (flags.json) return tell(session, jsonText({ file, written, backup: backup ?? null, next }, house))
  const lines = [
    written ? `Wrote ${file}.` : `${file} says that already; nothing was written.`,
    ...(backup === undefined ? [] : [`What was there before is kept in ${backup}.`]),
    ...next,
    ...(written ? ["Restart the client, or reload its MCP servers, to see the tools."] : []),
  ]
  say(session, lines.join("\n"))
}
