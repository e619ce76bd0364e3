import type { Command } from "commander"
import type { CliContext, Run } from "./context.ts"
import { printResult } from "./output.ts"
import { personOf, withApp } from "./open-app.ts"
import { readServerFile } from "./server-file.ts"
import { formatTime } from "./time-text.ts"
import { CannotDo } from "./usage.ts"

export function addOpen(program: Command, run: Run): void {
  program
    .command("open")
    .description("print a link that signs you in to the console of the server that runs here")
    .action(run(open))
}

/** Prints a sign-in link for the user of this machine, or for the person of --as. */
async function open(context: CliContext): Promise<number> {
  const found = await contextOfServer(context)
  return withApp(found, {}, async (app, loaded) => {
    const server = readServerFile(loaded.dataDir)
    if (server === undefined) throw new CannotDo("no_server", "No server runs here. Start one with: qm serve")
    const { id: person } = await personOf(found, app, loaded)
    const { link, expiresAt } = await app.signIn.createLink({ person, isMachineUser: found.flags.as === undefined })
    const url = `${server.url}/signin#${link}`
    const text = `${url}\nThis link signs ${person} in, once, until ${formatTime(expiresAt)}.`
    printResult(found, { url, person, expiresAt }, text)
    return 0
  })
}

/** Where this folder has no project, the only folder of this user whose server runs: that of the sample, for example. */
export async function contextOfServer(context: CliContext): Promise<CliContext> {
  const { io, flags } = context
  const { findProject } = await import("../config/find-project.ts")
  if (flags.config !== undefined || flags.data !== undefined || findProject(io.cwd, io.home) !== undefined)
    return context
  const { knownFolders } = await import("../config/known-folders.ts")
  const [only, ...others] = knownFolders(io.home).filter((folder) => readServerFile(folder) !== undefined)
  if (only === undefined) return context
  if (others.length > 0)
    throw new CannotDo(
      "several_servers",
      `Servers run for several folders: ${[only, ...others].join(", ")}. Choose with --data.`,
    )
  return { ...context, flags: { ...flags, data: only } }
}
