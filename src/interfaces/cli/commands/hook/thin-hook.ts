// The entry of `qm hook`: a small program of its own, because an agent starts it for every call of a tool.
import { join } from "node:path"
import { Readable } from "node:stream"
import { homedir } from "node:os"
import { dataFolderName, findProject } from "../../../../config/find-project.ts"
import { hookFolder } from "./hook-folder.ts"
import { askServer } from "./ask-server.ts"
import { lastMsOf, outOfTime, readHookFlags, waitMsOf } from "./hook-flags.ts"

/**
 * Answers by the server of the folder, where one runs. Returns false when there is none: then the whole command line decides,
 * and finds on stdin what was read here.
 */
export async function runThinHook(words: readonly string[]): Promise<boolean> {
  const flags = readHookFlags(words)
  process.chdir(hookFolder(words[0] ?? "", process.env, process.cwd()))
  // Variables can change the configuration, which only the whole command line reads.
  if (flags?.agent === undefined || Object.keys(process.env).some(isConfigVariable)) return false
  const { client, agent: agentId, event, server: serverName } = flags
  const late = setTimeout(() => {
    // Every agent takes this as a no.
    process.stderr.write(outOfTime)
    process.exit(flags.failOpen ? 0 : 2)
  }, lastMsOf(flags))
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const text = bytes.toString("utf8")
  const dataDir = flags.data ?? projectData()
  const body = { agentId, text, event, serverName, waitMs: waitMsOf(flags) }
  const reply = dataDir === undefined ? undefined : await askServer(dataDir, client, body)
  clearTimeout(late)
  if (reply === undefined) {
    Object.defineProperty(process, "stdin", { value: Readable.from([bytes]), configurable: true })
    return false
  }
  if (reply.stderr !== "") process.stderr.write(reply.stderr)
  process.exitCode = reply.code
  await new Promise<void>((done) => process.stdout.write(reply.stdout, () => done()))
  return true
}

function projectData(): string | undefined {
  const project = findProject(process.cwd(), homedir())
  return project === undefined ? undefined : join(project, dataFolderName)
}

function isConfigVariable(name: string): boolean {
  return name.startsWith("QM_") || name === "QUARTERMASTER_DATA"
}
