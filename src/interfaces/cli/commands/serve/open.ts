import type { CliCommand } from "../../common/cli-command.ts"
import type { CliContext, Run } from "../../common/context.ts"
import { printResult } from "../../common/output.ts"
import { personOf, withApp } from "../../common/open-app.ts"
import { findServers, readServerFiles, type RunningServer } from "./server-file.ts"
import { formatTime } from "../../common/time-text.ts"
import { CannotDo } from "../../common/usage.ts"

export function addOpen(program: CliCommand, run: Run): void {
  program
    .command("open")
    .example("qm open", "qm open --as ann")
    .description("print a link that signs you in to the console of the server that runs here")
    .action(run(open))
}

/** Prints a sign-in link for the user of this machine, or for the person of --as. */
async function open(context: CliContext): Promise<number> {
  const found = await contextOfServer(context)
  return withApp(found, {}, async (app, loaded) => {
    const server = await findServer(found, loaded.dataDir)
    const { id: person } = await personOf(found, app, loaded)
    const { link, expiresAt } = await app.signIn.createLink({ person, isMachineUser: found.flags.as === undefined })
    const url = `${server.url}/signin#${link}`
    const text = `${url}\nThis link signs ${person} in, once, until ${formatTime(expiresAt)}.`
    printResult(found, { url, person, expiresAt }, text)
    return 0
  })
}

/** The newest server of the data folder. The error names the folders of this user whose servers run. */
export async function findServer({ io }: CliContext, dataDir: string): Promise<RunningServer> {
  const [server] = await findServers(dataDir)
  if (server !== undefined) return server
  const others = await foldersWithServer(io.home)
  const elsewhere =
    others.length === 0 ? "" : ` One runs for another folder: ${others.map((folder) => `--data ${folder}`).join(", ")}.`
  throw new CannotDo(
    "no_server",
    `No server runs here. The data folder is ${dataDir}.${elsewhere} Start one with: qm serve`,
  )
}

/** Returns this context or, outside a project, that of this user's only folder with a server, such as the sample. */
export async function contextOfServer(context: CliContext): Promise<CliContext> {
  const { io, flags } = context
  const { findProject } = await import("../../../../config/find-project.ts")
  if (flags.config !== undefined || flags.data !== undefined || findProject(io.cwd, io.home) !== undefined)
    return context
  const [only, ...others] = await foldersWithServer(io.home)
  if (only === undefined) return context
  if (others.length > 0)
    throw new CannotDo(
      "several_servers",
      `Servers run for several folders: ${[only, ...others].join(", ")}. Choose with --data.`,
    )
  return { ...context, flags: { ...flags, data: only } }
}

async function foldersWithServer(home: string): Promise<string[]> {
  const { knownFolders } = await import("../../../../config/known-folders.ts")
  return knownFolders(home).filter((folder) => readServerFiles(folder).length > 0)
}
