import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { cpSync, existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { findConfig } from "../../../../config/find.ts"
import { packageFile } from "../../../../lib/package-file.ts"
import type { LoadedConfig } from "../../../../config/load.ts"
import { findProject, sampleFolderName } from "../../../../config/find-project.ts"
import { sampleMaker } from "../../../../org/sample.ts"
import type { ChangedBy } from "../../../../org/organisation-admin.ts"
import type { CliContext } from "../../common/context.ts"

/** The place where `serve --sample` serves, and the reason for which it makes no sample there. */
export interface SampleContext {
  context: CliContext
  whyNoSample?: string
}

/**
 * The context of the sample, where `serve --sample` finds neither configuration nor data: its files are copied into a folder
 * of their own and trusted. Otherwise the given context, with the reason.
 */
export async function sampleContext(context: CliContext): Promise<SampleContext> {
  const { io, flags } = context
  const { cwd, env, home } = io
  const folder = join(cwd, sampleFolderName)
  const config = join(folder, "quartermaster.yml")
  const project = findProject(cwd, home)
  const isSample = project === folder
  const none = (why: string): SampleContext => ({ context, whyNoSample: `No sample was made: ${why}` })
  if (flags.config !== undefined || flags.data !== undefined || flags.set.length > 0)
    return none("--config, --data and --set say what is served. Leave them out for a sample.")
  if (project !== undefined && !isSample)
    return none(
      `${project} has a configuration or data, which is served. For a sample, use a folder that is in no project.`,
    )
  const found = isSample ? undefined : findConfig({ cwd, env, home }, project)
  if (found !== undefined) return none(`the configuration ${found.file} applies here and is served.`)
  if (!existsSync(folder)) {
    cpSync(templateFolder(), folder, { recursive: true })
    const { trust } = await import("../../../../config/trust.ts")
    trust(config, home, env)
  } else if (!existsSync(config))
    return none(`the folder ${folder} exists and has no quartermaster.yml. Delete or rename it, then start again.`)
  return { context: { ...context, flags: { ...flags, config } } }
}

/** Why the sample's agents are not made again. */
export function sampleWasRemoved({ dataDir }: LoadedConfig): string {
  return `The sample was removed earlier, so it is not made again. To have it again, stop this server, delete ${dirname(dataDir)} and start again.`
}

export const templateFolder = (): string => packageFile("examples/sample")

/** The roles, each with its agent and whom that one stands below: root has dev and ana, and dev has tess. */
const roles = [
  {
    id: "dev",
    parentId: "root",
    name: "developer",
    department: "engineering",
    rolePrompt: "You write and change code in the workspace.",
    toolGroups: ["workspace", "command", "code", "data", "system", "interaction", "todo", "context", "pipeline"],
  },
  {
    id: "tess",
    parentId: "dev",
    name: "tester",
    department: "engineering",
    rolePrompt: "You run the tests and say what fails.",
    toolGroups: ["workspace", "command", "interaction", "context", "pipeline"],
  },
  {
    id: "ana",
    parentId: "root",
    name: "analyst",
    department: "research",
    rolePrompt: "You look things up and summarise data.",
    toolGroups: ["workspace", "network", "data", "interaction", "context"],
  },
] as const

/** Adds the sample's organisation and a few calls, once. False when it was there and a person removed it. */
export async function addSample(app: Quartermaster): Promise<boolean> {
  const own = app.org.listRoles().filter(({ createdBy }) => createdBy === sampleMaker)
  if (own.length > 0) return own.some(({ status }) => status === "active")
  const by: ChangedBy = { kind: "person", id: sampleMaker }
  await app.org.createDepartment({ id: "engineering", name: "Engineering" }, by)
  await app.org.createDepartment({ id: "research", name: "Research" }, by)
  for (const { id, parentId, ...role } of roles) {
    await app.org.createRole(role, by)
    await app.org.createAgent({ id, parentId, role: role.name }, by)
  }
  for (const [agentId, tool, input, intent] of firstCalls)
    // Not awaited: what asks a person runs once somebody has approved it.
    void app.call({ agentId, tool, input, intent, taskId: "try-it" })
  // A conversation that waits: what goes wrong in it is in its turns.
  const chain = app.chain("dev", { durable: true, userId: sampleMaker })
  void chain.run("Write into the log that the sample ran.").catch(() => {})
  await until(async () => (await app.approvals.list()).length === 4)
  return true
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100 && !(await holds()); tries++) await sleep(20)
}

/** Some run, one is refused, two wait and the result of one is held; a conversation waits too: every page has something to show. */
const firstCalls = [
  ["dev", "list_files", { path: "." }, "I look at what is here."],
  ["dev", "read_file", { path: "src/greet.js" }, "I read what I am going to change."],
  ["ana", "read_file", { path: "data/customers.csv" }, "I count customers by city."],
  ["ana", "run_command", { command: "npm test" }, "I check that the tests pass."],
  [
    "dev",
    "edit_file",
    { path: "docs/notes.md", edits: [{ oldText: "in other languages", newText: "in Chinese and Spanish" }] },
    "The notes should name the languages that were decided.",
  ],
  ["tess", "run_command", { command: "npm test && ls -l test" }, "I run the tests before the change."],
] as const
